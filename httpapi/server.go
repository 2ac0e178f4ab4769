package httpapi

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
)

// API serves the HTTP contract. It may be used by any number of requests at the same time.
type API struct {
	shared   shared
	handlers *handlers
	routes   []Route
	router   router

	unknown, wrongMethod Route // of requests that no route takes
	preflight            Route
}

// New makes the API.
func New(cfg Config) *API {
	cfg = cfg.withDefaults()
	h := newHandlers(&cfg)
	a := &API{
		shared: shared{
			base: cfg.Base, logger: cfg.Logger, observer: cfg.Observer, tracer: cfg.Tracer,
			guard: guard.New(guard.Options{
				Settings: cfg.SettingsKeys, Keyring: cfg.Keyring, Tokens: cfg.Players, Quotas: cfg.Quotas, Sessions: cfg.Sessions, Proxies: cfg.Proxies, MaxConcurrent: cfg.Limits.MaxConcurrent,
				BodyMemory: cfg.Limits.BodyMemory, BodyTimeout: cfg.Limits.BodyTimeout, AnswerMemory: cfg.Limits.AnswerMemory,
			}),
			writer: cfg.Writer, limits: cfg.Limits,
			values: newHeaderValues("Accept-Encoding"), shows: cfg.shows(),
		},
		handlers: h, unknown: lost(), wrongMethod: nowhere(wire.CodeMethod),
		preflight: open(preflight),
	}
	if cfg.Pages != nil {
		a.shared.pages = cfg.Pages(http.HandlerFunc(a.answer))
	}
	a.routes = slices.Concat(h.routes(cfg.Metrics != nil), cfg.Routes)
	if a.shared.cors = crossOrigin(cfg.CORSOrigins, a.routes); a.shared.cors != nil {
		a.shared.values = newHeaderValues("Accept-Encoding, Origin")
	}
	var optional []string
	for _, show := range a.shared.shows {
		optional = append(optional, show.Param())
	}
	if cfg.Friends != nil {
		optional = append(optional, "friends")
	}
	for i := range a.routes {
		a.routes[i].checkPolicy()
		a.routes[i].read = a.routes[i].isRead()
		rt := &a.routes[i]
		rt.complete(optional)
		if !rt.Ops() && !rt.Stream {
			rt.span = rt.Method + " " + rt.Path // as OpenTelemetry's conventions have it
		}
		a.router.add(&a.routes[i].Pattern, i)
	}
	return a
}

// Routes returns the table of routes.
func (a *API) Routes() []Route { return slices.Clone(a.routes) }

// Answer returns the answer to a question.
func (a *API) Answer(ctx context.Context, q Question) (Reply, error) { return a.shared.answer(ctx, q) }

// SetDraining makes /readyz say 503 "draining", so that a load balancer stops sending before the listener closes.
func (a *API) SetDraining(draining bool) { a.handlers.health.draining.Store(draining) }

// Wrote counts entries that are submitted through this server, but not by a request, for its status.
func (a *API) Wrote(entries int) { a.shared.traffic.wrote(entries) }

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	base := a.shared.base
	if base == "" {
		a.answer(w, r)
		return
	}
	if r.URL.Path == base { // people type it so
		http.Redirect(w, r, (&url.URL{Path: base + "/", RawQuery: r.URL.RawQuery}).String(), http.StatusPermanentRedirect)
		return
	}
	if inner := below(base, r); inner != nil {
		a.answer(w, inner)
		return
	}
	nothing := r.Clone(r.Context())
	nothing.URL.Path, nothing.URL.RawPath = "/v1/", "" // no route takes it
	a.answer(w, nothing)
}

// answer answers one request, whose path is a path of the contract.
func (a *API) answer(w http.ResponseWriter, r *http.Request) {
	c := &Call{response: response{shared: &a.shared, W: w, R: r}}
	c.follow(&a.unknown)
	w.Header()["X-Content-Type-Options"] = a.shared.values.nosniff
	c.identify()
	if c.Params.path.split(r.URL.EscapedPath()) {
		row, allow := a.router.find(r.Method, &c.Params.path)
		switch {
		case row >= 0:
			c.follow(&a.routes[row])
		case allow != "":
			w.Header().Set("Allow", allow)
			c.follow(&a.wrongMethod)
		}
	}
	allowOrigin(c, &a.preflight)
	c.serve()
}

// Server returns an http.Server for handler whose limits keep slow and greedy clients from holding it up. The caller
// serves and shuts down. Routes that may take longer extend the deadlines for themselves.
func Server(addr string, handler http.Handler) *http.Server {
	return &http.Server{
		Addr:              addr,
		Handler:           handler,
		ReadHeaderTimeout: guard.ReadTimeout,
		ReadTimeout:       guard.ReadTimeout,
		WriteTimeout:      sendStall,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
}
