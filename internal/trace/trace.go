// Package trace lets packages record spans without knowing the recorder, which is package telemetry. A span travels with
// the context. Work that begins with a context without a span, or with a span that is not recorded, has no span: that costs
// a look into the context and allocates nothing.
package trace

import (
	"context"
	"log/slog"
	"net/http"
)

// Kind says on which side of a call a span is.
type Kind int

// The kinds of spans, as OpenTelemetry has them.
const (
	KindInternal Kind = iota
	KindServer        // a request is answered
	KindClient        // another program is asked
)

// Recorder is a span of the tracer. Methods may be called concurrently; after End they do nothing.
type Recorder interface {
	// Begin begins a span inside this one.
	Begin(name string, kind Kind) Recorder
	// Set adds attributes. They must not contain secrets or members.
	Set(attrs ...slog.Attr)
	// Link connects this span with another span that does not contain it.
	Link(to Recorder)
	// Fail marks the work of the span as failed.
	Fail(err error)
	End()
	// Sampled reports whether the span is kept. Inside a span that is not kept, no spans are begun.
	Sampled() bool
	// IDs returns the ids of the trace and of the span in hexadecimal, for logs; or "".
	IDs() (trace, span string)
}

// Tracer begins the spans of requests. Its methods may be called concurrently.
type Tracer interface {
	// Request begins the span of a request: inside the caller's span if its headers have a W3C trace context.
	Request(name string, h http.Header) Recorder
}

// Key is the key of a Recorder in a context, for contexts that carry a recorder without context.WithValue.
type Key struct{}

// Span is work under way. The zero Span is not recorded; all of its methods do nothing.
type Span struct{ r Recorder }

// Of returns the span of a recorder, which may be nil.
func Of(r Recorder) Span { return Span{r} }

// Recorder returns the recorder of the span, or nil.
func (s Span) Recorder() Recorder { return s.r }

// From returns the span that a context carries.
func From(ctx context.Context) Span {
	r, _ := ctx.Value(Key{}).(Recorder)
	return Span{r}
}

// With returns a context that carries a span; nil does not change ctx.
func With(ctx context.Context, s Span) context.Context {
	if s.r == nil {
		return ctx
	}
	return context.WithValue(ctx, Key{}, s.r)
}

// Start begins a span inside the span of ctx, and returns a context with the new span.
func Start(ctx context.Context, name string, kind Kind) (context.Context, Span) {
	s := From(ctx).Start(name, kind)
	return With(ctx, s), s
}

// Start begins a span inside this one.
func (s Span) Start(name string, kind Kind) Span {
	if !s.On() {
		return Span{}
	}
	return Span{s.r.Begin(name, kind)}
}

// On reports whether the span is recorded. If not, its attributes need not be made.
func (s Span) On() bool { return s.r != nil && s.r.Sampled() }

// Set adds attributes.
func (s Span) Set(attrs ...slog.Attr) {
	if s.r != nil {
		s.r.Set(attrs...)
	}
}

// Done ends the span of work that ended with err, which may be nil.
func (s Span) Done(err error) {
	if s.r == nil {
		return
	}
	if err != nil {
		s.r.Fail(err)
	}
	s.r.End()
}

// End ends the span.
func (s Span) End() {
	if s.r != nil {
		s.r.End()
	}
}

// IDs returns the ids of the trace and of the span in hexadecimal, or "".
func (s Span) IDs() (trace, span string) {
	if s.r == nil {
		return "", ""
	}
	return s.r.IDs()
}

// Shared begins a span of work that is done for several spans at once. It is inside the first of them that is recorded, so
// that it is kept if that span is, and is linked with all recorded ones, both ways.
func Shared(name string, kind Kind, of []Span) Span {
	var shared Span
	for _, s := range of {
		if !s.On() {
			continue
		}
		if shared.r == nil {
			shared = s.Start(name, kind)
		}
		shared.r.Link(s.r)
		s.r.Link(shared.r)
	}
	return shared
}
