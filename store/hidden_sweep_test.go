package store_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// threeBoards have entries of one member; between them are many without.
func threeBoards(t *testing.T, s *store.Store, db *sql.DB) (first, middle, last leaderboard.PeriodRef) {
	t.Helper()
	first = dbtest.MakeBoard(t, s, "first", leaderboard.Rules{})
	fillBoards(t, db, 50)
	middle = dbtest.MakeBoard(t, s, "middle", leaderboard.Rules{})
	last = dbtest.MakeBoard(t, s, "last", leaderboard.Rules{})
	for _, b := range []string{"first", "middle", "last"} {
		if _, err := s.Writer.Submit(t.Context(), dbtest.One(b, "", "m", 5)); err != nil {
			t.Fatal(err)
		}
	}
	return first, middle, last
}

// TestHideEverywhereGoesOn: a continued global hide does not begin with the boards that are done: one of them is locked,
// and the hide does not wait for it. Restoring the member begins with the first board.
func TestHideEverywhereGoesOn(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		first, middle, last := threeBoards(t, s, db)
		const lock = "SELECT id FROM boards WHERE id = ? FOR UPDATE"
		cutShort := func() {
			t.Helper()
			release := dbtest.Hold(t, dsn, lock, middle.BoardID)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			failed := make(chan error, 1)
			go func() {
				_, err := s.Hidden.Hide(ctx, ban("", "m"))
				failed <- err
			}()
			dbtest.Eventually(t, "Hide waits for the board in the middle", func() bool {
				return dbtest.ScoreOf(t, s, first, "m") == -1 && waiting(t, db, "SELECT id, has_hidden FROM boards") > 0
			})
			cancel()
			if err := dbtest.Await(t, "Hide", failed); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("cut short: %v", err)
			}
			release()
			if n := dbtest.Count(t, db, "hidden_members WHERE after_board > 0"); n != 1 {
				t.Error("nothing says which boards are done")
			}
		}
		cutShort()
		release := dbtest.Hold(t, dsn, lock, first.BoardID)
		if err := open(t, dsn, nil).Housekeeping.Sweep(t.Context()); err != nil { // such as that it waited in vain
			t.Error(err)
		}
		release()
		if n := shownOn(t, db, "%", "m", false); n != 0 {
			t.Errorf("shown in %d periods", n)
		}
		if err := s.Hidden.Restore(t.Context(), ban("", "m")); err != nil {
			t.Fatal(err)
		}

		cutShort()
		if err := s.Hidden.Restore(t.Context(), ban("", "m")); err != nil {
			t.Fatal(err)
		}
		for _, ref := range []leaderboard.PeriodRef{first, middle, last} {
			if n := dbtest.ScoreOf(t, s, ref, "m"); n != 5 {
				t.Errorf("%s: restored with %d", ref.Board, n)
			}
		}
	})
}

// TestHideEverywherePassesOver: a board whose lock another session does not release does not keep a member shown on the
// boards after it, and is not forgotten.
func TestHideEverywherePassesOver(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, func(c *store.Config) { c.LockWait = time.Second }), dbtest.Connect(t, dsn)
		first, middle, last := threeBoards(t, s, db)
		release := dbtest.Hold(t, dsn, "SELECT id FROM boards WHERE id = ? FOR UPDATE", middle.BoardID)
		shown := func(want [3]int64) {
			t.Helper()
			if got := [3]int64{dbtest.ScoreOf(t, s, first, "m"), dbtest.ScoreOf(t, s, middle, "m"), dbtest.ScoreOf(t, s, last, "m")}; got != want {
				t.Errorf("shown with %v, want %v", got, want)
			}
		}
		if _, err := s.Hidden.Hide(t.Context(), ban("", "m")); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			t.Errorf("one board is locked: %v", err)
		}
		shown([3]int64{-1, 5, -1})
		if err := s.Housekeeping.Sweep(t.Context()); err == nil {
			t.Error("one board is locked, and the sweep returns no error")
		}
		shown([3]int64{-1, 5, -1})
		release()
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		shown([3]int64{-1, -1, -1})
		if n := dbtest.Count(t, db, "hidden_members WHERE state = 'hidden'"); n != 1 {
			t.Errorf("%d hides are finished, want 1", n)
		}
	})
}

// TestHidingKeepsNothingWaiting: a hiding everywhere that does not get on takes no time from the rest of the
// housekeeping, nor from hiding members on one board.
func TestHidingKeepsNothingWaiting(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, func(c *store.Config) { c.LockWait, c.ReadTimeout = 20*time.Second, 40*time.Second }), dbtest.Connect(t, dsn)
		first, middle, last := threeBoards(t, s, db)
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("last", "key", "n", 5)); err != nil {
			t.Fatal(err)
		}
		dbtest.MustExec(t, db, "UPDATE idempotency_keys SET created_at = created_at - INTERVAL 1 YEAR")
		dbtest.MustExec(t, db, "INSERT INTO erasures (member, started_at) VALUES ('n', NOW(6))")
		dbtest.MustExec(t, db, "INSERT INTO hidden_members (board_id, member, state, reason, hidden_at) VALUES (0, 'm', 'hiding', 'bot', NOW(6)), (?, 'z', 'hiding', 'bot', NOW(6))",
			middle.BoardID)
		defer dbtest.Hold(t, dsn, "SELECT id FROM boards WHERE id = ? FOR UPDATE", first.BoardID)()
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		swept := make(chan error, 1)
		go func() { swept <- s.Housekeeping.Sweep(ctx) }()
		dbtest.Eventually(t, "the sweep waits for the first board", func() bool { return waiting(t, db, "SELECT id, has_hidden FROM boards") > 0 })
		for _, left := range []string{"idempotency_keys", "hidden_members WHERE board_id > 0 AND state = 'hiding'"} {
			if n := dbtest.Count(t, db, left); n > 0 {
				t.Errorf("%d rows are left of %s", n, left)
			}
		}
		if err := dbtest.Await(t, "the sweep", swept); err == nil {
			t.Error("the sweep does not tell that it did not finish")
		}
		if n := dbtest.ScoreOf(t, s, last, "n"); n != -1 || dbtest.Count(t, db, "erasures") > 0 {
			t.Error("no turn was forgotten")
		}
	})
}
