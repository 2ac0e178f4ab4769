package cache

import (
	"log/slog"
	"testing"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// begun is a span that counts the spans begun inside it.
type begun struct{ inside int }

func (b *begun) Begin(string, trace.Kind) trace.Recorder { b.inside++; return b }
func (b *begun) Set(...slog.Attr)                        {}
func (b *begun) Link(trace.Recorder)                     {}
func (b *begun) Fail(error)                              {}
func (b *begun) End()                                    {}
func (b *begun) Sampled() bool                           { return true }
func (b *begun) IDs() (traceID, spanID string)           { return "", "" }

// TestRedisIsTraced: a reader's question to Redis is a span.
func TestRedisIsTraced(t *testing.T) {
	t.Parallel()
	b := newRig(t, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 5 }), topn.Options{})
	b.world.Fill(5)
	b.build(t)
	r := NewReader(b.copies, &worldDatabase{World: b.world}, unhurried(ReaderOptions{}))
	span := &begun{}
	cachetest.Must(r.Page(trace.With(cachetest.Within(t), trace.Of(span)), b.ref, leaderboard.PageQuery{Limit: 3}))(t)
	if span.inside != 1 {
		t.Errorf("a reader's question to Redis is %d spans", span.inside)
	}
}
