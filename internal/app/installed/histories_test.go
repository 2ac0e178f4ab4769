package installed_test

import (
	"context"
	"sync/atomic"
	"testing"

	"leaderboard/features/metadata"
	"leaderboard/features/people/peopletest"
	"leaderboard/features/plays"
	"leaderboard/features/review"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// featured returns a store with all features, as one Database.
func featured(t testing.TB, dsn string, change func(*store.Config)) (*store.Store, storetest.Subject) {
	t.Helper()
	whole := open(t, dsn, func(c *store.Config) {
		dbtest.Patient(c)
		if change != nil {
			change(c)
		}
	})
	s := whole.Store
	all := storetest.Of(s, storetest.Added{Desk: review.NewStore(s.Database(), s.Writer), Plays: plays.NewStore(s.Database())})
	bodies := metadata.NewStore(s.Database(), func(ctx context.Context, ask func(context.Context) error) error { return ask(ctx) })
	return s, storetest.Subject{Database: all, Featured: all, Rankings: s.Entries, Metadata: bodies.Metadata, Compare: peopletest.CompareFound(whole.people())}
}

// everywhere gives every period that has an entry an index, with few entries per bucket.
func everywhere(c *store.Config) { c.IndexMinEntries, c.IndexTarget, c.IndexSaveEvery = 1, 4, 50 }

func TestConformance(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		_, subject := featured(t, dsn, nil)
		storetest.RunFeatured(t, subject.Featured)
	})
}

// TestProperty runs histories with all features, and with rank indexes that change all the time.
func TestProperty(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, subject := featured(t, dsn, everywhere)
		subject.Disturb = map[string]func(context.Context, leaderboard.PeriodRef) error{
			"sweep": func(ctx context.Context, _ leaderboard.PeriodRef) error { return s.Housekeeping.Sweep(ctx) },
		}
		storetest.Property(t, subject)
	})
}

// TestPropertyOfWindows runs the histories of TestProperty on boards with calendar windows, while time advances in leaps.
func TestPropertyOfWindows(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var stopped atomic.Int64
		_, subject := featured(t, dsn, func(c *store.Config) {
			c.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.Micros(stopped.Load()) })
		})
		subject.SetNow = func(now leaderboard.Micros) { stopped.Store(int64(now)) }
		storetest.Property(t, subject)
	})
}
