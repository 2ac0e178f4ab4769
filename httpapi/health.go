package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"
)

// healthHandlers serve what the operator's programs ask for.
type healthHandlers struct {
	check    func(context.Context) map[string]error // Config.Health
	metrics  http.Handler
	draining atomic.Bool
}

// livez answers 200 while the process serves.
func livez(c *call) error {
	return c.sendJSON(http.StatusOK, health{Status: "ok"})
}

type health struct {
	Status string            `json:"status"` // ok, degraded, unavailable, draining
	Checks map[string]string `json:"checks,omitempty"`
}

// readyz answers whether requests should be sent here, with a reason per dependency. Without Redis reads and writes go
// on, so that alone is "degraded"; without anything else the service is not ready.
func (h *healthHandlers) readyz(c *call) error {
	ctx, cancel := context.WithTimeout(c.ctx, 2*time.Second)
	defer cancel()
	out := health{Status: "ok", Checks: map[string]string{}}
	for name, err := range h.check(ctx) {
		out.Checks[name] = healthReason(err)
		switch {
		case err == nil:
		case name != "redis":
			out.Status = "unavailable"
		case out.Status == "ok":
			out.Status = "degraded"
		}
	}
	if h.draining.Load() {
		out.Status = "draining"
	}
	status := http.StatusOK
	if out.Status == "unavailable" || out.Status == "draining" {
		status = http.StatusServiceUnavailable
	}
	return c.sendJSON(status, out)
}

func healthReason(err error) string {
	var shown Reason
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &shown):
		return string(shown)
	default:
		return "unreachable"
	}
}

// metricsPage hands over to the metrics handler.
func (h *healthHandlers) metricsPage(c *call) error {
	c.status = http.StatusOK
	h.metrics.ServeHTTP(c.w, c.r)
	return nil
}
