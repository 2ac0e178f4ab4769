package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// thousands makes a subquery with the column n: numbers from 0, as many thousand as given, at most 100.
func thousands(n string) string {
	return "(SELECT a.n * 1000 + b.n * 10 + c.n AS n FROM " + hundred + " a, " + hundred + " b, (SELECT n FROM " + hundred + " t WHERE n < 10) c WHERE a.n < " + n + ") numbers"
}

// addPeriods gives a board closed days, as many thousand as given, without a log.
func addPeriods(t *testing.T, db *sql.DB, boardID int64, thousand string) {
	t.Helper()
	dbtest.MustExec(t, db, "INSERT INTO periods (incarnation, board_id, window_name, name, starts_at, ends_at, state, last_created_time, committed_at)"+
		" SELECT n + 1, ?, 'day', CONCAT('d', n), '1970-01-01' + INTERVAL n HOUR, '1970-01-01' + INTERVAL n + 1 HOUR, 'closed', '1970-01-01', '1970-01-01' FROM "+
		thousands(thousand), boardID)
}

// TestSweepWaitsForNobody: one piece of each kind of work is stuck on a lock of another session. The other pieces are all
// done in the same sweep, the stuck pieces in the next after the lock is free.
func TestSweepWaitsForNobody(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, func(c *store.Config) { c.LockWait = time.Second }), dbtest.Connect(t, dsn)
		refs := map[string]leaderboard.PeriodRef{}
		for _, name := range []string{"stuck", "free", "stuck-gone", "gone"} {
			refs[name] = dbtest.MakeBoard(t, s, name, leaderboard.Rules{
				Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}, Keep: map[leaderboard.Window]int{leaderboard.WindowDay: 2},
			})
			id := refs[name].BoardID
			for _, member := range []string{"hidden", "erased", "kept"} {
				if _, err := s.Writer.Submit(t.Context(), dbtest.One(name, "key-"+member, member, 5)); err != nil {
					t.Fatal(err)
				}
			}
			dbtest.MustExec(t, db, "INSERT INTO periods (incarnation, board_id, window_name, name, starts_at, ends_at, state, last_created_time, committed_at)"+
				" SELECT n + 1, ?, 'day', CONCAT('d', n), '1970-01-01' + INTERVAL n DAY, '1970-01-01' + INTERVAL n + 1 DAY, IF(n < 4, 'closed', 'open'), '1970-01-01', '1970-01-01' FROM "+
				hundred+" days WHERE n < 5", id)
			dbtest.MustExec(t, db, "INSERT INTO hidden_members (board_id, member, state, reason, hidden_at) VALUES (?, 'hidden', 'hiding', 'bot', NOW(6))", id)
		}
		dbtest.MustExec(t, db, "UPDATE boards SET has_hidden = 1")
		dbtest.MustExec(t, db, "UPDATE changes SET committed_at = committed_at - INTERVAL 1 YEAR")
		dbtest.MustExec(t, db, "UPDATE idempotency_keys SET created_at = created_at - INTERVAL 1 YEAR")
		dbtest.MustExec(t, db, "INSERT INTO runs (board_id, period_id, kind, reason, state, started_at) VALUES (?, 1, 'full', 'admin', 'done', '1970-01-01')", refs["free"].BoardID)
		dbtest.MustExec(t, db, "INSERT INTO erasures (member, started_at) VALUES ('erased', NOW(6)), ('nobody', NOW(6))")
		dbtest.MustExec(t, db, "UPDATE boards SET state = 'deleting', name = CONCAT('~', id) WHERE name LIKE '%gone'")
		dbtest.MustExec(t, db, "UPDATE periods SET state = 'deleting' WHERE board_id IN (?, ?)", refs["stuck-gone"].BoardID, refs["gone"].BoardID)
		release := dbtest.Hold(t, dsn, "SELECT id FROM boards WHERE id = ? FOR UPDATE", refs["stuck"].BoardID)
		releaseEntry := dbtest.Hold(t, dsn, "SELECT member FROM entries WHERE period_id = ? AND member = 'kept' FOR UPDATE", refs["stuck-gone"].ID)

		ctx, cancel := context.WithTimeout(t.Context(), dbtest.MaxWait/2)
		defer cancel()
		if err := s.Housekeeping.Sweep(ctx); err == nil {
			t.Error("the sweep does not tell that something is stuck")
		}
		free, gone := refs["free"].BoardID, refs["gone"].BoardID
		for what, want := range map[string]int{
			"changes WHERE committed_at < NOW(6) - INTERVAL 1 DAY": 0, "idempotency_keys": 0, "runs": 0, "erasures WHERE member = 'nobody'": 0,
		} {
			if n := dbtest.Count(t, db, what); n != want {
				t.Errorf("%d rows are left of %s", n, what)
			}
		}
		if n := dbtest.Count(t, db, "periods WHERE board_id = ?", gone); n != 0 {
			t.Errorf("%d periods of the deleted board are left", n)
		}
		if n := dbtest.Count(t, db, "periods WHERE board_id = ? AND state = 'closed'", free); n != 2 {
			t.Errorf("%d closed periods of the free board, want 2", n)
		}
		if n := dbtest.Count(t, db, "hidden_members WHERE board_id = ? AND state = 'hidden'", free); n != 1 {
			t.Errorf("the member of the free board is not hidden")
		}

		release()
		releaseEntry()
		dbtest.Eventually(t, "the board is tried again", func() bool { return !s.Blocked("stuck") })
		for range 2 { // the second run deletes what the first one gives up late
			if err := s.Housekeeping.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		}
		for what, want := range map[string]int{
			"boards": 2, "periods": 8, "periods WHERE state = 'closed'": 4, "erasures": 0, "hidden_members WHERE state = 'hidden'": 2,
			"entries WHERE member = 'erased'": 0, "entries WHERE member = 'kept'": 4, "entries WHERE period_id < 0": 4, "entries": 8,
		} {
			if n := dbtest.Count(t, db, what); n != want {
				t.Errorf("%d rows of %s, want %d", n, what, want)
			}
		}
	})
}

