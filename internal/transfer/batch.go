package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// maxBatchBytes keeps a request below the 1 MiB that a server accepts.
const maxBatchBytes = 900 << 10

// importBatch is a piece of the file, sent in one request. Its bounds follow from the content alone, so that it is the same
// when the file is read again.
type importBatch struct {
	entries []leaderboard.Submission
	bytes   int     // of the request's body so far
	lines   []int64 // of its entries
	refused []rejectedLine
	key     string
	end     bool // the file ends after it
}

func (b *importBatch) full(size int) bool {
	return len(b.lines) >= size || len(b.refused) >= size || b.bytes >= maxBatchBytes
}

// readBatch reads up to size entries. The key is a hash of the file up to the end of the batch.
func readBatch(r *importReader, size int) (*importBatch, error) {
	b := &importBatch{bytes: len(`{"entries":[]}`)}
	for !b.full(size) {
		e, line, fault, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			b.end = true
		case err != nil:
			return nil, err
		case fault != "":
			b.refused = append(b.refused, rejectedLine{line, codeMalformedLine, fault})
			continue
		}
		if b.end {
			break
		}
		alone, err := json.Marshal(client.SubmitRequest("", []leaderboard.Submission{e}).Body)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		b.bytes += len(alone) - len(`{"entries":[]}`) + len(",")
		b.entries, b.lines = append(b.entries, e), append(b.lines, line)
	}
	b.key = "import-" + hashOf(r.hash)
	return b, nil
}

// importResult is the result of a batch.
type importResult struct {
	applied, unchanged int64
	replayed           int64 // applied or unchanged by an earlier request, which this one repeats
	newMembers         int64 // that had no entry on the board
	rejected           []rejectedLine
	seq                int64
}

// send submits a batch with its key. The client repeats the request while the server cannot answer. again: an earlier run of this import
// sent it too and got no answer, so that a replay is of this import.
func (b *importBatch) send(ctx context.Context, c *client.Client, board string, again bool) (importResult, error) {
	receipt, err := c.Submit(ctx, board, b.entries, client.SubmitOptions{IdempotencyKey: b.key})
	if err != nil {
		return importResult{}, err
	}
	if len(receipt.Results) != len(b.lines) {
		return importResult{}, fmt.Errorf("the server answered with %d results for %d entries", len(receipt.Results), len(b.lines))
	}
	out, replayed := importResult{seq: receipt.Seq}, receipt.Replayed && !again
	for i, r := range receipt.Results {
		done := r.Status == leaderboard.StatusApplied || r.Status == leaderboard.StatusUnchanged
		if r.Status == leaderboard.StatusApplied && r.PreviousScore == nil && !replayed {
			out.newMembers++
		}
		switch {
		case done && replayed:
			out.replayed++
		case r.Status == leaderboard.StatusApplied:
			out.applied++
		case done:
			out.unchanged++
		case r.Error != nil:
			out.rejected = append(out.rejected, rejectedLine{b.lines[i], r.Error.Code(), r.Error.Detail})
		default:
			return importResult{}, fmt.Errorf("the server answered line %d with status %s", b.lines[i], terminal.Printable(string(r.Status)))
		}
	}
	return out, nil
}
