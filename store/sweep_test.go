package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

const hundred = "(SELECT a.n * 10 + b.n AS n FROM (SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5" +
	" UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) a, (SELECT 0 n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3" +
	" UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9) b)"

// TestSweepForgets: old rows go, in steps; young rows stay.
func TestSweepForgets(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, func(c *store.Config) { c.KeyTTL, c.ChangeTTL = 2*time.Hour, time.Hour }), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		for i := range 6 {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", fmt.Sprint("key", i), "m", 1)); err != nil {
				t.Fatal(err)
			}
		}
		// 2,500 old keys and runs: more than one step takes.
		dbtest.MustExec(t, db, "INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt)"+
			" SELECT ?, CONCAT('old', a.n, '-', b.n), REPEAT('x', 32), NOW(6) - INTERVAL 121 MINUTE, '{}' FROM "+hundred+" a, "+hundred+" b WHERE b.n < 25", ref.BoardID)
		dbtest.MustExec(t, db, "INSERT INTO runs (board_id, period_id, kind, reason, state, started_at)"+
			" SELECT ?, ?, 'full', 'admin', 'done', NOW(6) - INTERVAL 31 DAY FROM "+hundred+" a, "+hundred+" b WHERE b.n < 25", ref.BoardID, ref.ID)
		dbtest.MustExec(t, db, "INSERT INTO audit (logged_at, actor, action, board, member, request_id)"+
			" SELECT NOW(6) - INTERVAL 401 DAY, 'k', 'member.hide', 'b', '', '' FROM "+hundred+" a, "+hundred+" b WHERE b.n < 25")
		run, err := s.Runs.StartRun(t.Context(), leaderboard.Run{BoardID: ref.BoardID, PeriodID: ref.ID, Kind: leaderboard.RunKindFull, State: leaderboard.RunStateRunning})
		if err != nil {
			t.Fatal(err)
		}
		dbtest.MustExec(t, db, "UPDATE changes SET committed_at = committed_at - INTERVAL 61 MINUTE WHERE last_seq <= 4")
		dbtest.MustExec(t, db, "UPDATE idempotency_keys SET created_at = created_at - INTERVAL 119 MINUTE WHERE idempotency_key = 'key0'")
		logged := func(changes int64, least time.Duration) {
			t.Helper()
			if err := s.Housekeeping.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n, overdue, known := s.Housekeeping.ChangeLog(); !known || n != changes || overdue < least || overdue > least+time.Hour {
				t.Errorf("the log had %d changes, the oldest overdue by %s, want %d, by %s", n, overdue, changes, least)
			}
		}
		if _, _, known := s.Housekeeping.ChangeLog(); known {
			t.Error("the log is known before anybody looked")
		}
		logged(6, time.Minute)
		logged(2, 0)
		if n := dbtest.Count(t, db, "idempotency_keys"); n != 6 {
			t.Errorf("%d keys are left, want the 6 young ones", n)
		}
		if left := dbtest.Audited(t, db); len(left) != 1 || left[0].Action != leaderboard.AuditActionBoardCreate {
			t.Errorf("records of changes left: %+v", left)
		}
		if runs, err := s.Runs.Runs(t.Context(), 0, 0, 10); err != nil || len(runs) != 1 || runs[0].ID != run.ID {
			t.Errorf("runs left: %+v, %v", runs, err)
		}
		if _, err := s.Entries.Changes(t.Context(), ref.ID, 0, 10); !errors.Is(err, leaderboard.ErrLogPruned) {
			t.Errorf("log from the beginning: %v", err)
		}
		if _, err := s.Entries.Changes(t.Context(), ref.ID, 3, 10); !errors.Is(err, leaderboard.ErrLogPruned) {
			t.Errorf("log from what is gone: %v", err)
		}
		if commits, err := s.Entries.Changes(t.Context(), ref.ID, 4, 10); err != nil || len(commits) != 2 {
			t.Errorf("log from what is left: %+v, %v", commits, err)
		}
		if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "key0", "m", 1)); err != nil || *r.Results[0].Score != 1 {
			t.Errorf("a young key: %+v, %v", r, err)
		}
		// A log without a row: a follower at the last seq needs nothing.
		dbtest.MustExec(t, db, "UPDATE changes SET committed_at = committed_at - INTERVAL 61 MINUTE")
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if commits, err := s.Entries.Changes(t.Context(), ref.ID, 6, 10); err != nil || len(commits) != 0 {
			t.Errorf("an empty log, from the last seq: %+v, %v", commits, err)
		}
		if _, err := s.Entries.Changes(t.Context(), ref.ID, 5, 10); !errors.Is(err, leaderboard.ErrLogPruned) {
			t.Errorf("an empty log, from an earlier seq: %v", err)
		}
	})
}

