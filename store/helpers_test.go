package store_test

import (
	"testing"

	"leaderboard/features/featuretest"
	"leaderboard/internal/app/installed"
	"leaderboard/store"
)

// open returns a migrated store on a database, with all features.
func open(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	s, _ := featuretest.Store(t, dsn, installed.Features(installed.Settings{}), change)
	return s
}
