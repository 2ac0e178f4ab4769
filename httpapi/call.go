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

// route is one row of the table of routes.
type route struct {
	pattern
	access guard.Access // must be set
	params []string
	handle func(*call) error

	anyQuery   bool // the query is not checked
	ops        bool // not under /v1: no bound on concurrency, so that health can be seen under load
	body       bodyRule
	mergePatch bool // the body may be application/merge-patch+json too
	admitted   bool // by Writer.Admit, before the body is read
	// someBoards: the handler lets a key that is for some boards touch no other. Without it, and without a board in its path,
	// the route is for keys of all boards.
	someBoards bool
	players    playersMay
	stream     bool // the answer has no end, so it does not count as a request in service
	writes     bool // a row at least, which counts against a quota
	read       bool // answers count as reads, see isRead; set by New
	heavy      int  // units of heavy work that a request counts for

	extraTime time.Duration // how much longer than Limits.RequestTimeout it may take
	// span is the name of the spans of its requests. Probes, documents, pages, which send requests to other routes, and streams,
	// which have no end, have none. Set by New.
	span string
}

// bodyRule says what a route takes as its body. The zero value is a route without one.
type bodyRule struct {
	limit  int64                                 // bytes, if Limits.MaxBody is not less
	charge func(elements int) leaderboard.Charge // what that many elements of its arrays count for; nil: nothing
}

// counts returns what a body counts for against quotas, before it is decoded.
func (rule *bodyRule) counts(body []byte) leaderboard.Charge {
	if rule.charge == nil {
		return leaderboard.Charge{}
	}
	return rule.charge(min(wire.OutlineOf(body).Elements, leaderboard.MaxFriends)) // no route takes more, and a refused request costs no debt
}

// playersMay is what a player's token opens on a route, besides what anyone may read.
type playersMay int

const (
	playersMayAsAnyone    playersMay = iota
	playersMayReadOwn                // the member in the path, or that of a stream, if that is the player's own, where the board's rule players.read says so
	playersMayReadFriends            // the player among the own friends, on a board that anyone may read and that the token is for
	playersMaySubmit                 // to submit their own scores; the handler looks at the board's rule players.submit
)

// checkPolicy panics when a route does not state its access, so that a server with such a route does not start.
func (rt *route) checkPolicy() {
	if rt.access == guard.AccessUnsaid {
		panic("httpapi: no access is stated for " + rt.method + " " + rt.path)
	}
}

// counts returns what a request counts for before its body is read.
func (rt *route) counts() (out leaderboard.Charge) {
	if rt.ops {
		return out
	}
	out[leaderboard.QuotaKindRequests], out[leaderboard.QuotaKindHeavy] = 1, rt.heavy
	if rt.writes && rt.body.charge == nil { // a list is charged once, when it has been read: half of a charge could prevent the rest
		out[leaderboard.QuotaKindRows] = 1
	}
	return out
}

// call is one request on its way through a route. It belongs to the request's goroutine.
type call struct {
	response
	params
	credentials
	route *route
	start time.Time
	ctx   context.Context // ends when the client goes or the request's time is up
	id    [1]string       // of the request, as a header has it
	span  trace.Span

	resolved resolved
	deadline deadline // what ctx is

	body      guard.Body // until it is decoded
	bodyTaken bool       // the body was read, or as much as came of it
	heldBack  bool       // the answer has had to wait
}

// follow puts the request on its route.
func (c *call) follow(rt *route) { c.route, c.pattern, c.read = rt, &rt.pattern, rt.read }

// resolved is what the names in a request were last resolved to, see resolver.retryOutdated.
type resolved struct {
	periodID int64 // 0 when none was found
	minSeq   int64 // as asked for

	// What was answered with.
	period   string
	revision leaderboard.Revision
	stale    bool
}

func (c *call) log(level slog.Level, msg string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("method", c.r.Method), slog.String("path", c.r.URL.EscapedPath()), slog.String("request_id", c.caller.RequestID)}, attrs...)
	c.shared.logger.LogAttrs(trace.With(context.WithoutCancel(c.r.Context()), c.span), level, msg, attrs...)
}
