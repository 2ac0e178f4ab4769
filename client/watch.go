package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// WatchQuery selects the top of a board, or the entries around a member.
type WatchQuery struct {
	Window leaderboard.Window // "": the board's first
	Mode   leaderboard.Mode   // "": the board's
	Limit  int                // of the top, 1 to 100; 0: 10

	Member        string // instead of the top
	Before, After int    // around it, up to 99 together
	// OnPassed is called between pages each time another member passes Member, on a board whose rule notify reports it. The first
	// calls may be for the last minute. nil: Watch does not ask for it. It needs a key that may read the board, or the member's
	// own token.
	OnPassed func(MemberPassed)
}

func (q *WatchQuery) params() url.Values {
	out := api.StreamQuery{Window: q.Window, Mode: q.Mode, Limit: q.Limit}
	if q.Member != "" {
		out.Limit, out.Member, out.Passed, out.Before, out.After = 0, q.Member, q.OnPassed != nil, &q.Before, &q.After
	}
	return api.Values(out)
}

const (
	// watchSilence is added to the client's timeout: an idle server sends a comment every 15 seconds.
	watchSilence = 20 * time.Second
	// watchPause is the pause before a stream that has ended is opened again, unless the server names one.
	watchPause = time.Second
)

// Watch yields the present page, and again after each change, until ctx ends or the caller breaks off. The top comes at most five
// times a second, the entries around a member at most once; while the member is not ranked, that page has no entries. A slow
// caller misses pages, never the newest. A lost connection is opened again as Do repeats requests. An error is yielded last: a
// *Problem if the board is gone (leaderboard.ErrBoardNotFound), or if the key may no longer read it.
func (c *Client) Watch(ctx context.Context, board string, q WatchQuery) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		w := watching{query: &q, yield: func(p Page) bool { return yield(p, nil) }, notified: map[string]time.Time{}}
		for {
			pause, err := c.watchOnce(ctx, board, &w)
			if errors.Is(err, errBroken) {
				return
			}
			if err != nil {
				yield(Page{}, err)
				return
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				yield(Page{}, ctx.Err())
				return
			}
		}
	}
}

// errBroken means that the caller broke off.
var errBroken = errors.New("broken off")

// watching is the state of one Watch over all its streams.
type watching struct {
	query    *WatchQuery
	yield    func(Page) bool
	notified map[string]time.Time // when notices came, by their ids: another stream begins with the notices of the last minute
}

// notifiedFor is for how long the id of a notice is kept.
const notifiedFor = 5 * time.Minute

// notify calls OnPassed unless it was called for the notice before.
func (w *watching) notify(e *event) error {
	if _, before := w.notified[e.id]; before || w.query.OnPassed == nil {
		return nil
	}
	var p MemberPassed
	if err := json.Unmarshal(e.data, &p); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	maps.DeleteFunc(w.notified, func(_ string, at time.Time) bool { return time.Since(at) > notifiedFor })
	w.notified[e.id] = time.Now()
	w.query.OnPassed(p)
	return nil
}

// watchOnce opens a stream and yields its events. Without an error the stream has ended, and should be opened again
// after pause.
func (c *Client) watchOnce(ctx context.Context, board string, w *watching) (pause time.Duration, err error) {
	resp, err := c.Stream(ctx, Request{Method: http.MethodGet, Path: Path("boards", board, "stream"), Query: w.query.params(), Timeout: watchSilence})
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	in := eventReader{in: bufio.NewReader(resp.Body)}
	pause = watchPause
	for {
		e, err := in.next()
		if e.retry > 0 {
			pause = e.retry
		}
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil: // another connection may succeed
			return pause/2 + rand.N(pause), nil
		case e.name == "gone":
			return 0, goneProblem(e.data)
		case e.name == "passed":
			if err := w.notify(&e); err != nil {
				return 0, err
			}
		case e.name == "page":
			var p Page
			if err := json.Unmarshal(e.data, &p); err != nil {
				return 0, fmt.Errorf("read an event: %w", err)
			}
			if !w.yield(p) {
				return 0, errBroken
			}
		}
	}
}

// goneProblem reads why a stream has ended for good.
func goneProblem(data []byte) error {
	p := &Problem{}
	if err := json.Unmarshal(data, p); err != nil {
		return fmt.Errorf("read an event: %w", err)
	}
	return p
}

// event is a server-sent event (the HTML standard, section 9.2).
type event struct {
	id    string
	name  string
	data  []byte
	retry time.Duration
}

// eventReader reads events.
type eventReader struct{ in *bufio.Reader }

// maxLine bounds a line of a stream.
const maxLine = 1 << 20

// next returns the next event that has a name, data or a retry. With an error it returns what arrived before the error.
func (r *eventReader) next() (e event, err error) {
	for {
		line, err := r.line()
		if err != nil {
			return e, err
		}
		if len(line) == 0 {
			if e.name != "" || e.data != nil || e.retry > 0 {
				return e, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "id":
			e.id = string(value)
		case "event":
			e.name = string(value)
		case "data":
			if e.data != nil {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
		case "retry":
			if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

func (r *eventReader) line() ([]byte, error) {
	var line []byte
	for {
		part, more, err := r.in.ReadLine()
		if err != nil {
			return nil, err
		}
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, errors.New("a line of the stream is too long")
		}
		if !more {
			return line, nil
		}
	}
}
