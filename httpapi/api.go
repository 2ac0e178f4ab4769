package httpapi

import (
	"net/http"
	"sync"
	"sync/atomic"
)

// API serves the HTTP contract. It may be used by any number of requests at the same time.
type API struct {
	cfg    Config
	keys   keyring
	router *router

	exports exporting

	unknown, wrongMethod route // where requests go that no route takes

	draining atomic.Bool
	inflight atomic.Int64
	buffers  sync.Pool // *[]byte, for bodies in and out
}

// New makes the API.
func New(cfg Config) *API {
	a := &API{cfg: cfg.withDefaults()}
	a.keys = newKeyring(a.cfg.Keys)
	a.buffers.New = func() any { b := make([]byte, 0, 4<<10); return &b }
	a.exports = make(exporting, a.cfg.MaxExports)
	a.router = newRouter(routes(a.cfg.Metrics != nil))
	a.unknown = nowhere(codeNotFound)
	a.wrongMethod = nowhere(codeMethod)
	return a
}

// SetDraining makes /readyz say 503 "draining", so that a load balancer stops sending before the listener closes.
func (a *API) SetDraining(draining bool) { a.draining.Store(draining) }

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := call{api: a, w: w, r: r, route: &a.unknown}
	if c.path.split(r.URL.EscapedPath()) {
		rt, allow := a.router.find(r.Method, &c.path)
		switch {
		case rt != nil:
			c.route = rt
		case allow != "":
			w.Header().Set("Allow", allow)
			c.route = &a.wrongMethod
		}
	}
	c.serve()
}
