package app

import (
	"context"
	"log/slog"
	"time"

	"leaderboard/internal/telemetry"
	"leaderboard/internal/trace"
)

// tracesTimeout bounds the wait for the last spans to be sent.
const tracesTimeout = 2 * time.Second

// ReadTracing returns where spans go by OpenTelemetry's variables, nil for nowhere. env is as os.Getenv.
func ReadTracing(env func(string) string) (*telemetry.Config, error) { return telemetry.Read(env) }

// traces records spans; the zero value records none.
type traces struct{ tracer *telemetry.Tracer }

func newTraces(cfg *telemetry.Config, version string, log *slog.Logger) (t traces, err error) {
	if cfg != nil {
		t.tracer, err = telemetry.New(cfg, version, log)
	}
	return t, err
}

// requests returns the tracer of requests, nil without traces.
func (t traces) requests() trace.Tracer {
	if t.tracer == nil {
		return nil
	}
	return t.tracer
}

// root returns the parent of the spans of background work.
func (t traces) root() trace.Span {
	if t.tracer == nil {
		return trace.Span{}
	}
	return t.tracer.Root()
}

// stop sends the last spans.
func (t traces) stop(ctx context.Context, log *slog.Logger) {
	if t.tracer == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tracesTimeout)
	defer cancel()
	if err := t.tracer.Stop(ctx); err != nil {
		log.Warn("the last spans are not sent", "error", err)
	}
}
