package store_test

import (
	"testing"

	"leaderboard/features/review"
	"leaderboard/internal/app/installed"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// open returns a migrated store on a database, with all features.
func open(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	return dbtest.Open(t, dsn, func(c *store.Config) {
		c.Parts = installed.Parts()
		if change != nil {
			change(c)
		}
	})
}

// desk is where held submissions of a store are decided.
func desk(s *store.Store) review.Desk { return review.Desk{Finder: s.Held, Writer: s.Writer} }
