package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"leaderboard/api"
	"leaderboard/internal/wire"
)

// identify gives the request and every answer to it the request's id.
func (c *Call) identify() {
	c.Caller.RequestID = wire.RequestID(c.R.Header)
	c.id[0] = c.Caller.RequestID
	c.W.Header()[wire.HeaderRequestID] = c.id[:]
}

// serve answers the request on its route.
func (c *Call) serve() {
	c.Start = time.Now()
	if c.shared.tracer != nil && c.Route.span != "" {
		c.span = beginSpan(c.shared.tracer, c.Route.span, c.Route.Path, c.Params.PathValue("board"), c.Caller.RequestID, c.R)
	}
	defer c.finish()
	if err := c.run(); err != nil {
		c.delayRefusal(err)
		c.fail(err)
	}
}

// run lets the request in (key, query, body, bounds) and handles it. It reads the body before the request counts as in service, so
// that slow clients keep no others out.
func (c *Call) run() (err error) {
	if err = c.authenticate(); err != nil {
		return err
	}
	if err = c.authorize(); err != nil {
		return err
	}
	if !c.Route.AnyQuery() {
		if err = c.Params.Query.Parse(c.R.URL.RawQuery, c.Route.Params); err == nil {
			c.Strings, err = c.Params.Query.Strings()
		}
		if err == nil {
			err = mayFilter(c)
		}
		if err != nil {
			return err
		}
	}
	served := c.Start
	if c.Route.Body == api.BodyNone && c.R.ContentLength != 0 {
		// net/http would wait for an unwanted body before it sends a long answer, while the request holds its permit.
		c.W.Header().Set("Connection", "close")
	}
	if c.Route.Body != api.BodyNone {
		defer c.shared.guard.Bodies.Drop(&c.body)
		if err := c.admitBody(); err != nil {
			return err
		}
		served = time.Now()
	}
	if !c.Route.Ops() && !c.Route.Stream {
		if err := c.shared.guard.Served.Acquire(); err != nil {
			return err
		}
		defer c.shared.guard.Served.Release()
	}
	if c.Route.ExtraTime > 0 {
		c.extendDeadlines(c.Route.ExtraTime)
	}
	c.deadline.parent, c.deadline.caller, c.deadline.span = c.R.Context(), &c.Caller, c.span
	c.deadline.at = served.Add(c.shared.limits.RequestTimeout + c.Route.ExtraTime)
	c.Ctx = &c.deadline
	defer c.deadline.end()
	return c.Route.Handle(c)
}

// fail answers with the problem of err, and logs an internal error, which only the operator can repair.
func (c *Call) fail(err error) {
	if !c.bodyRead && c.R.ContentLength != 0 {
		c.shared.guard.Bodies.Leave(c.W)
	}
	if c.R.Method == http.MethodGet || c.R.Method == http.MethodHead {
		err = wire.OfRead(err)
	}
	k := wire.WriteProblem(c.W, c.shared.base, err, c.Caller.RequestID)
	c.Status = k.Status
	if k.Code == wire.CodeInternal {
		c.Log(slog.LevelError, "request failed", slog.Any("error", err))
	}
}

// Problem returns the body of the answer to a read that failed with err.
func (c *Call) Problem(err error) []byte {
	_, body := wire.EncodeProblem(c.shared.base, wire.OfRead(err), c.Caller.RequestID)
	return body
}

// finish recovers a panic of the handler and reports the request.
func (c *Call) finish() {
	if p := recover(); p != nil {
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			c.report()
			panic(p)
		}
		c.Log(slog.LevelError, "request panicked", slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
		if c.Status != 0 {
			c.Status = http.StatusInternalServerError // for the report; part of an answer is out: end the connection
			c.report()
			panic(http.ErrAbortHandler)
		}
		c.Status = wire.WriteProblem(c.W, c.shared.base, wire.Reject(wire.CodeInternal, ""), c.Caller.RequestID).Status
	}
	c.report()
}

func (c *Call) report() {
	took := time.Since(c.Start)
	if !c.Route.Ops() {
		c.shared.traffic.answered(c.Route.read && c.Status < http.StatusBadRequest, c.Start.Add(took))
	}
	c.shared.observer.RequestAnswered(RequestInfo{
		Route: c.Route.Path, Method: methodLabel(c.R.Method), Status: c.Status, Took: took, RequestID: c.Caller.RequestID, Span: c.span,
	})
	if c.span.On() {
		endSpan(c.span, c.Status)
	}
}
