package store_test

import (
	"context"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store/internal/index"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

func TestCombinedProperty(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := dbtest.Open(t, dsn, dbtest.Patient)
		storetest.PropertyCombined(t, storetest.Subject{Database: storetest.Of(s, storetest.Added{}), Rankings: s.Entries}, s.Entries, true)
	})
}

// TestCombinedIndexProperty does the same with an index of few entries per bucket for every period.
func TestCombinedIndexProperty(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := dbtest.Open(t, dsn, patientEverywhere)
		storetest.PropertyCombined(t, storetest.Subject{
			Database: storetest.Of(s, storetest.Added{}), Rankings: s.Entries,
			Disturb: map[string]func(context.Context, leaderboard.PeriodRef) error{
				"build": func(ctx context.Context, ref leaderboard.PeriodRef) error {
					_, err := s.Indexes.Build(ctx, ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand})
					return err
				},
				"sweep": func(ctx context.Context, ref leaderboard.PeriodRef) error { return s.Housekeeping.Sweep(ctx) },
			},
		}, s.Entries, true)
	})
}
