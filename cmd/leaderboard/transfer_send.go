package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxBatchBytes keeps a request below the 1 MiB that a server takes.
const maxBatchBytes = 900 << 10

// importBatch is a piece of the file, sent in one request. What is in it follows from the content alone, so that it
// is the same when it is read again.
type importBatch struct {
	body    []byte  // the request so far
	lines   []int64 // of its entries
	refused []refusal
	key     string
	end     bool // the file ends behind it
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
			b.refused = append(b.refused, refusal{line, codeMalformedLine, fault})
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
	rejected           []refusal
	seq                int64
}

// send submits a batch. It is repeated under its key while the server cannot answer, for at most patience.
func (b *importBatch) send(ctx context.Context, c *client, board string, patience time.Duration) (importResult, error) {
	answer, err := c.insist(ctx, patience, request{
		method: http.MethodPost, path: boardPath(board, "scores"), body: json.RawMessage(b.body),
		header: http.Header{"Idempotency-Key": {b.key}},
	})
	if err != nil {
		return importResult{}, err
	}
	var view submitView
	if err := json.Unmarshal(answer, &view); err != nil {
		return importResult{}, fmt.Errorf("read the answer: %w", err)
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
			out.rejected = append(out.rejected, refusal{b.lines[i], strings.TrimPrefix(r.Error.Type, "/problems/"), r.Error.Detail})
		default:
			return importResult{}, fmt.Errorf("the server answered line %d with status %s", b.lines[i], printable(r.Status))
		}
	}
	return out, nil
}

const (
	leastPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// insist repeats a request that is safe to repeat while the server is busy or away, for at most patience. It waits as
// long as the server asks for, longer each time when it does not ask.
func (c *client) insist(ctx context.Context, patience time.Duration, r request) ([]byte, error) {
	deadline := time.Now().Add(patience)
	for wait := leastPause; ; wait = min(2*wait, mostPause) {
		answer, _, err := c.do(ctx, r)
		if err == nil || ctx.Err() != nil || !passing(err) {
			return answer, err
		}
		var p *problem
		if errors.As(err, &p) && p.retryAfter > 0 {
			wait = p.retryAfter
		}
		if time.Until(deadline) < wait {
			return nil, err
		}
		pause(ctx, wait)
	}
}

// passing says whether an error may be gone the next time: no answer, or one that says so.
func passing(err error) bool {
	var p *problem
	if !errors.As(err, &p) {
		return true
	}
	switch p.Status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
