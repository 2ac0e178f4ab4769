package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/cors"

	"leaderboard/internal/wire"
)

// preflightAge is for how long a browser may keep the answer to a preflight. Chromium keeps it for two hours at most.
const preflightAge = 2 * time.Hour

// crossOrigin makes what tells browsers that pages of other origins may use the routes of /v1; nil when there are no such
// origins. Browsers send no cookies and no keys of their own with it: a page that has a key sends it in a header.
func crossOrigin(origins []string, routes []Route) *cors.Cors {
	if len(origins) == 0 {
		return nil
	}
	methods := []string{http.MethodHead}
	for i := range routes {
		if r := &routes[i]; !r.Ops() && !slices.Contains(methods, r.Method) {
			methods = append(methods, r.Method)
		}
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins, AllowedMethods: methods, MaxAge: int(preflightAge / time.Second),
		AllowedHeaders: []string{"Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID", wire.HeaderRequestID, "Traceparent", "Tracestate"},
		ExposedHeaders: []string{
			"ETag", "Location", "Retry-After", "RateLimit", "RateLimit-Policy", "WWW-Authenticate", "Allow", "Content-Disposition",
			"Leaderboard-Seq", "Leaderboard-As-Of", "Leaderboard-Total", "Leaderboard-Period", HeaderCursor, headerReplayed, wire.HeaderRequestID,
		},
	})
}

// preflight is the route of the questions that browsers ask before they let a page send a request.
func preflight(c *Call) error {
	c.shared.cors.HandlerFunc(c.W, c.R)
	c.Status = http.StatusNoContent
	return nil
}

// allowOrigin says in the headers of the answer which pages may read it, or finds the request to be a preflight. An answer
// that is kept has no such headers, so those of one origin are never sent to another.
func allowOrigin(c *Call, preflight *Route) {
	if c.shared.cors == nil || !strings.HasPrefix(c.R.URL.Path, "/v1/") {
		return
	}
	if c.R.Method == http.MethodOptions && c.R.Header["Access-Control-Request-Method"] != nil {
		c.follow(preflight)
		return
	}
	c.shared.cors.HandlerFunc(c.W, c.R)
}
