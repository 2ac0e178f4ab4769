package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestLeapDeletesNothing: a clock that leaps ahead and comes back costs neither idempotency keys nor the log nor runs; a
// process that started after the leap deletes the rows that are old by it.
func TestLeapDeletesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var ahead atomic.Int64
		clocked := dbtest.ClockBy(&ahead)
		s, db := open(t, dsn, clocked), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "key", "m", 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Runs.StartRun(t.Context(), leaderboard.Run{BoardID: ref.BoardID, PeriodID: ref.ID, Kind: leaderboard.RunKindFull, State: leaderboard.RunStateDone}); err != nil {
			t.Fatal(err)
		}
		kept := func() int {
			return dbtest.Count(t, db, "idempotency_keys") + dbtest.Count(t, db, "changes") + dbtest.Count(t, db, "runs")
		}
		for _, leap := range []time.Duration{0, 365 * 24 * time.Hour, 0, time.Hour, 0} {
			ahead.Store(int64(leap))
			if err := s.Housekeeping.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := kept(); n != 3 {
				t.Errorf("%s ahead: %d rows are left of 3", leap, n)
			}
		}
		ahead.Store(int64(365 * 24 * time.Hour))
		if err := open(t, dsn, clocked).Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := kept(); n != 0 {
			t.Errorf("%d rows are left that are a year old", n)
		}
	})
}

// TestLogFromTheFuture: commits whose times are ahead of a clock that has come back are pruned all the same, when ChangeTTL
// has passed since they were seen; later commits are kept.
func TestLogFromTheFuture(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var ahead atomic.Int64
		s, db := open(t, dsn, func(c *store.Config) {
			c.ChangeTTL = time.Millisecond
			dbtest.ClockBy(&ahead)(c)
		}), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		submits := func(leap time.Duration, n int) {
			ahead.Store(int64(leap))
			for range n {
				if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		submits(365*24*time.Hour, 5)
		submits(0, 5)
		dbtest.Eventually(t, "the log is pruned", func() bool {
			if err := s.Housekeeping.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			return dbtest.Count(t, db, "changes") == 0
		})
		submits(0, 1)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "changes"); n != 1 {
			t.Errorf("%d commits are left, want the last", n)
		}
	})
}
