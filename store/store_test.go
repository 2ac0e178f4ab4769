package store_test

import (
	"testing"

	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, dbtest.Patient)
		storetest.Run(t, storetest.Of(s, desk(s)))
	})
}

func TestProperty(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, dbtest.Patient)
		storetest.Property(t, storetest.Subject{Database: storetest.Of(s, desk(s)), Rankings: s.Entries})
	})
}
