package store_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// TestHidingIsFinished: when a process was killed while it hid or restored a member, the next sweep of
// any other finishes.
func TestHidingIsFinished(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		other := dbtest.MakeBoard(t, s, "other", leaderboard.Rules{})
		for _, b := range []string{"b", "other"} {
			if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: b, Entries: []leaderboard.Submission{{Member: "m", Score: 5}, {Member: "n", Score: 4}}}); err != nil {
				t.Fatal(err)
			}
		}
		const hide = "INSERT INTO hidden_members (board_id, member, state, reason, hidden_at) VALUES (?, 'm', 'hiding', 'bot', NOW(6))"
		const restore = "UPDATE hidden_members SET state = 'restoring', version = version + 1"
		for _, c := range []struct {
			what   string
			left   func()
			boards [2]int64 // score of m on b and on other after the sweep
			rows   int
		}{
			{"killed after the row", func() { dbtest.MustExec(t, db, hide, 0) }, [2]int64{-1, -1}, 1},
			{"killed before the row was marked", func() { dbtest.MustExec(t, db, "UPDATE hidden_members SET state = 'hiding'") }, [2]int64{-1, -1}, 1},
			{"restore, killed after the row", func() { dbtest.MustExec(t, db, restore) }, [2]int64{5, 5}, 0},
			{"one board", func() {
				dbtest.MustExec(t, db, "UPDATE boards SET has_hidden = 1 WHERE id = ?", ref.BoardID) // they change together
				dbtest.MustExec(t, db, hide, ref.BoardID)
			}, [2]int64{-1, 5}, 1},
			{"one board, restore", func() { dbtest.MustExec(t, db, restore) }, [2]int64{5, 5}, 0},
		} {
			c.left()
			if err := open(t, dsn, nil).Housekeeping.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := [2]int64{dbtest.ScoreOf(t, s, ref, "m"), dbtest.ScoreOf(t, s, other, "m")}; got != c.boards {
				t.Errorf("%s: shown with %v, want %v", c.what, got, c.boards)
			}
			if n := dbtest.Count(t, db, "hidden_members"); n != c.rows {
				t.Errorf("%s: %d rows, want %d", c.what, n, c.rows)
			}
			if n := dbtest.Count(t, db, "hidden_members WHERE state <> 'hidden'"); n != 0 {
				t.Errorf("%s: %d are unfinished", c.what, n)
			}
		}
		storetest.CheckLog(t, storetest.Of(s, storetest.Added{}), ref)
		storetest.CheckLog(t, storetest.Of(s, storetest.Added{}), other)
	})
}

// TestHidingIsCutShort: the caller goes while the entries are being moved. Submissions are hidden from then on, and a
// sweep, or the same request again, does the rest.
func TestHidingIsCutShort(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 5)); err != nil {
			t.Fatal(err)
		}
		for _, again := range []func() error{
			func() error { return s.Housekeeping.Sweep(t.Context()) },
			func() error { _, err := s.Hidden.Hide(t.Context(), ban("", "m")); return err },
		} {
			release := dbtest.Hold(t, dsn, "SELECT id FROM boards WHERE id = ? FOR UPDATE", ref.BoardID)
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := s.Hidden.Hide(ctx, ban("", "m"))
				failed <- err
			}()
			dbtest.Eventually(t, "the hiding is committed", func() bool { return dbtest.Count(t, db, "hidden_members") == 1 })
			cancel()
			if err := dbtest.Await(t, "Hide", failed); !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("cut short: %v", err)
			}
			release()
			if n := dbtest.Count(t, db, "hidden_members WHERE state = 'hiding'"); n != 1 {
				t.Errorf("%d hides are unfinished, want 1", n)
			}
			if err := again(); err != nil {
				t.Fatal(err)
			}
			if n := dbtest.ScoreOf(t, s, ref, "m"); n != -1 {
				t.Errorf("shown with %d", n)
			}
			if err := s.Hidden.Restore(t.Context(), ban("", "m")); err != nil {
				t.Fatal(err)
			}
			if n := dbtest.ScoreOf(t, s, ref, "m"); n != 5 {
				t.Errorf("restored with %d", n)
			}
		}
	})
}

