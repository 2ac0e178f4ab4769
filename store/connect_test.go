package store_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestDiscipline: every connection has the settings that the store depends on, with any DSN (promise H2).
func TestDiscipline(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		const contrary = "?time_zone=%27%2B05%3A00%27&sql_mode=%27%27&innodb_lock_wait_timeout=1000&multiStatements=true" +
			"&clientFoundRows=true&parseTime=false&loc=Europe%2FBerlin&columnsWithAlias=true&interpolateParams=false&rejectReadOnly=true&autocommit=0&wait_timeout=1000&net_write_timeout=1000"
		s := open(t, dsn+contrary, func(c *store.Config) { c.LockWait = 2900 * time.Millisecond })
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil {
			t.Fatal(err)
		}
		for name, pool := range map[string]*sql.DB{"reads": s.DB(), "looks": s.Looks(), "batches": s.Batches()} {
			variable := func(what string) (v string) {
				if err := pool.QueryRowContext(t.Context(), "SELECT "+what).Scan(&v); err != nil {
					t.Fatal(err)
				}
				return v
			}
			isolation, maria := "@@transaction_isolation", strings.Contains(variable("VERSION()"), "MariaDB")
			if maria {
				isolation = "@@tx_isolation"
			}
			checkSilence(t, name, maria, variable)
			lockWait := "2"
			if name == "batches" {
				lockWait = "1" // the pool of the waiters waits longer
			}
			for what, want := range map[string]string{
				"@@time_zone": "+00:00", isolation: "READ-COMMITTED", "@@innodb_lock_wait_timeout": lockWait, "@@autocommit": "1",
				"@@character_set_client": "utf8mb4", "CAST('2026-11-20 01:02:03.000004' AS DATETIME(6))": "2026-11-20T01:02:03.000004Z",
			} {
				if got := variable(what); got != want {
					t.Errorf("%s: %s is %s, want %s", name, what, got, want)
				}
			}
			mode := variable("@@sql_mode")
			for _, want := range []string{"STRICT_ALL_TABLES", "ONLY_FULL_GROUP_BY", "NO_ENGINE_SUBSTITUTION"} {
				if !strings.Contains(mode, want) {
					t.Errorf("%s: sql_mode is %s", name, mode)
				}
			}
			if n := pool.Stats().MaxOpenConnections; n < 1 {
				t.Errorf("%s: the pool has no bound", name)
			}
		}
		if _, err := s.DB().ExecContext(t.Context(), "SELECT 1; SELECT 2"); err == nil {
			t.Errorf("a connection for reads takes two statements at once")
		}
		n := 0
		for _, pool := range append(s.Singles(), s.Long(), s.DB(), s.Looks(), s.Batches(), s.Waiters(), s.Others()) {
			n += pool.Stats().MaxOpenConnections
		}
		if n != 32 {
			t.Errorf("%d connections in all, want the default of 32", n)
		}
		now, err := s.Now(t.Context()) // which need not be the time on this machine
		if err != nil {
			t.Fatal(err)
		}
		if p, err := s.Boards.Period(t.Context(), ref.ID); err != nil || now.Time().Sub(p.Committed.Time()).Abs() > time.Hour {
			t.Errorf("committed at %s, %v, at %s by the database's clock", p.Committed, err, now)
		}
	})
}

// checkSilence checks how long the server lets a session of a pool be silent.
func checkSilence(t *testing.T, pool string, maria bool, variable func(string) string) {
	t.Helper()
	limit := map[string]string{"reads": "1000", "looks": "1000", "batches": "5"}[pool]
	want := map[string]string{"@@wait_timeout": limit, "@@net_write_timeout": limit}
	if maria && pool == "batches" {
		want["@@idle_transaction_timeout"], want["@@idle_write_transaction_timeout"] = "5", "5"
	}
	for what, want := range want {
		if got := variable(what); got != want {
			t.Errorf("%s: %s is %s, want %s", pool, what, got, want)
		}
	}
}

// TestStatementLimit: the server itself stops a read that takes too long, and the caller may try again.
func TestStatementLimit(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, func(c *store.Config) { c.StatementTimeout = 50 * time.Millisecond })
		if err := s.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		const slow = "SELECT COUNT(*) FROM information_schema.columns a, information_schema.columns b, information_schema.columns c, information_schema.columns d"
		start := time.Now()
		err := s.ReadLimited(t.Context(), slow)
		if !errors.Is(err, leaderboard.ErrOverloaded) {
			t.Errorf("a slow read: %v after %s", err, time.Since(start))
		}
	})
}

// TestOpenLazily: a store opens while its server is away; only a DSN that cannot be read is an error, and no error
// shows the password.
func TestOpenLazily(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), store.Config{DSN: "u:secret@tcp(127.0.0.1:1)/db"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, leaderboard.ErrUnavailable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("ping: %v", err)
	}
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); !errors.Is(err, leaderboard.ErrUnavailable) || strings.Contains(err.Error(), "secret") {
		t.Errorf("submit: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, dsn := range []string{"", "u:secret@tcp(127.0.0.1:1)/", "u:secret@tcp(127.0.0.1:1", "u:secret@nonsense", "u:secret@tcp(h)/d?parseTime=secret"} {
		if _, err := store.Open(t.Context(), store.Config{DSN: dsn}); err == nil || strings.Contains(err.Error(), "u:secret") {
			t.Errorf("DSN %q: %v", dsn, err)
		}
	}
}

// TestCallerGivesUpReading: the error is the caller's own.
func TestCallerGivesUpReading(t *testing.T) {
	t.Parallel()
	s := open(t, testenv.MySQL(t), nil)
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Entries.Page(ctx, ref, leaderboard.PageQuery{Limit: 1})
	if !errors.Is(err, context.Canceled) || errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("page: %v", err)
	}
}
