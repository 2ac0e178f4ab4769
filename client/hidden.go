package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// hideTimeout is the additional time for hiding and restoring.
const hideTimeout = time.Minute

// HideOptions qualify a hide or a restoration.
type HideOptions struct {
	Actor  string // "": the id of the key
	Reopen bool   // closed periods too
}

// HideMember hides a member on a board ("": everywhere): the entries are kept but neither shown nor counted. Needs
// scope admin.
func (c *Client) HideMember(ctx context.Context, board, member, reason string, o HideOptions) (HiddenMember, error) {
	return call[HiddenMember](ctx, c, Request{
		Method: http.MethodPut, Path: hiddenPath(board, member), Query: api.Values(api.ReopenQuery{Reopen: o.Reopen}), Timeout: hideTimeout,
		Body: reasonBody{reason, o.Actor},
	})
}

// reasonBody has an admin's reason for a moderation.
type reasonBody struct {
	Reason string `json:"reason"`
	Actor  string `json:"actor,omitempty"`
}

// RestoreMember shows a hidden member again on a board ("": everywhere). The reason may be "". Errors:
// leaderboard.ErrNotHidden. Needs scope admin.
func (c *Client) RestoreMember(ctx context.Context, board, member, reason string, o HideOptions) error {
	query := api.RestoreQuery{ReopenQuery: api.ReopenQuery{Reopen: o.Reopen}, Reason: reason, Actor: o.Actor}
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: hiddenPath(board, member), Query: api.Values(query), Timeout: hideTimeout})
}

func hiddenPath(board, member string) string {
	if board == "" {
		return Path("members", member, "hidden")
	}
	return Path("boards", board, "members", member, "hidden")
}

// Moderate hides, shows again or removes up to 1,000 members at once, on Moderation.Board or everywhere. After a failure the
// finished part stays; the same call does the rest. Needs scope admin.
func (c *Client) Moderate(ctx context.Context, m leaderboard.Moderation) (Moderated, error) {
	path := Path("moderation")
	if m.Board != "" {
		path = Path("boards", m.Board, "moderation")
	}
	return call[Moderated](ctx, c, Request{Method: http.MethodPost, Path: path, Timeout: hideTimeout, Body: m})
}

// Hidden lists hidden members: on a board and everywhere, or with board "" of all boards; of one member, or with "" of
// all. Needs scope admin.
func (c *Client) Hidden(ctx context.Context, board, member string) iter.Seq2[HiddenMember, error] {
	return Items[HiddenMember](ctx, c, Path("hidden"), api.Values(api.HiddenQuery{Board: board, Member: member}), "hidden")
}
