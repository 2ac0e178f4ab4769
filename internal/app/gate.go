package app

import (
	"cmp"
	"context"

	"golang.org/x/sync/semaphore"

	"leaderboard/cache"
	"leaderboard/leaderboard"
)

// gate bounds how many questions go to MySQL at once that any caller may ask and no copy answers. A question that has waited for
// cache.ReadWait is refused (ErrOverloaded).
type gate func(ctx context.Context, work func(context.Context) error) error

func newGate(cfg *Config, refused func()) gate {
	permits, wait := semaphore.NewWeighted(int64(cmp.Or(cfg.FallbackConcurrent, cache.FallbackConcurrent))), cmp.Or(cfg.ReadWait, cache.ReadWait)
	return func(ctx context.Context, work func(context.Context) error) error {
		late := &leaderboard.OverloadError{Wait: wait, Detail: "too many questions wait for the database"}
		limited, cancel := context.WithTimeoutCause(ctx, wait, late)
		defer cancel()
		if permits.Acquire(limited, 1) != nil {
			if ctx.Err() == nil {
				refused()
			}
			return context.Cause(limited)
		}
		defer permits.Release(1)
		return work(ctx)
	}
}

// through asks a question once the gate lets it pass.
func through[V any](ctx context.Context, g gate, ask func(context.Context) (V, error)) (answer V, err error) {
	err = g(ctx, func(ctx context.Context) error {
		answer, err = ask(ctx)
		return err
	})
	return answer, err
}
