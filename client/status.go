package client

import (
	"context"

	"leaderboard/api"
)

// Status returns the health of a server and its boards, page by page. Needs scope admin.
func (c *Client) Status(ctx context.Context) (out Status, err error) {
	for cursor := ""; ; {
		page, err := get[Status](ctx, c, Path("status"), api.StatusQuery{Cursor: cursor})
		if err != nil {
			return out, err
		}
		if cursor == "" {
			out.Server = page.Server
		}
		out.Boards = append(out.Boards, page.Boards...)
		if cursor = page.NextCursor; cursor == "" {
			return out, nil
		}
	}
}