// TestHiddenRowsGo: with a board go the records of its hidden members and their entries, with a period that is not kept
// go its hidden entries. The view for people shows what everybody sees.
func TestHiddenRowsGo(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		subject, db := clocked(t, dsn), dbtest.Connect(t, dsn)
		s := subject.Database
		subject.SetNow(1_700_000_000_000_000)
		for _, name := range []string{"gone", "kept"} {
			rules := leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowHour}, Keep: map[leaderboard.Window]int{leaderboard.WindowHour: 0}}
			if _, _, err := s.PutBoard(t.Context(), name, rules); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Hide(t.Context(), ban(name, "m")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Submit(t.Context(), leaderboard.SubmitRequest{Board: name, Entries: []leaderboard.Submission{{Member: "m", Score: 5}, {Member: "n", Score: 4}}}); err != nil {
				t.Fatal(err)
			}
		}
		if n, shown := dbtest.Count(t, db, "entries"), dbtest.Count(t, db, "scores"); n != 4 || shown != 2 {
			t.Errorf("%d entries, of which %d are shown", n, shown)
		}
		if err := s.DeleteBoard(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
		for table, want := range map[string]int{"entries": 2, "hidden_members": 1} {
			if n := dbtest.Count(t, db, table); n != want {
				t.Errorf("with a board deleted %d rows of %s are left, want %d", n, table, want)
			}
		}
		subject.SetNow(1_700_000_000_000_000 + leaderboard.Micros(2*time.Hour/time.Microsecond))
		for range 2 {
			if err := s.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := dbtest.Count(t, db, "entries"); n != 0 {
			t.Errorf("%d entries of a period are left that is not kept", n)
		}
	})
}

// TestHiddenEntryOfNobodyHidden: a submission during the erasure of its hidden member has left an entry that no row hides
// any longer. A removal deletes it; no answer ever shows it.
func TestHiddenEntryOfNobodyHidden(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Hidden.Hide(t.Context(), ban("b", "m")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 5)); err != nil {
			t.Fatal(err)
		}
		dbtest.MustExec(t, db, "DELETE FROM hidden_members")
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 3)); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.ScoreOf(t, s, ref, "m"); n != 3 {
			t.Errorf("shown with %d, want 3", n)
		}
		if _, err := s.Writer.Remove(t.Context(), leaderboard.RemoveRequest{Board: "b", Member: "m"}); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "entries"); n != 0 {
			t.Errorf("%d entries are left", n)
		}
		storetest.CheckLog(t, storetest.Of(s, storetest.Added{}), ref)
	})
}

// TestHideEverywhereOnManyBoards: of many boards few have the member, and the writers of all ask from then on.
func TestHideEverywhereOnManyBoards(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s, "first", leaderboard.Rules{})
		fillBoards(t, db, 90)
		last := dbtest.MakeBoard(t, s, "last", leaderboard.Rules{})
		for _, b := range []string{"first", "x64", "last"} {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One(b, "", "m", 5)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Hidden.Hide(t.Context(), ban("", "m")); err != nil {
			t.Fatal(err)
		}
		if n := shownOn(t, db, "%", "m", false); n != 0 {
			t.Errorf("shown in %d periods", n)
		}
		if n := dbtest.Count(t, db, "boards WHERE has_hidden = 0"); n != 0 {
			t.Errorf("the writers of %d boards do not ask", n)
		}
		if err := s.Hidden.Restore(t.Context(), ban("", "m")); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.ScoreOf(t, s, last, "m"); n != 5 {
			t.Errorf("restored with %d", n)
		}
	})
}

func fillBoards(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	dbtest.MustExec(t, db, "INSERT INTO boards (name, rules, created_at, updated_at) SELECT CONCAT('x', a.n), b.rules, NOW(6), NOW(6) FROM boards b, "+
		hundred+" a WHERE b.name = 'first' AND a.n < ?", n)
}
