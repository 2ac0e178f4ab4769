package store_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestAdded: the rows of a table that the store does not know go with their age, their member and their board, and come last in the data
// of the member.
func TestAdded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		db := dbtest.Connect(t, dsn)
		dbtest.MustExec(t, db, "CREATE TABLE visits (board_id BIGINT NOT NULL, member VARBINARY(64) NOT NULL, seen_at DATETIME(6) NOT NULL, KEY (seen_at), KEY (board_id), KEY (member))")
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "erased", 1)); err != nil {
			t.Fatal(err)
		}
		sweeper := s.Housekeeping.Sweeper()
		s.Housekeeping.Add(store.Job{Name: "sweep visits", Run: func(ctx context.Context, slice store.Slice) (bool, error) {
			const next = "SELECT seen_at FROM visits WHERE seen_at >= ? AND seen_at < ? ORDER BY seen_at LIMIT ?, 1"
			const remove = "DELETE FROM visits WHERE seen_at >= ? AND seen_at < ? ORDER BY seen_at LIMIT ?"
			return sweeper.Aged(ctx, slice, next, remove, sweeper.Before(time.Hour))
		}})
		s.Housekeeping.AddPurge("DELETE FROM visits WHERE board_id = ? LIMIT ?")
		var scores []int64 // of the member, when it is forgotten
		s.Erasures.Add("visits", func(ctx context.Context, member, _ []byte, steps store.Steps) error {
			scores = append(scores, dbtest.ScoreOf(t, s, ref, string(member)))
			return steps(ctx, "DELETE FROM visits WHERE member = ? LIMIT ?", member)
		})
		s.Erasures.AddAfter("nothing", func(_ context.Context, member, _ []byte, _ store.Steps) error {
			scores = append(scores, dbtest.ScoreOf(t, s, ref, string(member)))
			return nil
		})
		s.Members.AddData(store.DataOf("visits", func(_ context.Context, _ string, tell func(any) error) error { return tell("some") }))

		dbtest.MustExec(t, db, "INSERT INTO visits SELECT ?, 'old', UTC_TIMESTAMP() - INTERVAL 2 HOUR FROM "+hundred+" h JOIN "+hundred+" g LIMIT ?", ref.BoardID, store.SweepRows+1)
		dbtest.MustExec(t, db, "INSERT INTO visits VALUES (?, 'new', UTC_TIMESTAMP()), (?, 'erased', UTC_TIMESTAMP())", ref.BoardID, ref.BoardID)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if old, others := dbtest.Count(t, db, "visits WHERE member = 'old'"), dbtest.Count(t, db, "visits"); old != 0 || others != 2 {
			t.Errorf("%d old visits of %d are left, want none of 2", old, others)
		}
		var told []string
		err := s.Members.MemberData(t.Context(), "erased", func(r leaderboard.MemberRecord) error {
			told = append(told, r.List)
			return nil
		})
		if err != nil || !slices.Equal(told, []string{"entries", "visits"}) {
			t.Errorf("told %v, %v", told, err)
		}
		if _, err := s.Erasures.Forget(t.Context(), "erased", "test"); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "visits"); n != 1 || !slices.Equal(scores, []int64{1, -1}) {
			t.Errorf("%d visits are left, want 1; the scores were %v", n, scores)
		}
		if err := s.Boards.DeleteBoard(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "visits"); n != 0 {
			t.Errorf("%d visits of the board are left", n)
		}
	})
}
