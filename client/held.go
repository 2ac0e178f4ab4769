package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"leaderboard/leaderboard"
)

// Held is a submission that waits for an admin, or did: see leaderboard.Review.
type Held struct {
	ID          string                `json:"id"`
	Board       string                `json:"board"`
	Member      string                `json:"member"`
	State       leaderboard.HeldState `json:"state"`
	Reason      string                `json:"reason"` // why it was held
	Score       *int64                `json:"score"`  // as submitted; nil: none was
	Tiebreak    *int64                `json:"tiebreak,omitempty"`
	Fields      Fields                `json:"fields,omitempty"`
	Set         Fields                `json:"set,omitempty"`
	Add         Fields                `json:"add,omitempty"`
	Op          leaderboard.Policy    `json:"op,omitempty"`
	KeepTime    bool                  `json:"keep_time,omitempty"`
	Metadata    json.RawMessage       `json:"metadata,omitempty"`
	NewScore    int64                 `json:"new_score"` // that it would have made when it came in
	NewTiebreak int64                 `json:"new_tiebreak"`
	CreatedTime time.Time             `json:"created_time"` // of its entry once approved, but with policy sum
	HeldTime    time.Time             `json:"held_time"`
	Actor       string                `json:"actor"`
	RequestID   string                `json:"request_id"`
	DecidedTime *time.Time            `json:"decided_time"` // nil: it waits
	DecidedBy   string                `json:"decided_by,omitempty"`
	Note        string                `json:"note,omitempty"`
	Outcome     leaderboard.Status    `json:"outcome,omitempty"` // of an approved one: applied or unchanged
}

// Held lists held submissions in a state ("": those that wait), newest first: of one board and of one member, or with "" of all.
// Needs scope admin.
func (c *Client) Held(ctx context.Context, board, member string, state leaderboard.HeldState) iter.Seq2[Held, error] {
	query := newParams().text("board", board).text("member", member).text("state", string(state))
	return Items[Held](ctx, c, Path("held"), query.Values, "held")
}

// HeldOne returns one held submission. Errors: leaderboard.ErrHeldNotFound. Needs scope admin.
func (c *Client) HeldOne(ctx context.Context, id string) (Held, error) {
	return call[Held](ctx, c, Request{Method: http.MethodGet, Path: Path("held", id)})
}

// ApproveHeld enters a held submission in the periods that it came in; with reopen also in those that have closed meanwhile.
// The same again changes nothing. Errors: leaderboard.ErrHeldNotFound, ErrHeldDecided, ErrPeriodClosed, ErrPeriodNotFound. Needs
// scope admin.
func (c *Client) ApproveHeld(ctx context.Context, id, note string, reopen bool) (Held, error) {
	return call[Held](ctx, c, Request{Method: http.MethodPost, Path: Path("held", id, "approve"), Query: newParams().bool("reopen", reopen).Values, Body: decision{note}})
}

// RejectHeld leaves a held submission out. The same again changes nothing. Errors: leaderboard.ErrHeldNotFound, ErrHeldDecided.
// Needs scope admin.
func (c *Client) RejectHeld(ctx context.Context, id, note string) (Held, error) {
	return call[Held](ctx, c, Request{Method: http.MethodPost, Path: Path("held", id, "reject"), Body: decision{note}})
}

type decision struct {
	Note string `json:"note,omitempty"`
}
