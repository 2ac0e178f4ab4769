package httpapi

import (
	"context"
	"log/slog"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/internal/trace"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Route is one row of the table of routes.
type Route struct {
	Pattern
	Access guard.Access // must be set
	Params []string     // of the query
	Handle func(*Call) error

	AnyQuery   bool     // the query is not checked
	Ops        bool     // not under /v1: no bound on concurrency, so that health can be seen under load
	Body       BodyRule // without one, a route without a body
	MergePatch bool     // the body may be application/merge-patch+json too
	Admitted   bool     // by Writer.Admit, before the body is read
	// SomeBoards: the handler lets a key that is for some boards touch no other. Without it, and without a board in its path,
	// the route is for keys of all boards.
	SomeBoards bool
	Players    PlayersMay
	Stream     bool // the answer has no end, so it does not count as a request in service
	Writes     bool // a row at least, which counts against a quota
	Reads      bool // answers count as reads of boards, as those of a GET with a board in its path do anyway
	Heavy      int  // units of heavy work that a request counts for
	Shows      Shows

	ExtraTime time.Duration // how much longer than Limits.RequestTimeout it may take
	read      bool          // answers count as reads, see isRead; set by New
	// span is the name of the spans of its requests. Probes, documents, pages, which send requests to other routes, and streams,
	// which have no end, have none. Set by New.
	span string
}

// BodyRule says what a route takes as its body. The zero value is a route without one.
type BodyRule struct {
	Limit  int64                                 // bytes, if Limits.MaxBody is not less
	Charge func(elements int) leaderboard.Charge // what that many elements of its arrays count for; nil: nothing
}

// counts returns what a body counts for against quotas, before it is decoded.
func (rule *BodyRule) counts(body []byte) leaderboard.Charge {
	if rule.Charge == nil {
		return leaderboard.Charge{}
	}
	return rule.Charge(min(wire.OutlineOf(body).Elements, leaderboard.MaxFriends)) // no route takes more, and a refused request costs no debt
}

// PlayersMay is what a player's token opens on a route, besides what anyone may read.
type PlayersMay int

const (
	PlayersMayAsAnyone    PlayersMay = iota
	PlayersMayReadOwn                // the member in the path, or that of a stream, if that is the player's own, where the board's rule players.read says so
	PlayersMayReadFriends            // the player among the own friends, on a board that anyone may read and that the token is for
	PlayersMaySubmit                 // to submit their own scores; the handler looks at the board's rule players.submit
)

// checkPolicy panics when a route does not state its access, so that a server with such a route does not start.
func (rt *Route) checkPolicy() {
	if rt.Access == guard.AccessUnsaid {
		panic("httpapi: no access is stated for " + rt.Method + " " + rt.Path)
	}
}

// counts returns what a request counts for before its body is read.
func (rt *Route) counts() (out leaderboard.Charge) {
	if rt.Ops {
		return out
	}
	out[leaderboard.QuotaKindRequests], out[leaderboard.QuotaKindHeavy] = 1, rt.Heavy
	if rt.Writes && rt.Body.Charge == nil { // a list is charged once, when it has been read: half of a charge could prevent the rest
		out[leaderboard.QuotaKindRows] = 1
	}
	return out
}

// Call is one request on its way through a route. It belongs to the request's goroutine.
type Call struct {
	response
	Params Params // what it says
	credentials
	Route *Route
	Start time.Time       // when the request came
	Ctx   context.Context // ends when the client goes or the request's time is up
	id    [1]string       // of the request, as a header has it
	span  trace.Span

	resolved resolved
	deadline deadline // what Ctx is

	body      guard.Body // until it is decoded
	bodyTaken bool       // the body was read, or as much as came of it
	heldBack  bool       // the answer has had to wait
}

// follow puts the request on its route.
func (c *Call) follow(rt *Route) { c.Route, c.Params.pattern, c.read = rt, &rt.Pattern, rt.read }

// resolved is what the names in a request were last resolved to, see Resolver.RetryOutdated.
type resolved struct {
	periodID int64 // 0 when none was found
	minSeq   int64 // as asked for

	// What was answered with.
	period   string
	revision leaderboard.Revision
	stale    bool
}

// Log logs a message about the request.
func (c *Call) Log(level slog.Level, msg string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("method", c.R.Method), slog.String("path", c.R.URL.EscapedPath()), slog.String("request_id", c.Caller.RequestID)}, attrs...)
	c.shared.logger.LogAttrs(trace.With(context.WithoutCancel(c.R.Context()), c.span), level, msg, attrs...)
}
