package cache

import (
	"context"
	"time"

	"leaderboard/cache/watch"
)

// judge holds answers of one kind against the watch.
type judge[V any] struct {
	check   func(context.Context, V) watch.Verdict // may wait for the watch
	now     func(V) watch.Verdict
	isStale func(V) bool
	stale   func(V) V // the answer marked stale
}

const (
	// askFor is how long the database is asked again because something newer went out meanwhile, as does between batches
	// that overtake each other.
	askFor = 3 * time.Second
	// askAttempts is how often at least.
	askAttempts = 2
	// askPause lies between two of them.
	askPause = time.Millisecond
)

// askDatabase asks until an answer is fresh. One that never gets there, or that nobody can judge, is marked stale.
func askDatabase[V any](ctx context.Context, j judge[V], ask func(context.Context) (V, error)) (v V, err error) {
	began := time.Now()
	for try := 0; try < askAttempts || time.Since(began) < askFor; try++ {
		if v, err = ask(ctx); err != nil {
			return v, err
		}
		switch j.check(ctx, v) {
		case watch.VerdictFresh:
			return v, nil
		case watch.VerdictUnknown:
			return j.stale(v), nil
		}
		if !pause(ctx, askPause) {
			return v, ctx.Err()
		}
	}
	return j.stale(v), nil
}

// confirmAttempts bounds how often an answer is asked for again because a newer one went out before it.
const confirmAttempts = 3

// confirmed gets an answer, and judges it once more right before it goes out: a newer one may have gone out since it was
// found, by another call.
func confirmed[K comparable, V any](ctx context.Context, kept *answers[K, V], key K, minSeq int64, j judge[V], load load[V]) (v V, err error) {
	for range confirmAttempts {
		v, err = kept.get(ctx, key, minSeq, load)
		if err != nil || j.isStale(v) || j.now(v) != watch.VerdictOld {
			return v, err
		}
	}
	return j.stale(v), nil
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
