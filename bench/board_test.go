package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"leaderboard"
	"leaderboard/internal/testenv"
)

// TestFill holds a filled board against what a store says that scans it and one that has the index: a benchmark of
// wrong answers would be worth nothing.
func TestFill(t *testing.T) {
	const members = 4_321
	b, err := newBoard(t.Context(), testenv.MySQL(t), members)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.close(); err != nil {
			t.Error(err)
		}
	})
	var log bytes.Buffer
	if err := b.fill(t.Context(), &log); err != nil {
		t.Fatal(err)
	}
	if b.fillRate <= 0 || !strings.Contains(log.String(), "100 %") || !strings.Contains(log.String(), "4,321 members ready") {
		t.Errorf("%v rows/s, progress: %s", b.fillRate, log.String())
	}
	rate := b.fillRate
	if err := b.lastFill(t.Context()); err != nil || b.fillRate != rate {
		t.Errorf("the rate %v is remembered as %v, %v", rate, b.fillRate, err)
	}
	if _, err := b.buildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	compareRanks(t, b, members)
	measureSmall(t, b)
}

func compareRanks(t *testing.T, b *board, members int) {
	t.Helper()
	scanning, err := b.openScanning()
	if err != nil {
		t.Fatal(err)
	}
	page, err := scanning.Page(t.Context(), b.ref, leaderboard.PageQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if page.Total != int64(members) || page.Seq != int64(members) || len(page.Entries) != 1000 {
		t.Fatalf("%d entries at seq %d, %d on the page", page.Total, page.Seq, len(page.Entries))
	}
	for range 20 {
		q := leaderboard.MembersQuery{Members: []string{randomMember(members)}}
		want, err := scanning.Members(t.Context(), b.ref, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := b.store.Members(t.Context(), b.ref, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Entries) != 1 || fmt.Sprint(got.Entries) != fmt.Sprint(want.Entries) {
			t.Errorf("%s: %v by the index, %v by scanning", q.Members[0], got.Entries, want.Entries)
		}
	}
}

// measureSmall runs the measurements of the index once, as short as they get.
func measureSmall(t *testing.T, b *board) {
	t.Helper()
	w := &world{options: options{members: b.members, pace: 0.001}}
	var rep report
	var log bytes.Buffer
	for _, part := range indexParts(w) {
		if err := part(t.Context(), []*board{b}, &rep, &log); err != nil {
			t.Fatal(err)
		}
	}
	if len(rep.points) != 1 || rep.points[0].Index <= 0 || rep.points[0].Read <= 0 || rep.points[0].Count <= 0 {
		t.Errorf("points of the plot: %+v", rep.points)
	}
	var table strings.Builder
	writeRows(&table, rep.rows)
	for _, want := range []string{"filling", "build of the index", "rank of a random member", "page of 100", "by COUNT", "memory of the index", "first rank", "an index kept", "folding", "reads them from the log"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no row about %q:\n%s", want, table.String())
		}
	}
	if strings.Contains(table.String(), "folding 0 changes") {
		t.Errorf("nothing was folded:\n%s", table.String())
	}
}

func TestMemberNames(t *testing.T) {
	for n, want := range map[int]string{0: "m0000000", 42: "m0000042", 9_999_999: "m9999999"} {
		if got := string(appendMember(nil, n)); got != want {
			t.Errorf("member %d is called %s", n, got)
		}
	}
	for range 100 {
		if m := randomMember(3); m != "m0000000" && m != "m0000001" && m != "m0000002" {
			t.Fatalf("one of three members is %s", m)
		}
	}
}

// TestCreatedTimes: no two alike, so that the order is strict and the same for every reader.
func TestCreatedTimes(t *testing.T) {
	seen := map[int64]bool{}
	for n := range 100_000 {
		seen[createdTime(n).UnixMicro()] = true
	}
	if len(seen) != 100_000 {
		t.Errorf("%d different times of 100,000 members", len(seen))
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

// TestFillStops when one connection fails, with that error.
func TestFillStops(t *testing.T) {
	b, err := newBoard(t.Context(), testenv.MySQL(t), 5000)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.close() })
	if err := b.exec(context.Background(), "DROP TABLE entries"); err != nil {
		t.Fatal(err)
	}
	if err := b.insertAll(t.Context(), newProgress(&bytes.Buffer{}, "filling", 5000)); err == nil || !strings.Contains(err.Error(), "entries") {
		t.Errorf("filling a table that is not there: %v", err)
	}
}
