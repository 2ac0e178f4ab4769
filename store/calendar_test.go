package store_test

import (
	"sync/atomic"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// clocked returns a store whose database clock is stopped wherever it is set.
func clocked(t testing.TB, dsn string) storetest.Subject {
	var stopped atomic.Int64
	s := open(t, dsn, func(cfg *store.Config) {
		dbtest.Patient(cfg)
		cfg.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.Micros(stopped.Load()) })
	})
	return storetest.Subject{Database: storetest.Of(s, storetest.Added{}), Rankings: s.Entries, SetNow: func(now leaderboard.Micros) { stopped.Store(int64(now)) }}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) { storetest.RunWindows(t, clocked(t, dsn)) })
}

// TestPropertyOfWindows runs the histories of TestProperty on boards with calendar windows, while time passes in leaps.
func TestPropertyOfWindows(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) { storetest.Property(t, clocked(t, dsn)) })
}

// TestPropertyMultiBoard runs random multi-board requests of several kinds.
func TestPropertyMultiBoard(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) { storetest.PropertyMultiBoard(t, clocked(t, dsn)) })
}
