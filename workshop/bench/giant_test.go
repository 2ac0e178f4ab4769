package main

import (
	"bytes"
	"database/sql"
	"strings"
	"testing"

	"leaderboard/internal/testenv"
)

// TestGiant runs the topic, without the service, on a small board, twice: the second run finds it filled. It uses a
// separate MySQL, because the topic changes its settings.
func TestGiant(t *testing.T) {
	const members = 20_000
	mysql := testenv.PrivateMySQL(t)
	db, err := sql.Open("mysql", mysql.DSN+"?interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	var log bytes.Buffer
	w := &world{options: options{dir: t.TempDir(), members: members, pace: 0.001}, mysql: mysql, db: db, log: &log}
	checkRoom(t, w)
	for range 2 {
		var rep report
		if err := w.giantStore(t.Context(), &rep); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"table and ordered index", "buffer pool", "filling", "build of the index", "memory of the index", "rank of a random member", "page of 100 at a random depth",
			"page of 100 at the end", "first rank", "single submits", "submits of 500",
		} {
			if !strings.Contains(rep.table(), want) {
				t.Errorf("no row about %q:\n%s", want, rep.table())
			}
		}
	}
	if n := strings.Count(log.String(), "20,000 members ready"); n != 1 {
		t.Errorf("the board was filled %d times", n)
	}
	b, err := openBoard(t.Context(), db, mysql.DSN, members, &log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.close() })
	if b.fillRate <= 0 {
		t.Errorf("filled at %v rows a second", b.fillRate)
	}
	compareRanks(t, b)
}

// checkRoom fills the board, and checks that submits find room in the pages of its ordered index, which hold 335 members
// each when full.
func checkRoom(t *testing.T, w *world) {
	t.Helper()
	b, err := openBoard(t.Context(), w.db, w.mysql.DSN, w.members, w.log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.close() }()
	var pages int
	err = b.db.QueryRowContext(t.Context(), "SELECT stat_value FROM mysql.innodb_index_stats"+
		" WHERE database_name = DATABASE() AND table_name = 'entries' AND index_name = ? AND stat_name = 'n_leaf_pages'", orderKey).Scan(&pages)
	if least := w.members * 100 / (335 * (fillFactor + 5)); err != nil || pages < least {
		t.Errorf("%d members are in %d pages of the ordered index, want %d at least, %v", w.members, pages, least, err)
	}
}

// TestRoomFor: a board that no disk has room for is refused before anything is made.
func TestRoomFor(t *testing.T) {
	db, err := sql.Open("mysql", testenv.MySQL(t)+"?interpolateParams=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	w := &world{options: options{dir: t.TempDir(), members: 1}, db: db}
	if err := w.roomFor(t.Context()); err != nil {
		t.Error(err)
	}
	w.members = 1 << 50
	if err := w.roomFor(t.Context()); err == nil || !strings.Contains(err.Error(), "are wanted") {
		t.Errorf("room for %d members: %v", w.members, err)
	}
}
