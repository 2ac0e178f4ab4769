package httpapi

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"leaderboard/api"
	"leaderboard/internal/wire"
)

// healthHandlers serve the programs of operators.
type healthHandlers struct {
	check    func(context.Context) Health // Config.Health
	metrics  http.Handler
	draining atomic.Bool
}

// livez answers 200 while the process serves.
func livez(c *Call) error {
	return c.SendJSON(http.StatusOK, api.Health{Status: "ok"})
}

// Reason is an error of a dependency whose text is fit to be shown: by /readyz, and as the detail of a problem.
type Reason = wire.Reason

// Health is the health of a process and of its dependencies.
type Health struct {
	Checks map[string]error // by dependency, nil for a dependency that works
	Ready  bool             // requests should be sent here, whatever the checks say
}

// Good says that everything works.
func (h *Health) Good() bool {
	for _, err := range h.Checks {
		if err != nil {
			return false
		}
	}
	return h.Ready
}

// readyz answers whether requests should be sent here, with a reason per dependency.
func (h *healthHandlers) readyz(c *Call) error {
	found := h.check(c.Ctx)
	out, status := api.Health{Status: "ok", Checks: map[string]string{}}, http.StatusOK
	for name, err := range found.Checks {
		out.Checks[name] = healthReason(err)
	}
	switch {
	case h.draining.Load():
		out.Status, status = "draining", http.StatusServiceUnavailable
	case !found.Ready:
		out.Status, status = "unavailable", http.StatusServiceUnavailable
	case !found.Good():
		out.Status = "degraded"
	}
	return c.SendJSON(status, out)
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
func (h *healthHandlers) metricsPage(c *Call) error {
	c.Status = http.StatusOK
	h.metrics.ServeHTTP(c.W, c.R)
	return nil
}
