package main

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"leaderboard"
	"leaderboard/internal/testenv"
)

// TestGiant runs the whole section on a board that is none, twice: the second time finds it filled. The server is one of
// its own, because the section changes settings of the server.
func TestGiant(t *testing.T) {
	const members = 20_000
	mysql := testenv.PrivateMySQL(t)
	w := &world{options: options{dir: t.TempDir(), giants: members, pace: 0.001}, mysql: mysql}
	var log bytes.Buffer
	checkRoom(t, w, &log)
	for range 2 {
		var rep report
		if err := w.measureGiant(t.Context(), &rep, &log); err != nil {
			t.Fatal(err)
		}
		var table strings.Builder
		writeRows(&table, rep.rows)
		for _, want := range []string{
			"table and ordered index", "buffer pool", "filling, 20,000", "build of the index, 20,000", "memory of the index", "rank of a random member", "page of 100 at a random depth",
			"page of 100 at the end", "first rank", "single-entry submits", "submits of 500",
		} {
			if !strings.Contains(table.String(), want) {
				t.Errorf("no row about %q:\n%s", want, table.String())
			}
		}
	}
	if n := strings.Count(log.String(), "20,000 members ready"); n != 1 {
		t.Errorf("the board was filled %d times", n)
	}
	b, err := openWith(t.Context(), mysql.DSN, giantDatabase, members, func(*board) error { t.Error("filled again"); return nil })
	if err != nil {
		t.Fatal(err)
	}
	b.giant = true
	t.Cleanup(func() { _ = b.close() })
	compareGiant(t, b)
	var redo, logged string
	if err := b.db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_enabled'").Scan(&redo, &logged); err != nil || logged != "ON" {
		t.Errorf("the redo log is %s after the filling, %v", logged, err)
	}
}

// checkRoom fills the board, and checks that submits find room in the pages of its ordered index, of which each holds
// 335 members when it is full.
func checkRoom(t *testing.T, w *world, log io.Writer) {
	t.Helper()
	var g giants
	if err := w.openGiants(t.Context(), &g, log); err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, b := range g.all() {
			_ = b.close()
		}
	}()
	var pages, factor int
	err := g.large.db.QueryRowContext(t.Context(), "SELECT stat_value, @@innodb_fill_factor FROM mysql.innodb_index_stats"+
		" WHERE database_name = DATABASE() AND table_name = 'entries' AND index_name = ? AND stat_name = 'n_leaf_pages'", orderKey).Scan(&pages, &factor)
	if least := w.giants * 100 / (335 * (giantFull + 5)); err != nil || pages < least {
		t.Errorf("%d members are in %d pages of the ordered index, want %d at least, %v", w.giants, pages, least, err)
	}
	if factor != 100 {
		t.Errorf("the next index is made %d %% full, want 100 as before", factor)
	}
}

// compareGiant holds ranks by the index against those of a store that scans.
func compareGiant(t *testing.T, b *board) {
	t.Helper()
	scanning, err := b.openScanning()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		q := leaderboard.MembersQuery{Members: []string{b.randomMember()}}
		want, err := scanning.Members(t.Context(), b.ref, q)
		if err != nil || len(want.Entries) != 1 {
			t.Fatalf("%+v, %v", want, err)
		}
		got, err := b.store.Members(t.Context(), b.ref, q)
		if err != nil || len(got.Entries) != 1 || got.Entries[0] != want.Entries[0] {
			t.Errorf("%s: %v by the index, %v by scanning, %v", q.Members[0], got.Entries, want.Entries, err)
		}
	}
}

// TestGiantRows: the text has every member once, whatever the reader's buffer is, and times of which no two are alike.
func TestGiantRows(t *testing.T) {
	const members = 3000
	rows := &giantRows{period: "7", end: members, bar: newProgress(io.Discard, "", members)}
	text, err := io.ReadAll(rows) // its buffer has room for anything from a byte on
	if err != nil {
		t.Fatal(err)
	}
	times := map[string]bool{}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	for i, line := range lines {
		fields := strings.Split(line, ",")
		if len(fields) != 5 || fields[0] != "7" || fields[1] != string(appendGiant(nil, i)) || fields[3] != "0" || len(fields[4]) != len("2026-01-01 00:00:00.000000") {
			t.Fatalf("line %d is %q", i, line)
		}
		times[fields[4]] = true
	}
	if len(lines) != members || len(times) != members {
		t.Errorf("%d lines with %d times", len(lines), len(times))
	}
	if got := string(appendGiant(nil, 99_999_999)); got != "m099999999" {
		t.Errorf("the last member is %s", got)
	}
}

// TestBulkConn: nobody else gets a connection that was for filling.
func TestBulkConn(t *testing.T) {
	b, err := newBoard(t.Context(), testenv.MySQL(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.close() })
	b.db.SetMaxOpenConns(1)
	conn, err := b.bulkConn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	endConn(conn)
	var checks, logged int
	if err := b.db.QueryRowContext(t.Context(), "SELECT @@SESSION.unique_checks, @@SESSION.sql_log_bin").Scan(&checks, &logged); err != nil || checks != 1 || logged != 1 {
		t.Errorf("the next connection has unique_checks %d and sql_log_bin %d, %v", checks, logged, err)
	}
}

func TestRoomFor(t *testing.T) {
	if err := roomFor(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
	if err := roomFor(t.TempDir(), math.MaxInt64); err == nil || !strings.Contains(err.Error(), "left") {
		t.Errorf("a full disk: %v", err)
	}
}

func TestGiantIsAskedFor(t *testing.T) {
	o := options{members: defaultMembers, boards: manyBoards, giants: giantMembers, pace: 1, housekeeping: 1, pairs: 1}
	if err := o.check(""); err != nil || o.wants(giantSection) || !o.wants("reads") {
		t.Errorf("%v, wants %v", err, o.only)
	}
	o.giant = true
	if err := o.check(""); err != nil || !o.wants(giantSection) || o.wants("reads") {
		t.Errorf("%v, wants %v", err, o.only)
	}
	o.pairs = defaultPairs
	if got := o.command(giantSection); got != "make bench ARGS='-giant'" {
		t.Error(got)
	}
}
