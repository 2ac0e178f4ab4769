package client

import (
	"context"
	"iter"

	"leaderboard/api"
)

// Audit lists changes, newest first. Needs scope admin.
func (c *Client) Audit(ctx context.Context, q AuditQuery) iter.Seq2[AuditEntry, error] {
	return Items[AuditEntry](ctx, c, Path("audit"), api.Values(q), "entries")
}
