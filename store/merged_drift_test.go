package store

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"leaderboard"
	"leaderboard/internal/testenv"
	"leaderboard/migrations"
	"leaderboard/rank"
)

// TestMergedBehindTheIndexes: while an answer is put together in its transaction, others write so much that the indexes in
// memory are far from its state. What they say of where to look is wrong then, the answer is not.
func TestMergedBehindTheIndexes(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	s, err := Open(t.Context(), Config{DSN: dsn, IndexMinEntries: 1, IndexTarget: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := migrations.Up(t.Context(), s.DB()); err != nil {
		t.Fatal(err)
	}
	var refs []leaderboard.PeriodRef
	for _, name := range []string{"a", "b"} {
		b, _, err := s.PutBoard(t.Context(), name, leaderboard.Rules{Policy: leaderboard.PolicyLatest})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, leaderboard.PeriodRef{ID: p.ID, BoardID: b.ID, Board: name, Window: p.Window, Name: p.Name(), Rules: &b.Rules})
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
			if _, err := s.Submit(ctx, SubmitRequest{Board: ref.Board, Entries: entries}); err != nil {
				t.Fatal(err)
			}
		}
	}
	write(t.Context(), func(i int) int64 { return int64(-i) })
	for _, ref := range refs { // which also makes the indexes
		if _, err := s.BuildIndex(t.Context(), ref, IndexBuild{Reason: leaderboard.RunReasonCommand}); err != nil {
			t.Fatal(err)
		}
	}
	still := func(i int) int64 { return int64(-i) }
	for name, moved := range map[string]func(i int) int64{
		"up": func(i int) int64 { return int64(1000 - i) }, "down": func(i int) int64 { return int64(-5000 - i) },
		"turned": func(i int) int64 { return int64(i) - members }, "together": func(i int) int64 { return int64(-min(i, 126)) },
	} {
		whole, err := s.MergedPage(t.Context(), refs, leaderboard.MergedQuery{Mode: leaderboard.ModeStrict, Limit: 2 * members})
		if err != nil || len(whole.Entries) != 2*members {
			t.Fatalf("%d entries, %v", len(whole.Entries), err)
		}
		for _, at := range []int{1, 250, 790} {
			behind := whole.Entries[at-1]
			after := string(rank.CodecOf(refs[0].Rules).Key(behind.Entry))
			for what, q := range map[string]leaderboard.MergedQuery{
				"offset": {Mode: leaderboard.ModeStrict, Limit: 40, Offset: int64(at)},
				"cursor": {Mode: leaderboard.ModeStrict, Limit: 40, After: after, AfterBoard: behind.Board},
			} {
				var page *leaderboard.MergedPage
				err := s.merge(t.Context(), refs, q.Mode, func(m *merged) (err error) {
					write(t.Context(), moved)
					page, err = m.page(t.Context(), q)
					return err
				})
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
