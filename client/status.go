package client

import (
	"context"
)

// Status returns the health of a server and its boards, page by page. Needs scope admin.
func (c *Client) Status(ctx context.Context) (out Status, err error) {
	for cursor := ""; ; {
		page, err := get[Status](ctx, c, Path("status"), newParams().text("cursor", cursor).Values)
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
