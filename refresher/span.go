package refresher

import (
	"context"
	"log/slog"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// beginSpan begins the span of a run: inside the span of the request that asked for it, so that both are kept or not;
// otherwise a separate span.
func beginSpan(ctx context.Context, asked, without trace.Span, kind leaderboard.RunKind) (context.Context, trace.Span) {
	if !asked.On() {
		asked = without
	}
	if !asked.On() {
		return ctx, trace.Span{}
	}
	return trace.Start(trace.With(ctx, asked), "run "+string(kind), trace.KindInternal)
}

// endSpan ends the span of a run.
func endSpan(span trace.Span, run *leaderboard.Run, err error) {
	if span.On() {
		span.Set(
			slog.String("leaderboard.board", run.Board), slog.Int64("leaderboard.period.id", run.PeriodID), slog.String("leaderboard.run.kind", string(run.Kind)),
			slog.String("leaderboard.run.reason", string(run.Reason)), slog.String("leaderboard.run.state", string(run.State)), slog.Int64("leaderboard.rows", run.Rows),
		)
	}
	span.Done(err)
}
