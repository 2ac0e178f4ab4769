package read_test

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/rank"
	"leaderboard/store"
	"leaderboard/store/internal/index"
	"leaderboard/store/internal/read"
)

// TestCombinedBehindTheIndexes: while an answer is put together in its transaction, others write so much that the indexes
// in memory are far from its state. Their hints are wrong then, the answer is not.
func TestCombinedBehindTheIndexes(t *testing.T) {
	t.Parallel()
	var indexes *index.Indexes
	dsn := testenv.MySQL(t)
	s, err := store.Open(t.Context(), store.Config{DSN: dsn, OnCommit: func(ref leaderboard.PeriodRef, c leaderboard.Commit) {
		indexes.Committed(ref, &c)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := migrations.Up(t.Context(), s.DB()); err != nil {
		t.Fatal(err)
	}
	d, err := mysql.Open(mysql.Config{
		DSN: dsn, MaxConns: 8, StatementTimeout: 5 * time.Second, LockWait: 5 * time.Second, ProbeWait: 30 * time.Second,
		Clock: func(database string) string { return database }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	cfg := index.Config{MinEntries: 1, Target: 4, SaveEvery: 200_000, Memory: 256 << 20, ChangeTTL: time.Hour, OnIndexes: func(int64) {}}
	indexes = index.New(cfg, d, s.Runs)
	defer indexes.Close()
	r := read.New(d, indexes, cfg.Target, nil)
	var refs []leaderboard.PeriodRef
	for _, name := range []string{"a", "b"} {
		b, _, err := s.Boards.PutBoard(t.Context(), name, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Boards.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, p.Ref(&b))
	}
	const members = 400
	write := func(ctx context.Context, score func(i int) int64) {
		t.Helper()
		for _, ref := range refs {
			entries := make([]leaderboard.Submission, members)
			for i := range entries {
				created := leaderboard.Micros(i + 1)
				entries[i] = leaderboard.Submission{Member: fmt.Sprintf("m%03d", i), Score: score(i), CreatedTime: &created}
			}
			if _, err := s.Writer.Submit(ctx, leaderboard.SubmitRequest{Board: ref.Board, Entries: entries}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t.Context(), func(i int) int64 { return int64(-i) })
	for _, ref := range refs { // which also makes the indexes
		if _, err := indexes.Build(t.Context(), ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand}); err != nil {
			t.Fatal(err)
		}
	}
	still := func(i int) int64 { return int64(-i) }
	for name, moved := range map[string]func(i int) int64{
		"up": func(i int) int64 { return int64(1000 - i) }, "down": func(i int) int64 { return int64(-5000 - i) },
		"turned": func(i int) int64 { return int64(i) - members }, "together": func(i int) int64 { return int64(-min(i, 126)) },
	} {
		whole, err := r.CombinedPage(t.Context(), refs, leaderboard.CombinedQuery{Mode: leaderboard.ModeStrict, Limit: 2 * members})
		if err != nil || len(whole.Entries) != 2*members {
			t.Fatalf("%d entries, %v", len(whole.Entries), err)
		}
		for _, at := range []int{1, 250, 790} {
			behind := whole.Entries[at-1]
			after := string(rank.CodecOf(refs[0].Rules).Key(behind.Entry))
			for what, q := range map[string]leaderboard.CombinedQuery{
				"offset": {Mode: leaderboard.ModeStrict, Limit: 40, Offset: int64(at)},
				"cursor": {Mode: leaderboard.ModeStrict, Limit: 40, After: after, AfterBoard: behind.Board},
			} {
				page, err := r.PageBetween(t.Context(), refs, q, func() { write(t.Context(), moved) })
				if err != nil {
					t.Fatal(err)
				}
				if want := whole.Entries[at:min(at+40, len(whole.Entries))]; !reflect.DeepEqual(page.Entries, want) {
					t.Errorf("%s, %s %d: %+v\nwant %+v", name, what, at, page.Entries, want)
				}
				write(t.Context(), still)
			}
		}
	}
}
