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

// crossOrigin makes the answers by which browsers let pages of other origins use the routes of /v1; nil without such origins.
// Browsers send no cookies with these requests: a page that has a key sends it in a header.
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

// allowOrigin sets the headers that say which pages may read the answer, or sends a preflight to its route. A kept answer has no
// such headers, so one origin never gets the headers of another.
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
