package testenv

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"leaderboard/internal/devserver"
)

// ClockVariable is the environment variable that sets the clock of every MySQL and MariaDB that is started: the seconds that it
// is ahead of this machine's, negative if it is behind. It needs libfaketime. The clocks of Redis and of the tests' own process
// stay: the times in the product come from the database.
const ClockVariable = "LEADERBOARD_TEST_CLOCK"

// clockEnv returns the variables for a database whose clock ClockVariable sets; nil when it is not set.
func clockEnv() ([]string, error) {
	ahead := os.Getenv(ClockVariable)
	if ahead == "" {
		return nil, nil
	}
	seconds, err := strconv.ParseInt(ahead, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is %q, want a number of seconds", ClockVariable, ahead)
	}
	library, err := faketime()
	if err != nil {
		return nil, fmt.Errorf("%s is set: %w", ClockVariable, err)
	}
	return []string{
		"LD_PRELOAD=" + library, fmt.Sprintf("FAKETIME=%+d", seconds),
		// Waits by the monotonic clock end when they should: with the fix for older C libraries MySQL's never wait, and it
		// takes a minute to start.
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_FORCE_MONOTONIC_FIX=0",
	}, nil
}

// LeapingMySQL starts a MySQL of the test's own, with an empty database, whose clock is as far ahead of this machine's as
// leap says. It needs libfaketime; ok reports whether it is installed.
func LeapingMySQL(t testing.TB) (dsn string, leap func(ahead time.Duration), ok bool) {
	t.Helper()
	library, err := faketime()
	if err != nil {
		t.Log("the clock of no real server leaps:", err)
		return "", nil, false
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "clock")
	leap = func(ahead time.Duration) {
		err := os.WriteFile(file+".new", fmt.Appendf(nil, "%+d", int64(ahead.Seconds())), 0o600)
		if err = errors.Join(err, os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
	}
	leap(0)
	server, err := devserver.StartMySQL(t.Context(), devserver.Config{Dir: dir, Log: t.Logf, Program: os.Getenv(MySQLProgramVariable), Env: []string{
		"LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1",
		"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_FORCE_MONOTONIC_FIX=0",
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	db, err := sql.Open("mysql", server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE leaping"); err != nil {
		t.Fatal(err)
	}
	return server.DSN + "leaping", leap, true
}

// faketime finds the library where Linux distributions put it.
func faketime() (string, error) {
	for _, pattern := range []string{"/usr/lib/*/faketime/", "/usr/lib*/faketime/", "/usr/local/lib/faketime/"} {
		found, err := filepath.Glob(pattern + "libfaketime.so.1")
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return "", fmt.Errorf("no libfaketime.so.1 on this machine; Debian, Ubuntu: apt-get install libfaketime")
}
