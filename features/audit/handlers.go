// Package audit lists who changed what. The engine and features write the records (internal/audit), and the engine removes them.
//
//	store.go     the records in MySQL
//	handlers.go  the route
//	feature.go   what the folder registers
package audit

import (
	"context"
	"strconv"
	"strings"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Log has who changed what.
type Log interface {
	// Audit returns the records that the query selects, newest first. When it stopped looking before there were as many as
	// the limit, more may be behind rest.
	Audit(ctx context.Context, q leaderboard.AuditQuery) (found []api.AuditEntry, rest leaderboard.AuditPlace, err error)
}

// handlers serve the records of changes.
type handlers struct{ log Log }

// Routes returns the route about the records of changes.
func Routes(log Log) []httpapi.Route {
	h := &handlers{log}
	return []httpapi.Route{
		httpapi.On("listAudit", h.list),
	}
}

// list answers GET /v1/audit: newest first.
func (h *handlers) list(c *httpapi.Call) error {
	q, limit := params(c), int(c.Params.Integer("limit"))
	of := wire.List{Name: strings.Join([]string{"audit", q.Board, q.Member, q.Actor, string(q.Action)}, " ")}
	if cursor := c.Params.Text("cursor"); cursor != "" {
		after, ok := of.After(cursor)
		at, id, _ := strings.Cut(after, " ")
		micros, ok := httpapi.Positive(at, ok)
		if q.BeforeID, ok = httpapi.Positive(id, ok); !ok || q.BeforeID == 0 || leaderboard.Micros(micros) > leaderboard.MaxTime {
			c.Params.BadCursor()
		}
		q.BeforeTime = leaderboard.Micros(micros)
	}
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	q.Limit = limit + 1
	found, rest, err := h.log.Audit(c.Ctx, q)
	if err != nil {
		return err
	}
	next := ""
	if len(found) > limit {
		found = found[:limit]
		rest = leaderboard.AuditPlace{Time: leaderboard.MicrosOf(found[limit-1].Time), ID: found[limit-1].ID}
	}
	if rest.ID != 0 {
		next = of.Cursor(strconv.FormatInt(int64(rest.Time), 10) + " " + strconv.FormatInt(rest.ID, 10))
	}
	return httpapi.SendPage(c, "entries", found, next)
}

// params returns the query of the parameters. A board need not exist any longer.
func params(c *httpapi.Call) leaderboard.AuditQuery {
	q := leaderboard.AuditQuery{
		Board: c.Params.Text("board"), Member: c.Params.OptionalMember(), Actor: c.Params.Text("actor"),
		Since: c.Params.Moment("since"), Until: c.Params.Moment("until"),
	}
	if q.Board != "" && leaderboard.CheckBoardName(q.Board) != nil {
		c.Params.BadParam("board", "want the name of a board")
	}
	q.Action = leaderboard.AuditAction(c.Params.Word("action"))
	if len(q.Actor) > maxActor {
		c.Params.BadParam("actor", "want the id of a key")
	}
	return q
}

// maxActor is the greatest length of an actor, such as the id of a key.
const maxActor = 128
