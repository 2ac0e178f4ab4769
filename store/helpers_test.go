package store_test

import (
	"testing"

	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// open returns a migrated store on a database, without features.
func open(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	return dbtest.Open(t, dsn, change)
}
