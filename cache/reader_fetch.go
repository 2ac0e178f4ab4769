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

const (
	// fetchFor is how long MySQL is asked again because something newer went out meanwhile, as does between batches that
	// overtake each other.
	fetchFor = time.Second
	// fetchAttempts is how often at least.
	fetchAttempts = 2
)

// fetch asks Redis, unless fromCopy is nil, then MySQL. What comes is not older than the watch lets pass, or marked stale.
func fetch[V any](ctx context.Context, r *Reader, p leaderboard.PeriodRef, of shape[V],
	fromCopy func(context.Context) (V, bool, error), fromDatabase func(context.Context) (V, error),
) (v V, err error) {
	if fromCopy != nil && r.copies != nil && !r.copies.Left(p) && r.redis.Allow() {
		v, err = askCopy(ctx, r, p, fromCopy)
		if err == nil || isAnswer(err) {
			return v, err
		}
	}
	began := time.Now()
	for try := 0; try < fetchAttempts || time.Since(began) < fetchFor; try++ {
		v, err = fromDatabase(ctx)
		if err != nil || r.opts.Watch == nil {
			return v, err
		}
		switch r.opts.Watch.Check(ctx, p.ID, of.state(v).Revision) {
		case watch.VerdictFresh:
			return v, nil
		case watch.VerdictUnknown:
			return of.stale(v), nil
		}
	}
	return of.stale(v), nil
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

// pause waits for d; false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
