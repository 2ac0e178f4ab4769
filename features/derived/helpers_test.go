package derived

import (
	"sync/atomic"
	"testing"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// server is a store with the feature.
type server struct {
	*store.Store
	Derived *Stepper
}

// newServer returns a migrated store on a database, with the feature.
func newServer(t testing.TB, dsn string, change func(*store.Config)) *server {
	t.Helper()
	s, e := featuretest.Store(t, dsn, []features.Feature{Feature()}, change)
	return &server{s, features.Offered[*Stepper](e)}
}

// clocked returns a store whose clock the subject sets.
func clocked(t testing.TB, dsn string) (*server, subject) {
	t.Helper()
	var stopped atomic.Int64
	s := newServer(t, dsn, func(cfg *store.Config) {
		dbtest.Patient(cfg)
		cfg.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.Micros(stopped.Load()) })
	})
	return s, subject{storetest.Of(s.Store, storetest.Added{}), s.Derived, func(now leaderboard.Micros) { stopped.Store(int64(now)) }}
}

// multiBoard returns a request that gives a member a score on several boards.
func multiBoard(key, member string, score int64, boards ...string) leaderboard.MultiBoardRequest {
	r := leaderboard.MultiBoardRequest{Key: key}
	for _, b := range boards {
		r.Entries = append(r.Entries, leaderboard.BoardSubmission{Board: b, Submission: leaderboard.Submission{Member: member, Score: score}})
	}
	return r
}
