package app

import (
	"context"
	"errors"

	"leaderboard"
	"leaderboard/cache"
	"leaderboard/cache/batch"
	"leaderboard/store"
)

// gate lets questions to MySQL begin that anybody may ask and no copy answers: so many at once, and none that would wait for
// longer than a read may (ErrOverloaded).
type gate func(ctx context.Context, work func(context.Context) error) error

func newGate(cfg *Config, refused func()) gate {
	places := batch.New(batch.Options{Slots: cfg.FallbackConcurrent, Wait: cfg.ReadWait, OnRefused: refused},
		func(int) int { return 1 }, func(context.Context, int, []int, []batch.Answer[int]) error { return nil })
	return places.Alone
}

// gated is the store behind a gate.
type gated struct {
	*store.Store
	gate    gate
	catalog *cache.Catalog
}

func (g gated) Periods(ctx context.Context, boardID int64, window leaderboard.Window, before int64, limit int) (list []leaderboard.Period, err error) {
	err = g.gate(ctx, func(ctx context.Context) error {
		list, err = g.Store.Periods(ctx, boardID, window, before, limit)
		return err
	})
	return list, err
}

func (g gated) Derivation(ctx context.Context, board string) (d leaderboard.Derivation, err error) {
	if _, err := g.catalog.Board(ctx, board); errors.Is(err, leaderboard.ErrBoardNotFound) {
		return d, err
	}
	err = g.gate(ctx, func(ctx context.Context) error { d, err = g.Store.Derivation(ctx, board); return err })
	return d, err
}