// TestSweepManyPeriods: however many periods there are, one sweep prunes the logs of periods among and around them, and
// deletes a board with all of them.
func TestSweepManyPeriods(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		old := dbtest.MakeBoard(t, s, "old", leaderboard.Rules{})
		addPeriods(t, db, old.BoardID, "3")
		kept := dbtest.MakeBoard(t, s, "kept", leaderboard.Rules{})
		addPeriods(t, db, kept.BoardID, "3")
		// In each period with a log, the last three of six commits are young enough.
		dbtest.MustExec(t, db, "INSERT INTO changes (period_id, last_seq, first_seq, prev_committed_at, committed_at, entry_count, payload)"+
			" SELECT p.id, q.n, q.n, NOW(6), IF(q.n < 4, NOW(6) - INTERVAL 2 HOUR, NOW(6)), 1, '' FROM periods p, "+hundred+" q WHERE p.board_id = ? AND q.n BETWEEN 1 AND 6",
			kept.BoardID)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n, young := dbtest.Count(t, db, "changes"), dbtest.Count(t, db, "changes WHERE last_seq >= 4"); n != 3*3001 || young != n {
			t.Errorf("%d commits are left, %d of them young; want %d", n, young, 3*3001)
		}
		if err := s.Boards.DeleteBoard(t.Context(), "old"); err != nil {
			t.Fatal(err)
		}
		if n := dbtest.Count(t, db, "periods WHERE board_id = ?", old.BoardID); n == 0 {
			t.Error("the deletion deleted all by itself")
		}
		if _, err := s.Boards.Period(t.Context(), old.ID); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("the current period of a deleted board: %v", err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if boards, periods := dbtest.Count(t, db, "boards"), dbtest.Count(t, db, "periods"); boards != 1 || periods != 3001 {
			t.Errorf("%d boards and %d periods are left, want 1 and 3001", boards, periods)
		}
	})
}

