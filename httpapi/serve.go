package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"leaderboard/internal/wire"
)

// identify gives the request its id, and every answer to it too.
func (c *call) identify() {
	c.caller.RequestID = wire.RequestID(c.r.Header)
	c.id[0] = c.caller.RequestID
	c.w.Header()[wire.HeaderRequestID] = c.id[:]
}

// serve answers the request on its route.
func (c *call) serve() {
	c.start = time.Now()
	if c.shared.tracer != nil && c.route.span != "" {
		c.span = beginSpan(c.shared.tracer, c.route.span, c.route.path, c.pathValue("board"), c.caller.RequestID, c.r)
	}
	defer c.finish()
	if err := c.run(); err != nil {
		c.holdBack(err)
		c.fail(err)
	}
}

// run lets the request in (key, query, body, bounds) and handles it. It reads the body before the request counts as in service,
// so that slow clients keep no others out.
func (c *call) run() (err error) {
	if err = c.authenticate(); err != nil {
		return err
	}
	if err = c.authorize(); err != nil {
		return err
	}
	if !c.route.anyQuery {
		if err = c.query.Parse(c.r.URL.RawQuery, c.route.params); err == nil {
			c.strings, err = c.query.Strings()
		}
		if err == nil {
			err = mayFilter(c)
		}
		if err != nil {
			return err
		}
	}
	served := c.start
	if c.route.body.limit == 0 && c.r.ContentLength != 0 {
		// net/http would wait for a body that is not wanted before it sends a long answer, with the request's permit taken.
		c.w.Header().Set("Connection", "close")
	}
	if c.route.body.limit > 0 {
		defer c.shared.guard.Intake.Drop(&c.body)
		if err := c.letIn(); err != nil {
			return err
		}
		served = time.Now()
	}
	if !c.route.ops && !c.route.stream {
		if err := c.shared.guard.Served.Acquire(); err != nil {
			return err
		}
		defer c.shared.guard.Served.Release()
	}
	if c.route.extraTime > 0 {
		c.extendDeadlines(c.route.extraTime)
	}
	c.deadline.parent, c.deadline.caller, c.deadline.span = c.r.Context(), &c.caller, c.span
	c.deadline.at = served.Add(c.shared.limits.RequestTimeout + c.route.extraTime)
	c.ctx = &c.deadline
	defer c.deadline.end()
	return c.route.handle(c)
}

// fail answers with the problem of err, and logs it when only the operator can mend it.
func (c *call) fail(err error) {
	if !c.bodyTaken && c.r.ContentLength != 0 {
		c.shared.guard.Intake.Leave(c.w)
	}
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		err = wire.OfRead(err)
	}
	k := wire.WriteProblem(c.w, c.shared.base, err, c.caller.RequestID)
	c.status = k.Status
	if k.Code == wire.CodeInternal {
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
			c.status = http.StatusInternalServerError // for the report; part of an answer is out: end the connection
			c.report()
			panic(http.ErrAbortHandler)
		}
		c.status = wire.WriteProblem(c.w, c.shared.base, wire.Reject(wire.CodeInternal, ""), c.caller.RequestID).Status
	}
	c.report()
}

func (c *call) report() {
	took := time.Since(c.start)
	if !c.route.ops {
		c.shared.traffic.answered(c.route.read && c.status < http.StatusBadRequest, c.start.Add(took))
	}
	c.shared.observer.RequestAnswered(Answered{
		Route: c.route.path, Method: methodLabel(c.r.Method), Status: c.status, Took: took, RequestID: c.caller.RequestID, Span: c.span,
	})
	if c.span.On() {
		endSpan(c.span, c.status)
	}
}
