package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"time"

	"leaderboard/api"
)

const headerCursor = "Leaderboard-Cursor"

// Changes is some of the changes of a board, in the order in which they were committed.
type Changes struct {
	Changes []Change
	Cursor  string // the place after them
}

// Changes returns the next changes of a board, each once. It returns no changes if there are none yet; with Wait it first waits
// that long. Needs scope admin. Errors: leaderboard.ErrIncarnationChanged, leaderboard.ErrFeedPruned; after either, export the board
// and continue from the Cursor of the Export.
func (c *Client) Changes(ctx context.Context, board string, q ChangesQuery) (Changes, error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodGet, Path: Path("boards", board, "changes"), Query: api.Values(q), Timeout: q.Wait})
	if err != nil {
		return Changes{}, err
	}
	out := Changes{Cursor: answer.Header.Get(headerCursor)}
	for line := range bytes.Lines(answer.Body) {
		var l struct {
			Change
			Next string `json:"next"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return Changes{}, fmt.Errorf("read a change: %w", err)
		}
		if l.End {
			l.Cursor = l.Next
		}
		out.Changes = append(out.Changes, l.Change)
	}
	return out, nil
}

const (
	// followWait is how long Follow waits in one request.
	followWait = 30 * time.Second
	// followPause is how long it pauses where a board names no further season.
	followPause = 5 * time.Second
)

// Follow yields each change of a board once and in the order of commits, over the ends of periods, until ctx ends or the caller
// breaks off. It asks for further changes when the caller has taken all before them. It repeats requests as Do does; an error, as
// of Changes, is yielded last.
func (c *Client) Follow(ctx context.Context, board string, q ChangesQuery) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if q.Wait == 0 && !q.Once {
			q.Wait = followWait
		}
		over := "" // the period whose end was yielded, while no period follows
		for {
			page, err := c.Changes(ctx, board, q)
			if err != nil {
				yield(Change{}, err)
				return
			}
			for _, change := range page.Changes {
				if last := change.End && change.Cursor == ""; last && over == change.Period {
					continue
				} else if over = ""; last {
					over = change.Period
				}
				if !yield(change, nil) {
					return
				}
			}
			q.After = page.Cursor
			if q.Once && (len(page.Changes) == 0 || over != "") {
				return
			}
			if over != "" {
				select {
				case <-time.After(followPause):
				case <-ctx.Done():
					yield(Change{}, ctx.Err())
					return
				}
			}
		}
	}
}
