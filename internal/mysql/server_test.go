package mysql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestReadSettings: the servers' answers about themselves are understood.
func TestReadSettings(t *testing.T) {
	for _, tt := range []struct {
		settings string
		readOnly bool
		server   string
	}{
		{"0,0,a", false, "a"},
		{"OFF,OFF,1 b 3306 /x,y/", false, "1 b 3306 /x,y/"},
		{"1,0,a", true, "a"},
		{"ON,0,a", true, "a"},
		{"0,1,a", true, "a"},
		{"0,0,ON", false, "ON"},
		{"0", false, ""},
	} {
		if readOnly, server := readSettings(tt.settings); readOnly != tt.readOnly || server != tt.server {
			t.Errorf("%q: read-only %t, server %q", tt.settings, readOnly, server)
		}
	}
}

// TestReadOnlyIsLoggedOnce: a read-only server is logged once, whether a new connection finds it first or an old one. The end of
// that state is logged once too.
func TestReadOnlyIsLoggedOnce(t *testing.T) {
	for first, find := range map[string]func(*server) [2]error{
		"a new connection":   func(s *server) [2]error { return [2]error{s.admit("1,0,a"), s.refuse("1,0,a")} },
		"one that was there": func(s *server) [2]error { return [2]error{s.refuse("1,0,a"), s.admit("1,0,a")} },
	} {
		var log bytes.Buffer
		s := newServer(slog.New(slog.NewTextHandler(&log, nil)), nil, 0)
		if err := s.admit("0,0,a"); err != nil {
			t.Fatal(err)
		}
		for _, err := range find(s) {
			if !errors.Is(err, ErrReadOnly) {
				t.Errorf("found by %s: %v", first, err)
			}
		}
		for range 2 {
			if err := s.admit("0,0,a"); err != nil {
				t.Error(err)
			}
		}
		said := log.String()
		if strings.Count(said, "is read-only and not used") != 1 || strings.Count(said, "takes writes again") != 1 {
			t.Errorf("found by %s, the log has %s", first, said)
		}
	}
}

// TestMeet: the first server is used, another server once a number of connections in a row lead to it, and whenever a
// connection leads elsewhere all connections are closed.
func TestMeet(t *testing.T) {
	e := newServer(slog.New(slog.DiscardHandler), nil, 0)
	meet := func(server string, times int) (used int) {
		for range times {
			if err := e.meet(server); err == nil {
				used++
			} else if !errors.Is(err, ErrOtherServer) || !errors.Is(err, leaderboard.ErrUnavailable) {
				t.Fatalf("the error is %v", err)
			}
		}
		return used
	}
	if used := meet("a", 5); used != 5 || e.era.Load() != 0 {
		t.Errorf("the first server was used %d times of 5, and connections given up %d times", used, e.era.Load())
	}
	for i := range 50 {
		if used := meet("b", 1) + meet("a", 1); used != 0 || e.era.Load() != int64(2*i+2) {
			t.Fatalf("of two servers in turn one was used %d times, and connections given up %d times", used, e.era.Load())
		}
	}
	if used := meet("b", certain-1) + meet("a", certain-1); used != 0 || !e.moves() {
		t.Errorf("a server was used %d times before it was certain", used)
	}
	if used := meet("a", 1); used != 1 || e.moves() {
		t.Error("a server that is certain is not used")
	}
}

func open(t *testing.T, dsn string) *DB {
	t.Helper()
	d, err := Open(Config{
		DSN: dsn, MaxConns: minConns, StatementTimeout: 5 * time.Second, LockWait: 5 * time.Second, ReadTimeout: time.Minute,
		WriteTimeout: time.Minute, Clock: func(database string) string { return database }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestGivenUp: a transaction that is under way when another server is met is not committed, and its connection is not used again.
func TestGivenUp(t *testing.T) {
	for name, dsn := range map[string]string{"mysql": testenv.MySQL(t), "mariadb": testenv.MariaDB(t)} {
		t.Run(name, func(t *testing.T) {
			d := open(t, dsn)
			if _, err := d.Pool.ExecContext(t.Context(), "CREATE TABLE written (id INT PRIMARY KEY)"); err != nil {
				t.Fatal(err)
			}
			err := d.InTx(t.Context(), func(tx *sqlx.Tx) error {
				return insertAndMeet(t.Context(), d, tx, 1)
			})
			if err == nil || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("a transaction without a board: %v, want an error that says that nothing was done", err)
			}
			finishMove(t, d)
			tx, err := d.Begin(t.Context(), false)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Conn.ExecContext(t.Context(), tx.Opening()+"SELECT 1"); err != nil {
				t.Fatal(err)
			}
			if err := insertAndMeet(t.Context(), d, tx.Conn, 2); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(t.Context()); !ConnectionLost(err) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("a transaction that locks boards: %v, want a lost connection", err)
			}
			if err := tx.End(); err != nil {
				t.Error(err)
			}
			if err := d.Pool.PingContext(t.Context()); !errors.Is(err, ErrOtherServer) {
				t.Errorf("a new connection: %v, want ErrOtherServer", err)
			}
			finishMove(t, d)
			var n int
			if err := d.Pool.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM written").Scan(&n); err != nil || n != 0 {
				t.Errorf("%d rows were written, %v", n, err)
			}
		})
	}
}

func insertAndMeet(ctx context.Context, d *DB, tx interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, id int,
) error {
	if _, err := tx.ExecContext(ctx, "INSERT INTO written VALUES (?)", id); err != nil {
		return err
	}
	if err := d.Refuse("0,0,another"); !errors.Is(err, ErrOtherServer) {
		return errors.New("another server is not refused")
	}
	return nil
}

// finishMove waits until the server is used again: the address is dialled until that is certain.
func finishMove(t *testing.T, d *DB) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for d.server.moves() {
		if time.Now().After(deadline) {
			t.Fatal("the server is not used again")
		}
		<-time.After(5 * time.Millisecond)
	}
}

// TestLook: an address that leads elsewhere is noticed though connections to where it led before are used all the time.
func TestLook(t *testing.T) {
	d := open(t, testenv.MySQL(t))
	if err := d.Pool.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.server.mu.Lock()
	d.server.name = "the one before"
	d.server.mu.Unlock()
	deadline := time.Now().Add(time.Minute)
	for d.server.era.Load() == 0 {
		if time.Now().After(deadline) {
			t.Fatal("the address is not looked at")
		}
		if _, err := d.Pool.ExecContext(t.Context(), "SELECT 1"); err != nil && d.server.era.Load() == 0 {
			t.Fatal(err)
		}
	}
}
