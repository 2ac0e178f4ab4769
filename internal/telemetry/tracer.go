package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/go-sql-driver/mysql"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// Tracer records spans and sends them. It implements trace.Tracer.
type Tracer struct {
	cfg      *Config
	client   *client
	provider *sdk.TracerProvider
	tracer   otel.Tracer
}

// New returns a tracer that sends its spans in the background, until Stop. version is the program's version.
func New(cfg *Config, version string, log *slog.Logger) (*Tracer, error) {
	c := newClient(cfg)
	exporter, err := otlptrace.New(context.Background(), c)
	if err != nil {
		return nil, err
	}
	about := []attribute.KeyValue{attribute.String(serviceName, cfg.Service), attribute.String("service.version", version)}
	provider := sdk.NewTracerProvider(
		sdk.WithSampler(cfg.Sampler), sdk.WithResource(resource.NewSchemaless(append(about, cfg.Resource...)...)),
		sdk.WithBatcher(&reporting{SpanExporter: exporter, log: log}),
	)
	return &Tracer{cfg: cfg, client: c, provider: provider, tracer: provider.Tracer("leaderboard")}, nil
}

// Stop sends the recorded spans until ctx ends, and ends the tracer. Spans that are not sent by then are lost.
func (t *Tracer) Stop(ctx context.Context) error {
	defer context.AfterFunc(ctx, t.client.end)() // then the rest fails at once
	if err := t.provider.Shutdown(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("end the traces: %w", err)
	}
	return ctx.Err()
}

// Request implements trace.Tracer.
func (t *Tracer) Request(name string, h http.Header) trace.Recorder {
	ctx := context.Background()
	if t.cfg.TakeContext && h["Traceparent"] != nil {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(h))
	}
	return t.begin(ctx, name, trace.KindServer)
}

// Root returns the parent of spans that belong to no request.
func (t *Tracer) Root() trace.Span {
	ctx := context.Background()
	return trace.Of(&recorder{tracer: t, ctx: ctx, span: otel.SpanFromContext(ctx), sampled: true})
}

func (t *Tracer) begin(ctx context.Context, name string, kind trace.Kind) *recorder {
	kinds := [...]otel.SpanKind{trace.KindInternal: otel.SpanKindInternal, trace.KindServer: otel.SpanKindServer, trace.KindClient: otel.SpanKindClient}
	ctx, span := t.tracer.Start(ctx, name, otel.WithSpanKind(kinds[kind]))
	return &recorder{tracer: t, ctx: ctx, span: span, sampled: span.IsRecording()}
}

// recorder implements trace.Recorder.
type recorder struct {
	tracer  *Tracer
	ctx     context.Context // has the span
	span    otel.Span
	sampled bool
}

// Begin implements trace.Recorder.
func (r *recorder) Begin(name string, kind trace.Kind) trace.Recorder {
	return r.tracer.begin(r.ctx, name, kind)
}

// Set implements trace.Recorder.
func (r *recorder) Set(attrs ...slog.Attr) {
	if !r.sampled {
		return
	}
	out := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		out[i] = attributeOf(a)
	}
	r.span.SetAttributes(out...)
}

func attributeOf(a slog.Attr) attribute.KeyValue {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindInt64:
		return attribute.Int64(a.Key, v.Int64())
	case slog.KindBool:
		return attribute.Bool(a.Key, v.Bool())
	case slog.KindFloat64:
		return attribute.Float64(a.Key, v.Float64())
	default:
		return attribute.String(a.Key, v.String())
	}
}

// Link implements trace.Recorder.
func (r *recorder) Link(to trace.Recorder) {
	if other, ok := to.(*recorder); ok {
		r.span.AddLink(otel.Link{SpanContext: other.span.SpanContext()})
	}
}

// Fail implements trace.Recorder. It keeps the sort of an error only, since the text may name members.
func (r *recorder) Fail(err error) {
	r.span.SetStatus(codes.Error, "")
	if sort := sortOf(err); sort != "" {
		r.span.SetAttributes(attribute.String("error.type", sort))
	}
}

// End implements trace.Recorder.
func (r *recorder) End() { r.span.End() }

// Sampled implements trace.Recorder.
func (r *recorder) Sampled() bool { return r.sampled }

// IDs implements trace.Recorder.
func (r *recorder) IDs() (traceID, spanID string) {
	if c := r.span.SpanContext(); c.IsValid() {
		return c.TraceID().String(), c.SpanID().String()
	}
	return "", ""
}

// sortOf names the sort of an error: the number of an error of MySQL, or its meaning.
func sortOf(err error) string {
	var numbered *mysql.MySQLError
	if errors.As(err, &numbered) {
		return "mysql_" + strconv.Itoa(int(numbered.Number))
	}
	for _, known := range []struct {
		err  error
		name string
	}{
		{leaderboard.ErrOutcomeUnknown, "outcome_unknown"},
		{leaderboard.ErrOverloaded, "overloaded"},
		{context.Canceled, "canceled"},
		{context.DeadlineExceeded, "timeout"},
		{leaderboard.ErrUnavailable, "unavailable"},
	} {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return ""
}

// reporting logs the first of several failures and their end. The SDK would pass each to its global error handler. Only the
// goroutine that sends uses it.
type reporting struct {
	sdk.SpanExporter
	log     *slog.Logger
	failing bool
}

// ExportSpans implements sdk.SpanExporter.
func (r *reporting) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	err := r.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !r.failing:
		r.log.Warn("traces are lost: the collector does not take them", "error", err)
	case err == nil && r.failing:
		r.log.Info("the collector takes traces again")
	}
	r.failing = err != nil
	return nil
}
