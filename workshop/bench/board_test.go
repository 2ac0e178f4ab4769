package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// compareRanks compares ranks from the index with the ranks of a store that counts every better entry, since a benchmark of
// wrong answers would be worth nothing.
func compareRanks(t *testing.T, b *board) {
	t.Helper()
	scanning, err := store.Open(t.Context(), store.Config{DSN: b.dsn, IndexMinEntries: math.MaxInt64})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = scanning.Close() })
	page, err := scanning.Entries.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if page.Total != int64(b.members) || len(page.Entries) != 1000 {
		t.Fatalf("%d entries, %d on the page", page.Total, len(page.Entries))
	}
	for range 20 {
		q := leaderboard.MembersQuery{Members: []string{randomMember(b.members)}}
		want, err := scanning.Entries.Members(t.Context(), b.ref, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.store.Entries.Members(t.Context(), b.ref, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Entries) != 1 || fmt.Sprint(got.Entries) != fmt.Sprint(want.Entries) {
			t.Errorf("%s: %v by the index, %v by scanning", q.Members[0], got.Entries, want.Entries)
		}
	}
}

func TestMemberNames(t *testing.T) {
	for n, want := range map[int]string{0: "m000000000", 42: "m000000042", 99_999_999: "m099999999"} {
		if got := string(appendMember(nil, n)); got != want {
			t.Errorf("member %d is called %s", n, got)
		}
	}
	for range 100 {
		if m := randomMember(3); m != "m000000000" && m != "m000000001" && m != "m000000002" {
			t.Fatalf("one of three members is %s", m)
		}
	}
}

// TestRows: the text has every member once, and all times differ, so that the order is strict and the same for every
// reader.
func TestRows(t *testing.T) {
	const members = 100_000
	b := &board{ref: leaderboard.PeriodRef{ID: 7}}
	text, err := io.ReadAll(b.rows(0, members))
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]bool{}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range lines {
		fields := strings.Split(line, ",")
		if len(fields) != 5 || fields[0] != "7" || fields[1] != string(appendMember(nil, i)) || fields[3] != "0" || len(fields[4]) != len("2026-01-01 00:00:00.000000") {
			t.Fatalf("line %d is %q", i, line)
		}
		times[fields[4]] = true
	}
	if len(lines) != members || len(times) != members {
		t.Errorf("%d lines with %d times", len(lines), len(times))
	}
}

func TestKeyLine(t *testing.T) {
	const create = "CREATE TABLE `entries` (\n  `member` varbinary(64) NOT NULL,\n  PRIMARY KEY (`member`),\n  KEY `other` (`a`),\n  KEY `entries_order` (`score` DESC,`member`),\n  KEY `entries_orders` (`x`)\n) ENGINE=InnoDB"
	got, err := keyLine(create, orderKey)
	if err != nil || got != "KEY `entries_order` (`score` DESC,`member`)" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := keyLine(create, "nothing"); err == nil {
		t.Error("a key that is not there was found")
	}
}

// TestFillStops when one connection fails, with that error, and no other use gets a connection that was for filling.
func TestFillStops(t *testing.T) {
	b, err := newBoard(t.Context(), testenv.MySQL(t), 5000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.close() })
	b.db.SetMaxOpenConns(1)
	if err := b.exec(context.Background(), "DROP TABLE entries"); err != nil {
		t.Fatal(err)
	}
	if err := b.fill(t.Context(), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "entries") {
		t.Errorf("filling a table that is not there: %v", err)
	}
	if err := b.loadAll(t.Context()); err == nil {
		t.Error("rows were loaded into a table that is not there")
	}
	var checks, logged int
	if err := b.db.QueryRowContext(t.Context(), "SELECT @@SESSION.unique_checks, @@SESSION.sql_log_bin").Scan(&checks, &logged); err != nil || checks != 1 || logged != 1 {
		t.Errorf("the next connection has unique_checks %d and sql_log_bin %d, %v", checks, logged, err)
	}
}
