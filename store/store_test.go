package store_test

import (
	"testing"

	"leaderboard/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) { storetest.Run(t, storetest.Of(open(t, dsn, patient))) })
}

func TestProperty(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, patient)
		storetest.Property(t, storetest.Subject{Database: storetest.Of(s), Rankings: s.Entries})
	})
}
