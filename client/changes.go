package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"time"

	"leaderboard"
)

const headerCursor = "Leaderboard-Cursor"

// ChangesQuery says where the changes of a board begin.
type ChangesQuery struct {
	Window leaderboard.Window // "": that of After, or the board's first
	// After is a cursor: Change.Cursor, Changes.Cursor or Export.Cursor. "": the first change of the current period.
	After string
	Limit int           // 1 to 5,000; 0: 1,000
	Wait  time.Duration // how long Changes waits for a change, up to a minute
	// Follower is the name under which Follow tells the server every ten seconds how far it is, so that changes are kept for it
	// for up to a day. Without After it goes on where the follower is, with changes of these ten seconds once more.
	Follower string
	Once     bool // Follow ends when there are no more changes for now, and leaves its follower there
}

func (q *ChangesQuery) params() url.Values {
	p := newParams().text("window", string(q.Window)).text("after", q.After).int("limit", int64(q.Limit))
	if q.Wait > 0 {
		p.Set("wait", q.Wait.String())
	}
	return p.Values
}

// Change is one change of a board, or the end of one of its periods.
type Change struct {
	Period      string        `json:"period"`
	Seq         int64         `json:"seq"`
	CommittedAt time.Time     `json:"committed_at"`
	Member      string        `json:"member"`
	Before      *ChangedEntry `json:"before"` // nil: there was none
	After       *ChangedEntry `json:"after"`  // nil: there is none any more
	// Cursor is where the changes go on. Keep it with what was made of the change.
	Cursor string `json:"cursor"`

	// End: nothing is committed to the period any more, and nothing else is set but Period and Cursor, which is of the next
	// period. It is "" while the board names no further season.
	End bool `json:"end,omitempty"`
}

// ChangedEntry is what a member has in a period before or after a change.
type ChangedEntry struct {
	Score       int64     `json:"score"`
	Tiebreak    int64     `json:"tiebreak"`
	Fields      Fields    `json:"fields,omitempty"`
	CreatedTime time.Time `json:"created_time"`
}

// Changes is some of the changes of a board, in the order in which they were committed.
type Changes struct {
	Changes []Change
	Cursor  string // where they go on
}

// Changes returns the next changes of a board, each once: none when there are none, or with Wait none in that time. Needs
// scope admin. Errors: leaderboard.ErrHistoryChanged, leaderboard.ErrFeedPruned; after either, export the board and go on
// from the cursor of that.
func (c *Client) Changes(ctx context.Context, board string, q ChangesQuery) (Changes, error) {
	answer, err := c.Do(ctx, Request{Method: http.MethodGet, Path: Path("boards", board, "changes"), Query: q.params(), Timeout: q.Wait})
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

// Follow yields each change of a board once and in order, as they are committed, over the ends of periods, until ctx ends or
// the caller breaks off. Changes are asked for, and a follower is moved on, when the caller has taken all before them. A lost
// connection is opened again as Do repeats requests; an error is yielded last, as of Changes.
func (c *Client) Follow(ctx context.Context, board string, q ChangesQuery) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		if q.Wait == 0 && !q.Once {
			q.Wait = followWait
		}
		mark := followMark{board: board, name: q.Follower}
		if err := mark.begin(ctx, c, &q); err != nil {
			yield(Change{}, err)
			return
		}
		over := "" // the period whose end was told, while nothing comes after it
		for {
			err := mark.tell(ctx, c, q.After)
			var page Changes
			if err == nil {
				page, err = c.Changes(ctx, board, q)
			}
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
				mark.told = time.Time{}
				if err := mark.tell(ctx, c, q.After); err != nil {
					yield(Change{}, err)
				}
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

// Follower is a program that follows the changes of a board under a name: they are kept until it has them, for a day at most.
type Follower struct {
	Name            string             `json:"name"`
	Window          leaderboard.Window `json:"window"`
	Period          string             `json:"period"`            // where it is
	Seq             int64              `json:"seq"`               // up to here it has the changes of that period
	Cursor          string             `json:"cursor"`            // where it goes on
	Waiting         int64              `json:"waiting"`           // changes that it does not have yet
	OldestWaitingAt *time.Time         `json:"oldest_waiting_at"` // when the oldest of them was committed; nil: it has all
	CreatedTime     time.Time          `json:"created_time"`
	SeenAt          time.Time          `json:"seen_at"` // when it last told where it is
	EndsAt          time.Time          `json:"ends_at"` // when it ends by itself unless it tells that again
}

// PutFollower makes a follower of a board, or moves it on: it has everything up to the cursor after. Needs scope admin, like
// the methods below. Errors: those of Changes.
func (c *Client) PutFollower(ctx context.Context, board, name, after string) (Follower, error) {
	body := map[string]string{"after": after}
	return call[Follower](ctx, c, Request{Method: http.MethodPut, Path: Path("boards", board, "followers", name), Body: body})
}

// Followers lists the followers of a board, in the order of their names.
func (c *Client) Followers(ctx context.Context, board string) iter.Seq2[Follower, error] {
	return Items[Follower](ctx, c, Path("boards", board, "followers"), nil, "followers")
}

// GetFollower returns one follower. Errors: leaderboard.ErrFollowerNotFound.
func (c *Client) GetFollower(ctx context.Context, board, name string) (Follower, error) {
	return get[Follower](ctx, c, Path("boards", board, "followers", name), nil)
}

// DeleteFollower ends a follower: nothing is kept for it any more. Errors: leaderboard.ErrFollowerNotFound.
func (c *Client) DeleteFollower(ctx context.Context, board, name string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("boards", board, "followers", name)})
}

const (
	// followMoves is the least time between two moves of a follower, and followStays the longest.
	followMoves = 10 * time.Second
	followStays = 10 * time.Minute
)

// followMark is how far the server knows a follower.
type followMark struct {
	board, name string // name "": the server is told nothing
	at          string // cursor
	told        time.Time
}

// begin takes a query without a beginning to where the follower is, if there is one.
func (m *followMark) begin(ctx context.Context, c *Client, q *ChangesQuery) error {
	if m.name == "" || q.After != "" {
		return nil
	}
	f, err := c.GetFollower(ctx, m.board, m.name)
	if errors.Is(err, leaderboard.ErrFollowerNotFound) {
		return nil
	}
	q.After, q.Window = f.Cursor, "" // the cursor is of a window
	return err
}

// tell tells the server of a place, unless it knows a recent one.
func (m *followMark) tell(ctx context.Context, c *Client, cursor string) error {
	least := followMoves
	if cursor == m.at {
		least = followStays
	}
	if m.name == "" || cursor == "" || time.Since(m.told) < least {
		return nil
	}
	_, err := c.PutFollower(ctx, m.board, m.name, cursor)
	m.at, m.told = cursor, time.Now()
	return err
}
