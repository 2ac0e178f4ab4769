package devserver

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
)

// startFunc is one of the three Start functions.
type startFunc func(context.Context, Config) (*Server, error)

// testConfig is for a server of one test's own.
func testConfig(t *testing.T) Config {
	return Config{Dir: t.TempDir(), Log: t.Logf, Ephemeral: true, MySQLOnly: true}
}

func mustStart(t *testing.T, start startFunc, cfg Config) *Server {
	t.Helper()
	began := time.Now()
	s, err := start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s (%s) at %s after %s", s.Kind, s.Version, s.Addr, time.Since(began).Round(time.Millisecond))
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openSQL opens a pool for a database named app, made when missing.
func openSQL(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func mustExec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %s", query, err)
	}
}

func variable(t *testing.T, db *sql.DB, name string) string {
	t.Helper()
	var value string
	if err := db.QueryRowContext(t.Context(), "SELECT @@"+name).Scan(&value); err != nil {
		t.Fatalf("@@%s: %s", name, err)
	}
	return value
}

// TestDataStay: the data of a server that is not ephemeral survive Stop and a crash, and the commits it acknowledged
// are durable by MySQL's own defaults.
func TestDataStay(t *testing.T) {
	for kind, start := range map[Kind]startFunc{KindMySQL: StartMySQL, KindMariaDB: StartMariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			cfg := testConfig(t)
			cfg.Ephemeral = false
			s := mustStart(t, start, cfg)
			if s.Kind != kind {
				t.Fatalf("started %s, want %s", s.Kind, kind)
			}
			db := openSQL(t, s.DSN)
			if got := variable(t, db, "innodb_flush_log_at_trx_commit"); got != "1" {
				t.Errorf("innodb_flush_log_at_trx_commit = %s, want 1", got)
			}
			if got := variable(t, db, "sync_binlog"); kind == KindMySQL && got != "1" {
				t.Errorf("sync_binlog = %s, want 1", got)
			}
			mustExec(t, db, "CREATE DATABASE app")
			mustExec(t, db, "CREATE TABLE app.t (id INT PRIMARY KEY)")
			mustExec(t, db, "INSERT INTO app.t VALUES (1)")
			if err := s.Kill(); err != nil {
				t.Fatal(err)
			}
			s = mustStart(t, start, cfg)
			mustExec(t, openSQL(t, s.DSN), "INSERT INTO app.t VALUES (2)")
			if err := s.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			s = mustStart(t, start, cfg)
			if got := variable(t, openSQL(t, s.DSN), "version"); got == "" {
				t.Error("no version")
			}
			var n int
			if err := openSQL(t, s.DSN).QueryRow("SELECT COUNT(*) FROM app.t").Scan(&n); err != nil || n != 2 {
				t.Errorf("rows after crash and restart: %d, %v; want 2", n, err)
			}
		})
	}
}

// TestTemporaryTablesAreApart: a server's temporary tables are where no other server looks, because a starting server deletes all
// the temporary tables that it finds.
func TestTemporaryTablesAreApart(t *testing.T) {
	for kind, start := range map[Kind]startFunc{KindMySQL: StartMySQL, KindMariaDB: StartMariaDB} {
		t.Run(string(kind), func(t *testing.T) {
			first := mustStart(t, start, testConfig(t))
			dir := variable(t, openSQL(t, first.DSN), "tmpdir")
			if want := filepath.Join(filepath.Dir(first.LogFile), string(kind)+".tmp"); dir != want {
				t.Errorf("temporary tables are in %s, want %s", dir, want)
			}
			table := filepath.Join(dir, "#sql-temptable-1-2-3.MAI")
			if err := os.WriteFile(table, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			mustStart(t, start, testConfig(t))
			if _, err := os.Stat(table); err != nil {
				t.Errorf("another server's start took it away: %s", err)
			}
			if err := first.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("temporary folder after Stop: %v, want it gone", err)
			}
		})
	}
}

func TestEphemeralDataGoAtStop(t *testing.T) {
	cfg := testConfig(t)
	s := mustStart(t, StartRedis, cfg)
	if _, err := os.Stat(filepath.Join(cfg.Dir, "redis")); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "redis")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("data folder after Stop: %v, want it gone", err)
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Errorf("second Stop: %s", err)
	}
}

// TestUnknownLocale: servers start where the environment names a locale that is not installed.
func TestUnknownLocale(t *testing.T) {
	t.Setenv("LC_ALL", "xx_YY.UTF-8")
	mustStart(t, StartRedis, testConfig(t))
}

// TestFailedStartShowsTheLog: a start that fails shows what the server said.
func TestFailedStartShowsTheLog(t *testing.T) {
	cfg := testConfig(t)
	cfg.Databases = 1 << 62 // out of Redis's range
	_, err := StartRedis(t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "databases") {
		t.Errorf("error does not show the log: %v", err)
	}
}

func TestKillPauseResumeRestart(t *testing.T) {
	s := mustStart(t, StartRedis, testConfig(t))
	ctx := t.Context()
	if err := s.Pause(); err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if _, err := redisInfo(short, s.Addr, nil); err == nil {
		t.Error("a paused server answered")
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := redisInfo(ctx, s.Addr, nil); err != nil {
		t.Errorf("after Resume: %s", err)
	}
	if err := s.Restart(ctx); err == nil {
		t.Error("Restart of a running server succeeded")
	}
	addr, pid := s.Addr, s.PID
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Exited():
	default:
		t.Error("Exited is open after Kill")
	}
	if _, err := redisInfo(ctx, s.Addr, nil); err == nil {
		t.Error("a killed server answered")
	}
	if err := s.Pause(); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Pause after Kill: %v, want %v", err, os.ErrProcessDone)
	}
	if err := s.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if s.Addr != addr || s.PID == pid {
		t.Errorf("restarted at %s with pid %d; want %s and another pid than %d", s.Addr, s.PID, addr, pid)
	}
	if _, err := redisInfo(ctx, s.Addr, nil); err != nil {
		t.Errorf("after Restart: %s", err)
	}
}
