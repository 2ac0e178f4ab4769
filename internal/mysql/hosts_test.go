package mysql

import (
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/testenv"
)

// TestDSNs: each host of a DSN is a DSN, with the default port where the port is missing, for any password.
func TestDSNs(t *testing.T) {
	for _, c := range []struct {
		dsn  string
		want []string
	}{
		{"u:p@tcp(h1:1)/db", []string{"h1:1"}},
		{"u:p@/db", []string{"127.0.0.1:3306"}},
		{"u:p@unix(/tmp/a.sock)/db", []string{"/tmp/a.sock"}},
		{"u:p@tcp(h1:1,h2:2)/db", []string{"h1:1", "h2:2"}},
		{"u:p@tcp(h1, h2,[::1]:2)/db?tls=skip-verify", []string{"h1:3306", "h2:3306", "[::1]:2"}},
		{"u:(,)@/p@tcp(h1,h2:2)/db", []string{"h1:3306", "h2:2"}},
	} {
		each, err := parseDSN(Config{DSN: c.dsn})
		if err != nil {
			t.Fatalf("%s: %v", c.dsn, err)
		}
		var got []string
		for _, mc := range each {
			got = append(got, mc.Addr)
			if mc.User != "u" || mc.DBName != "db" {
				t.Errorf("%s: user %q, database %q", c.dsn, mc.User, mc.DBName)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s names %q, want %q", c.dsn, got, c.want)
		}
	}
}

// TestTwoPrimaries: of two servers that take writes neither is used, not even the server that was used before; two
// addresses of one server are not two servers.
func TestTwoPrimaries(t *testing.T) {
	first, second := testenv.PrivateMySQL(t), testenv.PrivateMySQL(t)
	of := func(addresses ...string) *hosts {
		h, err := newHosts(Config{DSN: strings.Replace(first.DSN, first.Addr, strings.Join(addresses, ","), 1) + "mysql", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		h.hostWait, h.othersWait = time.Minute, time.Minute // on a busy machine the second answer may be late
		t.Cleanup(h.close)
		return h
	}
	twice := of(first.Addr, first.Addr)
	if _, err := twice.primary(t.Context()); err != nil {
		t.Errorf("one server by two addresses: %v", err)
	}
	both := of(second.Addr, first.Addr)
	both.current = 0
	if number, err := both.primary(t.Context()); number != 0 || err != nil {
		t.Errorf("the one that is known: %d, %v", number, err)
	}
	if err := both.probe(t.Context()); !errors.Is(err, ErrTwoPrimaries) {
		t.Errorf("a look finds two: %v", err)
	}
	for range 100 { // one search directly after the other
		if number, err := both.primary(t.Context()); !errors.Is(err, ErrTwoPrimaries) {
			t.Fatalf("with two: host %d, %v", number, err)
		}
	}
	db, err := sql.Open("mysql", second.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "SET GLOBAL read_only = ON"); err != nil {
		t.Fatal(err)
	}
	if number, err := both.primary(t.Context()); number != 1 || err != nil {
		t.Errorf("with one: host %d, %v", number, err)
	}
}
