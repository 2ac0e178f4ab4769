package commit

import (
	"context"
	"errors"
	"log/slog"

	"leaderboard"
	"leaderboard/internal/trace"
)

// begunSpan begins the span of a batch. It belongs to the requests of several traces: see trace.Shared. Of each of them the
// wait in its queue is over, and the wait for the batch begins.
func (b *batch) begunSpan(ctx context.Context) (context.Context, trace.Span) {
	var waiting []trace.Span
	for _, r := range b.requests {
		h := r.head()
		h.queued.End()
		if h.span.On() {
			waiting = append(waiting, h.span.Start("wait for batch", trace.KindInternal))
		}
	}
	if waiting == nil {
		return ctx, trace.Span{}
	}
	span := trace.Shared("batch", trace.KindInternal, waiting)
	span.Set(slog.Int("leaderboard.batch.requests", len(b.requests)))
	if !b.queue.id.several {
		span.Set(slog.String("leaderboard.board", b.queue.id.board))
	}
	b.traced = waiting
	return trace.With(ctx, span), span
}

// endSpan ends the span of a batch, and the waits for it.
func (b *batch) endSpan(span trace.Span, err error) {
	span.Done(err)
	for _, s := range b.traced {
		s.Done(err)
	}
	b.traced = nil
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

// endStatement ends it. A board that is not there is an answer.
func endStatement(span trace.Span, err error) {
	if errors.Is(err, leaderboard.ErrBoardNotFound) {
		err = nil
	}
	span.Done(err)
}