// TestSweepPastUselessIndexes: any number of saved indexes that cannot be loaded keeps no other from following its log.
func TestSweepPastUselessIndexes(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		db := dbtest.Connect(t, dsn)
		if err := c.stores[0].Close(); err != nil {
			t.Fatal(err)
		}
		s, writer := open(t, dsn, everywhere), open(t, dsn, nil)
		if _, err := writer.Writer.Submit(t.Context(), dbtest.One(c.ref.Board, "", "somebody", 5)); err != nil {
			t.Fatal(err)
		}
		dbtest.MustExec(t, db, "INSERT INTO boards (name, rules, created_at, updated_at) SELECT CONCAT('x', n), '{}', NOW(6), NOW(6) FROM "+hundred+" numbers WHERE n < 40")
		dbtest.MustExec(t, db, "INSERT INTO periods (incarnation, board_id, window_name, starts_at, last_seq, last_created_time, committed_at) SELECT id, id, 'all_time', '1970-01-01', 9, NOW(6), NOW(6)"+
			" FROM boards WHERE id <> ?", c.ref.BoardID)
		dbtest.MustExec(t, db, "INSERT INTO rank_indexes (period_id, chunk, chunks, incarnation, seq, saved_at, payload) SELECT id, 0, 1, incarnation, 1, NOW(6), 'damaged' FROM periods WHERE id <> ?", c.ref.ID)
		dbtest.MustExec(t, db, "INSERT INTO rank_indexes (period_id, chunk, chunks, incarnation, seq, saved_at, payload) VALUES (1000000, 0, 1, 5, 1, NOW(6), 'of a period that is gone')")
		dbtest.MustExec(t, db, "UPDATE rank_indexes SET saved_at = saved_at - INTERVAL IF(period_id = ?, 50, 90) MINUTE", c.ref.ID)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Error(err)
		}
		if n := dbtest.Count(t, db, "rank_indexes WHERE period_id <> ?", c.ref.ID); n != 0 {
			t.Errorf("%d indexes that cannot be loaded are left", n)
		}
		if st, err := s.Indexes.Status(t.Context(), c.ref); err != nil || st.Seq == 0 || st.Seq != st.PeriodSeq {
			t.Errorf("the one that can be loaded did not follow: %+v, %v", st, err)
		}
	})
}

// TestIndexesFollowInTurns: when there is time for two indexes only in each turn, the next turn continues with the others:
// each is looked at once.
func TestIndexesFollowInTurns(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	p, through := dbtest.NewProxy(t, dsn)
	s, other := open(t, through, everywhere), open(t, dsn, nil)
	const boards = 7
	var refs []leaderboard.PeriodRef
	for i := range boards {
		ref := dbtest.MakeBoard(t, other, fmt.Sprint("b", i), leaderboard.Rules{})
		if _, err := s.Indexes.Build(t.Context(), ref, store.IndexBuild{Reason: leaderboard.RunReasonCommand}); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Writer.Submit(t.Context(), dbtest.One(ref.Board, "", "m", 5)); err != nil {
			t.Fatal(err)
		}
		refs = append(refs, ref)
	}
	looks := make(chan struct{}, 1000)
	p.Watch("p.incarnation, p.last_seq, p.committed_at", looks)
	turns, asked := 1, 0
	over := func() bool { asked++; return asked%3 == 0 }
	for more := true; more && turns < 100; turns++ {
		var err error
		if more, err = s.SweepIndexes(t.Context(), over); err != nil {
			t.Fatal(err)
		}
	}
	if len(looks) != boards || turns > 10 {
		t.Errorf("%d indexes were looked at in %d turns, there are %d", len(looks), turns, boards)
	}
	for _, ref := range refs {
		if at, _, ok := s.IndexMark(ref); !ok || at.Seq != 1 {
			t.Errorf("the index of %s is at %d, %v", ref.Board, at.Seq, ok)
		}
	}
}

// TestKeepOfNewRules: a board whose rules change to keep all periods, while its old ones are searched, keeps all of them.
func TestKeepOfNewRules(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	p, through := dbtest.NewProxy(t, dsn)
	s, db := open(t, through, nil), dbtest.Connect(t, dsn)
	days := []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Windows: days, Keep: map[leaderboard.Window]int{leaderboard.WindowDay: 2}})
	addPeriods(t, db, ref.BoardID, "1")
	changed := make(chan error, 1)
	p.FaultBy(func(statement string) dbtest.Fault {
		if strings.Contains(statement, "ORDER BY starts_at DESC LIMIT") && len(changed) == 0 {
			_, err := db.ExecContext(context.Background(), `UPDATE boards SET rules = '{"windows": ["all_time", "day"]}', version = version + 1`)
			changed <- err
		}
		return dbtest.FaultPass
	})
	ctx, cancel := context.WithTimeout(t.Context(), dbtest.MaxWait)
	defer cancel()
	if err := errors.Join(s.Housekeeping.Sweep(ctx), dbtest.Await(t, "the change", changed)); err != nil {
		t.Error(err)
	}
	if n := dbtest.Count(t, db, "periods WHERE state = 'closed'"); n != 1000 {
		t.Errorf("%d periods are left, want all 1000", n)
	}
}
