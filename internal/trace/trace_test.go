package trace

import (
	"context"
	"log/slog"
	"testing"
)

// fake is a Recorder that remembers the calls.
type fake struct {
	name  string
	in    *fake
	links []Recorder
	kept  bool
}

func (f *fake) Begin(name string, _ Kind) Recorder { return &fake{name: name, in: f, kept: f.kept} }
func (f *fake) Set(...slog.Attr)                   {}
func (f *fake) Link(to Recorder)                   { f.links = append(f.links, to) }
func (f *fake) Fail(error)                         {}
func (f *fake) End()                               {}
func (f *fake) Sampled() bool                      { return f.kept }
func (f *fake) IDs() (string, string)              { return "t", f.name }

// TestNoSpanAllocatesNothing: without a listener, or below a span that is not kept, a span costs no allocation.
func TestNoSpanAllocatesNothing(t *testing.T) {
	for _, ctx := range []context.Context{t.Context(), With(t.Context(), Span{}), With(t.Context(), Of(&fake{}))} {
		if n := testing.AllocsPerRun(100, func() {
			inner, span := Start(ctx, "x", KindInternal)
			if span.On() || inner != ctx {
				t.Error("there is a span")
			}
			span.Done(nil)
		}); n != 0 {
			t.Errorf("no span allocates %v times", n)
		}
	}
}

// TestStartIsInside: a span is inside the span of its context.
func TestStartIsInside(t *testing.T) {
	outer := &fake{name: "outer", kept: true}
	ctx, span := Start(With(t.Context(), Of(outer)), "inner", KindClient)
	got, _ := span.Recorder().(*fake)
	if got == nil || got.in != outer || From(ctx) != span {
		t.Errorf("a span is %+v", got)
	}
	if _, id := From(ctx).IDs(); id != "inner" {
		t.Errorf("its context has the ids of %q", id)
	}
}

// TestSharedIsLinkedBothWays: the span of shared work is inside the first span that is kept, and linked with all kept
// spans.
func TestSharedIsLinkedBothWays(t *testing.T) {
	lost, a, b := &fake{name: "lost"}, &fake{name: "a", kept: true}, &fake{name: "b", kept: true}
	shared, _ := Shared("both", KindInternal, []Span{{}, Of(lost), Of(a), Of(b)}).Recorder().(*fake)
	if shared == nil || shared.in != a || len(shared.links) != 2 || len(lost.links) != 0 {
		t.Fatalf("shared is %+v", shared)
	}
	for _, f := range []*fake{a, b} {
		if len(f.links) != 1 || f.links[0] != Recorder(shared) {
			t.Errorf("%s is linked with %v", f.name, f.links)
		}
	}
	if Shared("none", KindInternal, []Span{Of(lost)}).On() {
		t.Error("work for those that are not kept is kept")
	}
}
