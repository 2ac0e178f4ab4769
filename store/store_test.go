package store_test

import (
	"testing"

	"leaderboard/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) { storetest.Run(t, open(t, dsn, nil)) })
}

func TestProperty(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		storetest.Property(t, storetest.Subject{Database: s, Rankings: s})
	})
}
