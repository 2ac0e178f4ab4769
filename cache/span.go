package cache

import (
	"context"
	"errors"
	"log/slog"

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/internal/trace"
)

// tellKept makes the span of an answer that is kept, and took no time.
func tellKept(ctx context.Context, p *leaderboard.PeriodRef) {
	if of := trace.From(ctx); of.On() {
		endRead(of.Start("read memory", trace.KindInternal), p, true, nil)
	}
}

// endRead ends the span of a layer. That a copy does not have what is asked for is no failure of Redis.
func endRead(span trace.Span, p *leaderboard.PeriodRef, answered bool, err error) {
	if !span.On() {
		return
	}
	span.Set(slog.String("leaderboard.board", p.Board), slog.String("leaderboard.window", string(p.Window)), slog.Bool("leaderboard.answered", answered))
	if answered || !topn.Failed(err) && !errors.Is(err, leaderboard.ErrUnavailable) {
		err = nil
	}
	span.Done(err)
}
