package app

import (
	"context"

	"leaderboard/cache/batch"
)

// gate lets questions to MySQL begin that anybody may ask and no copy answers: so many at once, and none that would wait for
// longer than a read may (ErrOverloaded).
type gate func(ctx context.Context, work func(context.Context) error) error

func newGate(cfg *Config, refused func()) gate {
	places := batch.New(batch.Options{Slots: cfg.FallbackConcurrent, Wait: cfg.ReadWait, OnRefused: refused},
		func(int) int { return 1 }, func(context.Context, int, []int, []batch.Answer[int]) error { return nil })
	return places.Alone
}
