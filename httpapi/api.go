package httpapi

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
)

// API serves the HTTP contract. It may be used by any number of requests at the same time.
type API struct {
	cfg    Config
	keys   keyring
	mux    *http.ServeMux
	routes []route
	spec   *spec

	draining atomic.Bool
	inflight atomic.Int64
	buffers  sync.Pool // *[]byte, for bodies in and out
}

// New makes the API. It reads the document that it carries and panics only if that does not parse, which the tests of
// this package exclude.
func New(cfg Config) *API {
	a := &API{cfg: cfg.withDefaults(), mux: http.NewServeMux()}
	a.keys = newKeyring(a.cfg.Keys)
	a.spec = loadSpec()
	a.buffers.New = func() any { b := make([]byte, 0, 4<<10); return &b }
	a.routes = routes(a.cfg.Metrics != nil)
	for i := range a.routes {
		rt := &a.routes[i]
		a.mux.HandleFunc(rt.method+" "+rt.pattern(), func(w http.ResponseWriter, r *http.Request) { a.serve(rt, w, r) })
	}
	a.mux.HandleFunc("/", a.serveUnknown)
	return a
}

// SetDraining makes /readyz say 503 "draining", so that a load balancer stops sending before the listener closes.
func (a *API) SetDraining(draining bool) { a.draining.Store(draining) }

// ServeHTTP answers one request.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The mux would answer an unclean path by redirecting to another resource; no route has such a path.
	if unclean(r.URL.EscapedPath()) {
		a.serveUnknown(w, r)
		return
	}
	a.mux.ServeHTTP(w, r)
}

func unclean(path string) bool {
	if path == "" || path[0] != '/' || strings.Contains(path, "//") {
		return true
	}
	return strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../")
}

// serveUnknown answers what no route matches: 405 when another method would, else 404.
func (a *API) serveUnknown(w http.ResponseWriter, r *http.Request) {
	a.serve(&route{access: anyone, handle: func(c *call) error {
		if allow := a.allowed(r); allow != "" {
			c.w.Header().Set("Allow", allow)
			return refuse(codeMethod, "")
		}
		return refuse(codeNotFound, "")
	}, anyQuery: true}, w, r)
}

// allowed lists the methods that the path of r has.
func (a *API) allowed(r *http.Request) string {
	if unclean(r.URL.EscapedPath()) {
		return ""
	}
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPost, http.MethodDelete} {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := a.mux.Handler(probe); pattern != "/" && pattern != "" {
			methods = append(methods, m)
		}
	}
	return strings.Join(methods, ", ")
}
