package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// TestSilentRuns: a run that nothing is heard of is ended by any process.
func TestSilentRuns(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		storetest.RunSilent(t, storetest.Of(s, storetest.Added{}), func(id int64) {
			s.Silence(id)
			dbtest.MustExec(t, db, "UPDATE runs SET alive_at = NOW(6) - INTERVAL 21 SECOND WHERE id = ?", id)
		})
	})
}

// running begins a run of a store.
func running(t *testing.T, s *store.Store, ref leaderboard.PeriodRef) int64 {
	t.Helper()
	r, err := s.Runs.StartRun(t.Context(), leaderboard.Run{BoardID: ref.BoardID, PeriodID: ref.ID, Kind: leaderboard.RunKindFull, State: leaderboard.RunStateRunning})
	if err != nil {
		t.Fatal(err)
	}
	return r.ID
}

func stateOf(t *testing.T, s *store.Store, id int64) leaderboard.RunState {
	t.Helper()
	r, err := s.Runs.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r.State
}

// TestRunsOfAClosedStore: runs that a process has left under way are ended by another one when their lease is over, by the
// clock of the database, and its own are not.
func TestRunsOfAClosedStore(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		dying, err := store.Open(t.Context(), store.Config{DSN: dsn})
		if err != nil {
			t.Fatal(err)
		}
		left, own := running(t, dying, ref), running(t, s, ref)
		if err := dying.Close(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		dbtest.Poll(t, 200*time.Millisecond, "the run has an end", func() bool {
			if err := s.Runs.EndRuns(t.Context()); err != nil {
				t.Fatal(err)
			}
			return stateOf(t, s, left) == leaderboard.RunStateFailed
		})
		if took := time.Since(began); took < 10*time.Second {
			t.Errorf("it was ended after %s", took)
		}
		if state := stateOf(t, s, own); state != leaderboard.RunStateRunning {
			t.Errorf("the run of the one that lives is %s", state)
		}
	})
}

// TestLeapEndsNoRun: when the clock of the database leaps ahead, runs under way are given the time to be heard of by the new one.
func TestLeapEndsNoRun(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var ahead atomic.Int64
		s := open(t, dsn, dbtest.ClockBy(&ahead))
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		id := running(t, s, ref)
		for _, leap := range []time.Duration{0, time.Hour, 0} {
			ahead.Store(int64(leap))
			if err := s.Runs.EndRuns(t.Context()); err != nil {
				t.Fatal(err)
			}
			if state := stateOf(t, s, id); state != leaderboard.RunStateRunning {
				t.Errorf("%s ahead it is %s", leap, state)
			}
		}
	})
}
