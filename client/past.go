package client

import (
	"context"
	"encoding/json"
	"time"

	"leaderboard/leaderboard"
)

// HistoryQuery asks for a member's history; the zero value for the current period of the board's first window and the
// 29 before it.
type HistoryQuery struct {
	Window   leaderboard.Window // "": the board's first
	Limit    int                // periods to look at, 1 to 100; 0: 30
	Cursor   string             // History.NextCursor of the answer before
	MinSeq   int64              // of the current period, as in ReadQuery
	Metadata bool               // as in ReadQuery
}

// History is a member's entries in periods of a window, newest first; periods without an entry are left out.
type History struct {
	Board      string             `json:"board"`
	Window     leaderboard.Window `json:"window"`
	Member     string             `json:"member"`
	AsOf       time.Time          `json:"as_of"`
	Source     leaderboard.Source `json:"source"`
	Stale      bool               `json:"stale"`
	Periods    []HistoryPeriod    `json:"periods"`
	NextCursor string             `json:"next_cursor,omitempty"` // "": no older ones
}

// HistoryPeriod is a member's entry in one period, exact at Seq.
type HistoryPeriod struct {
	Period      string          `json:"period"`
	StrictRank  int64           `json:"strict_rank"`
	TiedRank    int64           `json:"tied_rank"`
	Score       int64           `json:"score"`
	Tiebreak    int64           `json:"tiebreak"`
	Fields      Fields          `json:"fields,omitempty"`
	CreatedTime time.Time       `json:"created_time"`
	Total       int64           `json:"total"` // entries of the period
	Seq         int64           `json:"seq"`
	Closed      bool            `json:"closed"`
	Metadata    json.RawMessage `json:"metadata,omitempty"` // an object, nil for none
}

// History returns a member's entries in the latest periods of a window.
func (c *Client) History(ctx context.Context, board, member string, q HistoryQuery) (History, error) {
	p := newParams().text("window", string(q.Window)).int("limit", int64(q.Limit)).text("cursor", q.Cursor).int("min_seq", q.MinSeq).bool("metadata", q.Metadata)
	return get[History](ctx, c, Path("boards", board, "members", member, "history"), p.Values)
}
