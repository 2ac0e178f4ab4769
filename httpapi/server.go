package httpapi

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
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

// Listener gives the connections of l problems to send where net/http sends text: it answers a request that it cannot
// read, such as one with a bad percent escape in its path, before any handler sees it.
func Listener(l net.Listener) net.Listener { return problemListener{l} }

type problemListener struct{ net.Listener }

// Accept waits for the next connection.
func (l problemListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		return problemConn{tcp}, nil
	}
	return conn, err
}

type problemConn struct{ *net.TCPConn }

// unreadableHeaders follow the status line of what net/http sends by itself, in one write. No answer of a handler is
// like it: that has a Date.
const unreadableHeaders = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// Write sends b, or a problem instead of the text of net/http.
func (c problemConn) Write(b []byte) (int, error) {
	status, text, ok := unreadable(b)
	if !ok {
		return c.TCPConn.Write(b)
	}
	if _, err := c.TCPConn.Write(unreadableProblem(status, text)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// unreadable recognizes an answer of net/http and cuts it into parts: "HTTP/1.1 400 Bad Request", the headers, "400 Bad
// Request: the reason".
func unreadable(b []byte) (status int, text string, ok bool) {
	const proto = "HTTP/1.1 "
	if len(b) < len(proto) || string(b[:len(proto)]) != proto {
		return 0, "", false
	}
	line := max(bytes.IndexByte(b, '\r'), 0)
	if end := line + len(unreadableHeaders); len(b) < end || string(b[line:end]) != unreadableHeaders {
		return 0, "", false
	}
	code, _, _ := strings.Cut(string(b[len(proto):line]), " ")
	status, err := strconv.Atoi(code)
	return status, string(b[line+len(unreadableHeaders):]), err == nil && status >= http.StatusBadRequest
}

// unreadableProblem returns a whole answer. What is not simply malformed has no row in the table of problems: no client
// that speaks HTTP sees it, and the status says all.
func unreadableProblem(status int, text string) []byte {
	_, reason, _ := strings.Cut(text, ": ")
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: text}
	if status == http.StatusBadRequest {
		k := kindOf(codeMalformed)
		p = problem{Type: k.typ(), Title: k.title, Status: status, Detail: "The request line or a header is not valid HTTP; in a path a % is followed by two hexadecimal digits."}
		if reason != "" {
			p.Detail = "The request is not valid HTTP: " + reason + "."
		}
	}
	body, err := json.Marshal(p)
	if err != nil { // every string in it is of net/http or of this package
		body = []byte(`{"status":` + strconv.Itoa(status) + `}`)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n", status, http.StatusText(status), len(body))
	out.WriteString("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n")
	out.Write(body)
	return out.Bytes()
}
