package store_test

import (
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// forgotten is a member who is erased.
const forgotten = "gone-with-the-wind"

// TestErasureKeepsNoOtherWaiting: one that cannot be finished, because another session holds the lock of a board, is left to
// the next sweep, and those that were begun later have their turn.
func TestErasureKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, func(c *store.Config) { c.LockWait = time.Second }), dbtest.Connect(t, dsn)
		stuck, free := dbtest.MakeBoard(t, s, "stuck", leaderboard.Rules{}), dbtest.MakeBoard(t, s, "free", leaderboard.Rules{})
		for board, member := range map[string]string{"stuck": "early", "free": "late"} {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One(board, "", member, 5)); err != nil {
				t.Fatal(err)
			}
		}
		dbtest.MustExec(t, db, "INSERT INTO erasures (member, started_at) VALUES ('early', NOW(6) - INTERVAL 1 HOUR), ('late', NOW(6))")
		release := dbtest.Hold(t, dsn, "SELECT id FROM boards WHERE id = ? FOR UPDATE", stuck.BoardID)
		if err := s.Housekeeping.Sweep(t.Context()); err == nil {
			t.Error("one cannot be finished, and the sweep returns no error")
		}
		if n := dbtest.ScoreOf(t, s, free, "late"); n != -1 || dbtest.Count(t, db, "erasures WHERE member = 'late'") > 0 {
			t.Errorf("the later one had no turn: shown with %d", n)
		}
		release()
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.ScoreOf(t, s, stuck, "early"); n != -1 || dbtest.Count(t, db, "erasures") > 0 {
			t.Errorf("the next sweep did not finish it: shown with %d", n)
		}
	})
}
