package cache

import (
	"context"
	"errors"
	"time"

	"leaderboard"
	"leaderboard/cache/topn"
	"leaderboard/cache/watch"
)

// behindPause is how long a reader who wants the write just made gives the write-through to arrive, before it asks
// MySQL.
const behindPause = 5 * time.Millisecond

// judgeOf holds answers about a period against the watch. Without one all are fresh.
func judgeOf[V any](r *Reader, period int64, of shape[V]) judge[V] {
	j := judge[V]{
		check:   func(context.Context, V) watch.Verdict { return watch.VerdictFresh },
		now:     func(V) watch.Verdict { return watch.VerdictFresh },
		isStale: func(v V) bool { return of.state(v).Stale }, stale: of.stale,
	}
	if w := r.opts.Watch; w != nil {
		j.check = func(ctx context.Context, v V) watch.Verdict { return w.Check(ctx, period, of.state(v).Revision) }
		j.now = func(v V) watch.Verdict { return w.Judge(period, of.state(v).Revision) }
	}
	return j
}

// fetch asks Redis, unless fromCopy is nil, then MySQL. What comes is not older than the watch lets pass, or marked stale.
func fetch[V any](ctx context.Context, r *Reader, p leaderboard.PeriodRef, of shape[V],
	fromCopy func(context.Context) (V, bool, error), fromDatabase func(context.Context) (V, error),
) (V, error) {
	if fromCopy != nil && r.copies != nil && !r.copies.Left(p) && r.redis.Allow() {
		v, err := askCopy(ctx, r, p, fromCopy)
		if err == nil || isAnswer(err) {
			return v, err
		}
	}
	return askDatabase(ctx, judgeOf(r, p.ID, of), fromDatabase)
}

// askCopy asks Redis; when the copy is missing it asks for a build and, if that is quick, once more. One deadline holds
// for all of it.
func askCopy[V any](ctx context.Context, r *Reader, p leaderboard.PeriodRef, fromCopy func(context.Context) (V, bool, error)) (V, error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.RedisDeadline)
	defer cancel()
	v, short, err := fromCopy(ctx)
	r.redis.Done(!topn.Failed(err))
	if errors.Is(err, topn.ErrBehind) && pause(ctx, behindPause) {
		return again(ctx, fromCopy)
	}
	if r.opts.Demand == nil {
		return v, err
	}
	switch {
	case errors.Is(err, topn.ErrMissing), errors.Is(err, topn.ErrDamaged):
		if r.opts.Demand(p)(ctx) == nil {
			return again(ctx, fromCopy)
		}
	case short:
		r.opts.Demand(p) // exact as far as it goes, and due for renewal
	}
	return v, err
}

func again[V any](ctx context.Context, fromCopy func(context.Context) (V, bool, error)) (V, error) {
	v, _, err := fromCopy(ctx)
	return v, err
}
