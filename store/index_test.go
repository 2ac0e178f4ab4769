package store_test

import (
	"context"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/internal/index"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// everywhere gives every period that has an entry an index, with few entries per bucket, so that buckets are split and
// merged all the time.
func everywhere(cfg *store.Config) {
	cfg.IndexMinEntries, cfg.IndexTarget, cfg.IndexSaveEvery = 1, 4, 50
}

// patientEverywhere is both.
func patientEverywhere(cfg *store.Config) {
	dbtest.Patient(cfg)
	everywhere(cfg)
}

func TestIndexConformance(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := dbtest.Open(t, dsn, patientEverywhere)
		storetest.Run(t, storetest.Of(s, storetest.Added{}))
	})
}

func TestIndexProperty(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := dbtest.Open(t, dsn, patientEverywhere)
		storetest.Property(t, storetest.Subject{
			Database: storetest.Of(s, storetest.Added{}), Rankings: s.Entries,
			Disturb: map[string]func(context.Context, leaderboard.PeriodRef) error{
				"build": func(ctx context.Context, ref leaderboard.PeriodRef) error {
					_, err := s.Indexes.Build(ctx, ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand})
					return err
				},
				"sweep": func(ctx context.Context, ref leaderboard.PeriodRef) error { return s.Housekeeping.Sweep(ctx) },
			},
		})
	})
}
