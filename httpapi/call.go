package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// call is one request on its way through a route. It belongs to the request's goroutine.
type call struct {
	api    *API
	route  *route
	w      http.ResponseWriter
	r      *http.Request
	start  time.Time
	ctx    context.Context // ends when the client goes or the request's time is up
	path   segments
	scope  Scope // of the key, "" without one
	query  query
	bad    []inputError // what is wrong with the parameters, gathered so that all of it is told at once
	status int          // of the answer, 0 before it
	seen   seen

	deadline deadline // what ctx is
}

// serve answers the request on its route.
func (c *call) serve() {
	c.start = time.Now()
	defer c.finish()
	if err := c.run(); err != nil {
		c.fail(err)
	}
}

// run lets the request in (bounds, key, query) and handles it.
func (c *call) run() (err error) {
	if !c.route.ops {
		if c.api.inflight.Add(1) > int64(c.api.cfg.MaxConcurrent) {
			c.api.inflight.Add(-1)
			return refuse(codeOverloaded, "")
		}
		defer c.api.inflight.Add(-1)
	}
	if c.route.access != accessAnyone {
		if c.scope, err = c.api.keys.scope(c.r.Header); err != nil {
			return err
		}
		if err = allow(c.scope, c.route.access.needs()); err != nil {
			return err
		}
	}
	if !c.route.anyQuery {
		if err = c.query.parse(c.r.URL.RawQuery, c.route.params); err != nil {
			return err
		}
	}
	if c.route.patience > 0 {
		c.extendDeadlines()
	}
	c.deadline.parent = c.r.Context()
	c.deadline.at = c.start.Add(c.api.cfg.RequestTimeout + c.route.patience)
	c.ctx = &c.deadline
	defer c.deadline.end()
	return c.route.handle(c)
}

// extendDeadlines lets a route take longer than the server's timeouts, which are made for the others. A connection
// that cannot (in tests) has none.
func (c *call) extendDeadlines() {
	ctl := http.NewResponseController(c.w)
	until := time.Now().Add(2*c.api.cfg.RequestTimeout + c.route.patience)
	_ = ctl.SetWriteDeadline(until)
	_ = ctl.SetReadDeadline(until)
}

// fail answers with the problem that err is, and logs what only the operator can do something about.
func (c *call) fail(err error) {
	k := writeProblem(c.w, err)
	c.status = k.status
	if k.code == codeInternal {
		c.log(slog.LevelError, "request failed", slog.Any("error", err))
	}
}

// finish recovers a panic of the handler and reports the request.
func (c *call) finish() {
	if p := recover(); p != nil {
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			c.report()
			panic(p)
		}
		c.log(slog.LevelError, "request panicked", slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		if c.status != 0 {
			panic(http.ErrAbortHandler) // part of an answer is out: end the connection
		}
		c.status = writeProblem(c.w, refuse(codeInternal, "")).status
	}
	c.report()
}

func (c *call) report() {
	c.api.cfg.OnRequest(c.route.path, methodLabel(c.r.Method), c.status, time.Since(c.start))
}

func (c *call) log(level slog.Level, msg string, attrs ...slog.Attr) {
	attrs = append([]slog.Attr{slog.String("method", c.r.Method), slog.String("path", c.r.URL.EscapedPath())}, attrs...)
	c.api.cfg.Logger.LogAttrs(context.WithoutCancel(c.r.Context()), level, msg, attrs...)
}

// methodLabel keeps the methods that a metric counts few.
func methodLabel(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return m
	}
	return "OTHER"
}

// send answers with a body. The headers that are not about the body are set before.
func (c *call) send(status int, contentType string, body []byte) {
	h := c.w.Header()
	values := [...]string{contentType, strconv.Itoa(len(body))}
	h["Content-Type"] = values[0:1:1]
	h["Content-Length"] = values[1:2:2]
	c.status = status
	c.w.WriteHeader(status)
	_, _ = c.w.Write(body) // a client that is gone misses nothing
}

const (
	typeJSON       = "application/json"
	typeMergePatch = "application/merge-patch+json" // RFC 7396
)

// sendJSON answers with v. Nothing may keep it: it is the state of this moment.
func (c *call) sendJSON(status int, v any) error {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	c.w.Header().Set("Cache-Control", "private, no-cache")
	c.send(status, typeJSON, body)
	return nil
}
