package app

import (
	"context"
	"errors"
	"fmt"

	"leaderboard/cache/topn"
	"leaderboard/httpapi"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
	"leaderboard/refresher"
	"leaderboard/store"
)

// refreshing is the refresher, and the copies that it refreshes.
type refreshing struct {
	refresher *refresher.Refresher
	boards    *store.Boards
	copies    *topn.Copies // nil without Redis
}

func (r refreshing) Start(
	ctx context.Context, ref leaderboard.PeriodRef, kind leaderboard.RunKind, reason leaderboard.RunReason, actor string,
) (leaderboard.Run, func(context.Context) (leaderboard.Run, error), error) {
	return r.refresher.Start(ctx, refresher.Request{
		Ref: ref, Kind: kind, Reason: reason, Actor: actor, RequestID: leaderboard.CallerOf(ctx).RequestID, Span: trace.From(ctx),
	})
}

// Verify compares the Redis copy of a period with MySQL. Without Redis there is no copy that could be wrong.
func (r refreshing) Verify(ctx context.Context, ref leaderboard.PeriodRef) (leaderboard.Verification, error) {
	if r.copies == nil {
		period, err := r.boards.Period(ctx, ref.ID)
		return leaderboard.Verification{Equal: err == nil, Seq: period.LastSeq, Total: period.EntryCount, Detail: leaderboard.NoCopy}, err
	}
	v, err := r.copies.Verify(ctx, ref)
	if errors.Is(err, topn.ErrAway) {
		err = fmt.Errorf("%w: %w", errRedisAway, err)
	}
	return v, err
}

const errRedisAway = httpapi.Reason("Redis does not answer, so the copy cannot be compared.")
