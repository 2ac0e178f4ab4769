package client

import (
	"context"

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

// History returns a member's entries in the latest periods of a window.
func (c *Client) History(ctx context.Context, board, member string, q HistoryQuery) (History, error) {
	p := newParams().text("window", string(q.Window)).int("limit", int64(q.Limit)).text("cursor", q.Cursor).int("min_seq", q.MinSeq).bool("metadata", q.Metadata)
	return get[History](ctx, c, Path("boards", board, "members", member, "history"), p.Values)
}
