package commit

import (
	"context"
	"errors"
	"log/slog"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// batchSpan begins the span of a batch, and returns what ends it. It belongs to the requests of several traces: see
// trace.Shared. In each of them the wait in the queue is over, and the wait for the batch begins.
func batchSpan(ctx context.Context, id queueID, requests []request) (_ context.Context, end func(error)) {
	var waiting []trace.Span
	for _, r := range requests {
		h := r.head()
		h.queued.End()
		if h.span.On() {
			waiting = append(waiting, h.span.Start("wait for batch", trace.KindInternal))
		}
	}
	if waiting == nil {
		return ctx, func(error) {}
	}
	span := trace.Shared("batch", trace.KindInternal, waiting)
	span.Set(slog.Int("leaderboard.batch.requests", len(requests)))
	if !id.several {
		span.Set(slog.String("leaderboard.board", id.board))
	}
	return trace.With(ctx, span), func(err error) {
		span.Done(err)
		for _, s := range waiting {
			s.Done(err)
		}
	}
}

// statement begins the span of one round trip to the database about a board, "" for several.
func statement(ctx context.Context, name, board string) (context.Context, trace.Span) {
	ctx, span := trace.Start(ctx, name, trace.KindClient)
	if span.On() {
		span.Set(slog.String("db.system.name", "mysql"))
		if board != "" {
			span.Set(slog.String("leaderboard.board", board))
		}
	}
	return ctx, span
}

// endStatement ends the span of a round trip. A board that does not exist is an answer.
func endStatement(span trace.Span, err error) {
	if errors.Is(err, leaderboard.ErrBoardNotFound) {
		err = nil
	}
	span.Done(err)
}
