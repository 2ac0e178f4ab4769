package client

import (
	"context"
	"iter"
	"net/http"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// Held lists held submissions in a state ("": waiting), newest first: of one board and of one member, or with "" of all. Needs
// scope admin.
func (c *Client) Held(ctx context.Context, board, member string, state leaderboard.HeldState) iter.Seq2[Held, error] {
	query := api.HeldQuery{Board: board, Member: member, State: state}
	return Items[Held](ctx, c, Path("held"), api.Values(query), "held")
}

// HeldOne returns one held submission. Errors: leaderboard.ErrHeldNotFound. Needs scope admin.
func (c *Client) HeldOne(ctx context.Context, id string) (Held, error) {
	return call[Held](ctx, c, Request{Method: http.MethodGet, Path: Path("held", id)})
}

// ApproveHeld enters a held submission in its periods; with reopen also in periods that have closed meanwhile. A second approval
// changes nothing. Errors: leaderboard.ErrHeldNotFound, ErrHeldDecided, ErrPeriodClosed, ErrPeriodNotFound. Needs scope admin.
func (c *Client) ApproveHeld(ctx context.Context, id, note string, reopen bool) (Held, error) {
	return call[Held](ctx, c, Request{Method: http.MethodPost, Path: Path("held", id, "approve"), Query: api.Values(api.ReopenQuery{Reopen: reopen}), Body: decision{note}})
}

// RejectHeld leaves a held submission out. The same again changes nothing. Errors: leaderboard.ErrHeldNotFound, ErrHeldDecided.
// Needs scope admin.
func (c *Client) RejectHeld(ctx context.Context, id, note string) (Held, error) {
	return call[Held](ctx, c, Request{Method: http.MethodPost, Path: Path("held", id, "reject"), Body: decision{note}})
}

type decision struct {
	Note string `json:"note,omitempty"`
}
