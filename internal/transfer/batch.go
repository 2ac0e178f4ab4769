package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// maxBatchBytes keeps a request below the 1 MiB that a server takes.
const maxBatchBytes = 900 << 10

// importBatch is a piece of the file, sent in one request. What is in it follows from the content alone, so that it
// is the same when it is read again.
type importBatch struct {
	body    []byte  // the request so far
	lines   []int64 // of its entries
	refused []rejectedLine
	key     string
	end     bool // the file ends after it
}

func (b *importBatch) full(size int) bool {
	return len(b.lines) >= size || len(b.refused) >= size || len(b.body) >= maxBatchBytes
}

// readBatch reads up to size entries. The key is made of all of the file up to the end of the batch.
func readBatch(r *importReader, size int) (*importBatch, error) {
	b := &importBatch{body: []byte(`{"entries":[`)}
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
		encoded, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if len(b.lines) > 0 {
			b.body = append(b.body, ',')
		}
		b.body = append(b.body, encoded...)
		b.lines = append(b.lines, line)
	}
	b.body = append(b.body, "]}"...)
	b.key = "import-" + hashOf(r.hash)
	return b, nil
}

// importResult is what became of a batch.
type importResult struct {
	applied, unchanged int64
	rejected           []rejectedLine
	seq                int64
}

// send submits a batch under its key, again while the server cannot answer, as long as the client does.
func (b *importBatch) send(ctx context.Context, c *client.Client, board string) (importResult, error) {
	answer, err := c.Do(ctx, client.Request{
		Method: http.MethodPost, Path: client.Path("boards", board, "scores"), Body: json.RawMessage(b.body),
		Header: http.Header{"Idempotency-Key": {b.key}},
	})
	if err != nil {
		return importResult{}, err
	}
	var view client.Receipt
	if err := answer.Decode(&view); err != nil {
		return importResult{}, err
	}
	if len(view.Results) != len(b.lines) {
		return importResult{}, fmt.Errorf("the server answered with %d results for %d entries", len(view.Results), len(b.lines))
	}
	out := importResult{seq: view.Seq}
	for i, r := range view.Results {
		switch {
		case r.Status == "applied":
			out.applied++
		case r.Status == "unchanged":
			out.unchanged++
		case r.Error != nil:
			out.rejected = append(out.rejected, rejectedLine{b.lines[i], r.Error.Code(), r.Error.Detail})
		default:
			return importResult{}, fmt.Errorf("the server answered line %d with status %s", b.lines[i], terminal.Printable(string(r.Status)))
		}
	}
	return out, nil
}
