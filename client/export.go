package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"time"

	"leaderboard/api"
)

// Formats of an export.
const (
	FormatCSV   = "csv"
	FormatJSONL = "jsonl"
)

// Export is a stream of a period's entries in one state, best first.
type Export struct {
	Seq   int64
	AsOf  time.Time
	Total int64 // entries that will arrive
	// Period is the name of the period.
	Period string
	// Cursor is the place in Changes and Follow after this state.
	Cursor string
	Body   io.ReadCloser // ends with an error, not with io.EOF, when entries are missing; the caller closes it
}

// Export begins an export in a format. It fails when nothing arrives for longer than the client's timeout. Needs scope
// admin.
func (c *Client) Export(ctx context.Context, board, format string, q ExportQuery) (*Export, error) {
	q.Format = format
	resp, err := c.Stream(ctx, Request{Method: http.MethodGet, Path: Path("boards", board, "export"), Query: api.Values(q)})
	if err != nil {
		return nil, err
	}
	out := &Export{Body: resp.Body, Period: resp.Header.Get("Leaderboard-Period"), Cursor: resp.Header.Get(headerCursor)}
	var errs [3]error
	out.Seq, errs[0] = strconv.ParseInt(resp.Header.Get("Leaderboard-Seq"), 10, 64)
	out.Total, errs[1] = strconv.ParseInt(resp.Header.Get("Leaderboard-Total"), 10, 64)
	out.AsOf, errs[2] = time.Parse(time.RFC3339Nano, resp.Header.Get("Leaderboard-As-Of"))
	if err := errors.Join(errs[:]...); err != nil {
		return nil, errors.Join(fmt.Errorf("read the answer: %w", err), resp.Body.Close())
	}
	return out, nil
}

// ExportEntries iterates over all entries of a period in one state. It ends with an error when entries are missing.
func (c *Client) ExportEntries(ctx context.Context, board string, q ExportQuery) iter.Seq2[ExportedEntry, error] {
	return func(yield func(ExportedEntry, error) bool) {
		export, err := c.Export(ctx, board, FormatJSONL, q)
		if err != nil {
			yield(ExportedEntry{}, err)
			return
		}
		for e, err := range export.Entries() {
			if !yield(e, err) {
				return
			}
		}
	}
}

// Entries iterates over the entries of an export in FormatJSONL, and closes it. It ends with an error when entries are missing.
func (e *Export) Entries() iter.Seq2[ExportedEntry, error] {
	return func(yield func(ExportedEntry, error) bool) {
		export := e
		defer export.Body.Close()
		dec := json.NewDecoder(bufio.NewReader(export.Body))
		for n := int64(0); ; n++ {
			var e ExportedEntry
			err := dec.Decode(&e)
			if errors.Is(err, io.EOF) && n == export.Total {
				return
			}
			if err != nil {
				yield(ExportedEntry{}, fmt.Errorf("%d of %d entries came: %w", n, export.Total, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Stream sends a request and returns a 2xx answer whose body is read as it arrives: each part, the header included,
// must arrive within the client's timeout. It is repeated as by Do until the header has arrived. The caller closes the
// body.
func (c *Client) Stream(ctx context.Context, r Request) (*http.Response, error) {
	var out *http.Response
	err := c.repeat(ctx, &r, func(ctx context.Context, r *Request) error {
		ctx, cancel := context.WithCancelCause(ctx)
		body := &streamBody{ctx: ctx, limit: c.timeout + r.Timeout, cancel: cancel}
		body.timer = time.AfterFunc(body.limit, func() { cancel(&timedOut{c.base}) })
		resp, err := c.send(ctx, r)
		if err != nil {
			err = because(ctx, err)
			body.stop()
			return err
		}
		body.timer.Stop()
		body.inner, resp.Body = resp.Body, body
		out = resp
		return nil
	})
	return out, err
}

// streamBody is a body that ends with ErrTimeout when nothing arrives for too long.
type streamBody struct {
	inner  io.ReadCloser
	ctx    context.Context
	limit  time.Duration
	timer  *time.Timer
	cancel context.CancelCauseFunc
}

// Read runs the timer only while it waits for the server.
func (b *streamBody) Read(p []byte) (int, error) {
	b.timer.Reset(b.limit)
	n, err := b.inner.Read(p)
	b.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = because(b.ctx, err)
	}
	return n, err
}

func (b *streamBody) stop() {
	b.timer.Stop()
	b.cancel(nil)
}

// Close ends the request.
func (b *streamBody) Close() error {
	b.stop()
	return b.inner.Close()
}
