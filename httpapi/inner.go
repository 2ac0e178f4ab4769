package httpapi

import (
	"cmp"
	"context"
	"net/http"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Question is a GET that the server sends to itself, for no client: as a caller that may read every board, and is no admin.
type Question struct {
	Route   *Route
	Path    []string     // the values in the path of the route
	Query   []wire.Param // parsed for the route
	Strings bool         // the answer has wide numbers as strings
	Known   string       // the ETag of an answer that is not needed again, "" for none
	// Handle answers; nil: the handler of the route.
	Handle func(*Call) error
}

// Reply is the answer to a Question.
type Reply struct {
	Status   int
	Tag      string // the ETag, "" without one
	Body     []byte
	PeriodID int64
	Period   string
	Revision leaderboard.Revision
	Stale    bool
}

// answer returns the answer to a question.
func (s *shared) answer(ctx context.Context, q Question) (Reply, error) {
	r := (&http.Request{Method: http.MethodGet, Header: http.Header{}}).WithContext(ctx)
	if q.Known != "" {
		r.Header["If-None-Match"] = []string{q.Known}
	}
	out := recorded{header: http.Header{}}
	all := leaderboard.Key{Scope: leaderboard.ScopeRead}
	c := Call{response: response{shared: s, W: &out, R: r, Strings: q.Strings}, credentials: credentials{Key: &all, Scope: all.Scope}, Ctx: ctx}
	c.follow(q.Route)
	c.Params.path = c.Params.pattern.fill(q.Path...)
	c.Params.Query.Items = q.Query
	handle := q.Handle
	if handle == nil {
		handle = q.Route.Handle
	}
	err := handle(&c)
	was := &c.resolved
	return Reply{out.status, out.tag(), out.body, was.periodID, was.period, was.revision, was.stale}, err
}

// recorded is an answer that is not sent.
type recorded struct {
	header http.Header
	status int
	body   []byte
}

// Header implements http.ResponseWriter.
func (r *recorded) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorded) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *recorded) Write(b []byte) (int, error) {
	r.status = cmp.Or(r.status, http.StatusOK)
	r.body = append(r.body, b...)
	return len(b), nil
}

func (r *recorded) tag() string {
	if tag := r.header["Etag"]; len(tag) == 1 {
		return tag[0]
	}
	return ""
}
