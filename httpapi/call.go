package httpapi

import (
	"context"
	"log/slog"
	"time"

	"leaderboard/api"
	"leaderboard/internal/guard"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// Route is one row of the table of routes.
type Route struct {
	Pattern
	Handle func(*Call) error

	read bool // answers count as reads, see isRead; set by New
	// span is the name of the spans of its requests, "" for no spans: of probes, documents, pages, which send requests to other
	// routes, and streams, which have no end. Set by New.
	span string
}

// On returns the route of an operation of the table.
func On(id string, handle func(*Call) error) Route {
	return Route{Pattern: Pattern{Operation: api.OperationOf(id)}, Handle: handle}
}

// checkPolicy panics when a route does not state its access, so that a server with such a route does not start.
func (rt *Route) checkPolicy() {
	if rt.Access == api.AccessUnsaid {
		panic("httpapi: no access is stated for " + rt.Method + " " + rt.Path)
	}
}

// counts returns the charge of a request before its body is read.
func (rt *Route) counts() (out leaderboard.Charge) {
	if rt.Ops() {
		return out
	}
	out[leaderboard.QuotaKindRequests], out[leaderboard.QuotaKindHeavy] = 1, rt.Heavy
	if rt.Writes && rt.Body != api.BodyRows && rt.Body != api.BodyScores { // a list is charged once, when its body was read: half of a charge could prevent the rest
		out[leaderboard.QuotaKindRows] = 1
	}
	return out
}

// Call is one request on its way through a route. It belongs to the request's goroutine.
type Call struct {
	response
	Params Params // parameters of the path and the query
	credentials
	Route *Route
	Start time.Time       // when the request came
	Ctx   context.Context // ends when the client goes or the request's time is up
	id    [1]string       // id of the request, as a value of a header
	span  trace.Span

	resolved resolved
	deadline deadline // Ctx, once the request runs

	body     guard.Body // until it is decoded
	bodyRead bool       // the body was read, or the part of it that came
	delayed  bool       // the answer has had to wait
}

// follow puts the request on its route.
func (c *Call) follow(rt *Route) { c.Route, c.Params.pattern, c.read = rt, &rt.Pattern, rt.read }

// resolved holds the period to which the names in a request were resolved, see Resolver.RetryOutdated.
type resolved struct {
	periodID int64 // 0 if no period was found
	minSeq   int64 // as asked for

	// The period and state of the answer.
	period   string
	revision leaderboard.Revision
	stale    bool
}

// Log logs a message about the request.
func (c *Call) Log(level slog.Level, msg string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("method", c.R.Method), slog.String("path", c.R.URL.EscapedPath()), slog.String("request_id", c.Caller.RequestID)}, attrs...)
	c.shared.logger.LogAttrs(trace.With(context.WithoutCancel(c.R.Context()), c.span), level, msg, attrs...)
}
