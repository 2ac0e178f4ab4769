package store_test

import (
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/migrations"
	"leaderboard/store"
	"leaderboard/store/storetest"
)

// open is a migrated store on a fresh database.
func open(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	cfg := store.Config{DSN: dsn}
	if change != nil {
		change(&cfg)
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// flavours runs a test on MySQL and on MariaDB.
func flavours(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("mysql", func(t *testing.T) { t.Parallel(); test(t, testenv.MySQL(t)) })
	t.Run("mariadb", func(t *testing.T) { t.Parallel(); test(t, testenv.MariaDB(t)) })
}

func TestConformance(t *testing.T) {
	t.Parallel()
	flavours(t, func(t *testing.T, dsn string) { storetest.Run(t, open(t, dsn, nil)) })
}

func TestProperty(t *testing.T) {
	t.Parallel()
	flavours(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		storetest.Property(t, storetest.Subject{Truth: s, Rankings: s})
	})
}
