package client

import "context"

// History returns a member's entries in the latest periods of a window.
func (c *Client) History(ctx context.Context, board, member string, q HistoryQuery) (History, error) {
	return get[History](ctx, c, Path("boards", board, "members", member, "history"), q)
}
