package httpapi

import "net/http"

// API serves the HTTP contract. It may be used by any number of requests at the same time.
type API struct {
	shared   shared
	handlers *handlers
	routes   []route
	router   router

	unknown, wrongMethod route // where requests go that no route takes
}

// New makes the API.
func New(cfg Config) *API {
	cfg = cfg.withDefaults()
	h := newHandlers(&cfg)
	a := &API{
		shared: shared{
			logger: cfg.Logger, onRequest: cfg.OnRequest, keys: newKeyring(cfg.Keys),
			maxBody: cfg.MaxBody, maxConcurrent: int64(cfg.MaxConcurrent), requestTimeout: cfg.RequestTimeout,
		},
		handlers: h, routes: h.routes(cfg.Metrics != nil), unknown: nowhere(codeNotFound), wrongMethod: nowhere(codeMethod),
	}
	for i := range a.routes {
		a.router.add(&a.routes[i].pattern, i)
	}
	return a
}

// SetDraining makes /readyz say 503 "draining", so that a load balancer stops sending before the listener closes.
func (a *API) SetDraining(draining bool) { a.handlers.health.draining.Store(draining) }

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := call{shared: &a.shared, w: w, r: r, route: &a.unknown}
	if c.path.split(r.URL.EscapedPath()) {
		row, allow := a.router.find(r.Method, &c.path)
		switch {
		case row >= 0:
			c.route = &a.routes[row]
		case allow != "":
			w.Header().Set("Allow", allow)
			c.route = &a.wrongMethod
		}
	}
	c.serve()
}
