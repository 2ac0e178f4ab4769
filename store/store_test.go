package store_test

import (
	"testing"

	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		storetest.Run(t, storetest.Of(dbtest.Open(t, dsn, dbtest.Patient), storetest.Added{}))
	})
}

// TestProperty runs histories without features; internal/app/installed runs them with features.
func TestProperty(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := dbtest.Open(t, dsn, dbtest.Patient)
		storetest.Property(t, storetest.Subject{Database: storetest.Of(s, storetest.Added{}), Rankings: s.Entries})
	})
}
