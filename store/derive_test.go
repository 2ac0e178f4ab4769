package store_test

import (
	"testing"

	"leaderboard/store/storetest"
)

func TestDerived(t *testing.T) {
	t.Parallel()
	flavours(t, func(t *testing.T, dsn string) { storetest.RunDerived(t, clocked(t, dsn)) })
}

func TestPropertyDerived(t *testing.T) {
	t.Parallel()
	flavours(t, func(t *testing.T, dsn string) { storetest.PropertyDerived(t, clocked(t, dsn)) })
}