// TestSweepKeepsTheLastRuns: of many young runs the last ten thousand stay.
func TestSweepKeepsTheLastRuns(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		for range 2 {
			dbtest.MustExec(t, db, "INSERT INTO runs (board_id, period_id, kind, reason, state, started_at)"+
				" SELECT ?, ?, 'full', 'admin', 'done', NOW(6) FROM "+hundred+" a, "+hundred+" b WHERE b.n < 60", ref.BoardID, ref.ID)
		}
		newest, err := s.Runs.Runs(t.Context(), 0, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		after, err := s.Runs.Runs(t.Context(), 0, 0, 1)
		if n := dbtest.Count(t, db, "runs"); err != nil || n != 10_000 || after[0].ID != newest[0].ID {
			t.Errorf("%d runs are left, the newest is %+v, was %+v, %v", n, after, newest, err)
		}
	})
}

// TestDeleteLargeBoard: the name is free at once and no reader sees the rows; they go in steps, and a sweep finishes what
// the deletion left.
func TestDeleteLargeBoard(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "key", "m", 1)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Runs.StartRun(t.Context(), leaderboard.Run{BoardID: ref.BoardID, PeriodID: ref.ID, State: leaderboard.RunStateRunning}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			dbtest.MustExec(t, db, "INSERT INTO entries (period_id, member, score, created_time) SELECT ?, CONCAT(?, '-', a.n, '-', b.n), a.n, NOW(6) FROM "+
				hundred+" a, "+hundred+" b", ref.ID, i)
		}
		dbtest.MustExec(t, db, "UPDATE periods SET entry_count = 30001 WHERE id = ?", ref.ID)
		if err := s.Boards.DeleteBoard(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		left := dbtest.Count(t, db, "entries")
		if left < 29_000 {
			t.Errorf("%d rows are left after the deletion, want it to leave them to the housekeeping", left)
		}
		if p := s.Housekeeping.Purge(); p != (leaderboard.Purge{Boards: 1, Entries: int64(left)}) {
			t.Errorf("to be purged: %+v, want %d entries", p, left)
		}
		if _, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("a page of a half-deleted period: %v", err)
		}
		again := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "key", "m", 2)); err != nil {
			t.Fatal(err)
		}
		if boards, err := s.Boards.Boards(t.Context(), "", 10); err != nil || len(boards) != 1 || boards[0].ID != again.BoardID {
			t.Errorf("boards: %+v, %v", boards, err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := s.Housekeeping.Purge(); p != (leaderboard.Purge{}) {
			t.Errorf("still to be purged: %+v", p)
		}
		for table, want := range map[string]int{"boards": 1, "periods": 1, "entries": 1, "changes": 1, "idempotency_keys": 1, "runs": 0} {
			if n := dbtest.Count(t, db, table); n != want {
				t.Errorf("%d rows of %s are left, want %d of the new board", n, table, want)
			}
		}
	})
}

// TestPutBoardAtOnce: many callers that make the same board at once make one board.
func TestPutBoardAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		type made struct {
			board   leaderboard.Board
			created bool
			err     error
		}
		all := make(chan made, 20)
		for i := range cap(all) {
			go func() {
				b, created, err := s.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{TopN: 1 + i%2})
				all <- made{b, created, err}
			}()
		}
		created := 0
		for range cap(all) {
			m := dbtest.Await(t, "a board", all)
			if m.err != nil {
				t.Error(m.err)
			}
			if m.created {
				created++
			}
		}
		if n := dbtest.Count(t, s.DB(), "periods"); created != 1 || n != 1 {
			t.Errorf("created %d times, %d periods", created, n)
		}
	})
}
