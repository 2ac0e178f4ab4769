package client

import (
	"context"
	"iter"
	"net/url"
)

// AuditQuery selects records of changes; an empty field does not filter.
type AuditQuery struct {
	Board, Member, Actor string
	Action               string // such as board.update
	Since, Until         string // RFC 3339: at this time or later, before this time
}

// Values returns the query as parameters of /v1/audit.
func (q *AuditQuery) Values() url.Values {
	return newParams().text("board", q.Board).text("member", q.Member).text("actor", q.Actor).text("action", q.Action).
		text("since", q.Since).text("until", q.Until).Values
}

// Audit lists changes, newest first. Needs scope admin.
func (c *Client) Audit(ctx context.Context, q AuditQuery) iter.Seq2[AuditEntry, error] {
	return Items[AuditEntry](ctx, c, Path("audit"), q.Values(), "entries")
}
