package httpapi

import (
	"net/http"
	"time"
)

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
			intake: newIntake(cfg.BodyMemory), admit: cfg.Admit, maxBody: cfg.MaxBody, bodyTimeout: cfg.BodyTimeout, maxConcurrent: int64(cfg.MaxConcurrent), requestTimeout: cfg.RequestTimeout,
			values: newHeaderValues(),
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

// Server returns an http.Server for handler whose limits keep slow and greedy clients from holding it up. The caller
// serves and shuts down. Routes that may take longer extend the deadlines for themselves.
func Server(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: readTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
}
