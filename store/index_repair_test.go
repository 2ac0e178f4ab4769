package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/turn"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/internal/index"
	"leaderboard/store/storetest/dbtest"
)

// filled returns a crowd whose first store has written, indexed and answered a little.
func filled(t *testing.T, dsn string, change func(*store.Config)) *crowd {
	t.Helper()
	c := newCrowd(t, dsn, leaderboard.Rules{Policy: leaderboard.PolicyLatest}, change)
	if err := c.write(t.Context(), c.stores[0], rand.New(rand.NewPCG(3, 3)), 30); err != nil {
		t.Fatal(err)
	}
	c.build(t)
	return c
}

func (c *crowd) build(t *testing.T) {
	t.Helper()
	run, err := c.stores[0].Indexes.Build(t.Context(), c.ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand, Actor: "test"})
	if err != nil || run.State != leaderboard.RunStateDone {
		t.Fatal(run, err)
	}
}

// query puts questions of all kinds to a store and judges the answers at once.
func (c *crowd) query(t *testing.T, s *store.Store) {
	t.Helper()
	rng := rand.New(rand.NewPCG(4, 4))
	for range 3 {
		if err := c.read(t.Context(), s, rng); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.answers) == 0 {
		t.Fatal("no answers")
	}
	c.check(t)
}

func (c *crowd) check(t *testing.T) {
	t.Helper()
	checkReplay(t, c.stores[0], c.ref, c.answers)
	c.answers = nil
}

// indexed waits until a store has the index of the crowd's board in memory.
func (c *crowd) indexed(t *testing.T, s *store.Store) {
	t.Helper()
	dbtest.Eventually(t, "the index is in memory", func() bool {
		_, _, ok := s.IndexMark(c.ref)
		return ok
	})
}

// TestIndexDamage: with any damage of the saved index answers are right, and there is a good index soon.
func TestIndexDamage(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"flipped byte":  "UPDATE rank_indexes SET payload = CONCAT(LEFT(payload, 40), CHAR(ASCII(SUBSTRING(payload, 41, 1)) ^ 1), SUBSTRING(payload, 42))",
		"cut off":       "UPDATE rank_indexes SET payload = LEFT(payload, 30)",
		"missing chunk": "UPDATE rank_indexes SET chunks = 2",
		"no first":      "UPDATE rank_indexes SET chunk = 1",
		"empty":         "UPDATE rank_indexes SET payload = ''",
		"gone":          "DELETE FROM rank_indexes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Dialects(t, func(t *testing.T, dsn string) {
				c := filled(t, dsn, everywhere)
				dbtest.MustExec(t, dbtest.Connect(t, dsn), damage)
				other := c.stores[1]
				c.query(t, other)
				c.indexed(t, other)
				c.query(t, other)
				dbtest.Eventually(t, "a good index is saved", func() bool {
					st, err := other.Indexes.Status(t.Context(), c.ref)
					return err == nil && st.Saved && !st.Building && st.Damaged == ""
				})
			})
		})
	}
}

// TestIndexMiscounted: an index that is well-formed and wrong is found out as soon as that shows.
func TestIndexMiscounted(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		c.stores[0].Close()
		// Entries that the log does not know of: the total gives them away.
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE periods SET entry_count = entry_count + 1")
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "INSERT INTO entries SELECT period_id, 'stowaway', score, tiebreak, created_time FROM entries LIMIT 1")
		other := c.stores[1]
		q := leaderboard.MembersQuery{Members: []string{"m1", "m2", "m3"}}
		before, err := other.Entries.Members(t.Context(), c.ref, q)
		if err != nil {
			t.Fatal(err)
		}
		c.indexed(t, other)
		after, err := other.Entries.Members(t.Context(), c.ref, q)
		if err != nil || fmt.Sprint(before.Entries) != fmt.Sprint(after.Entries) {
			t.Errorf("%v, scanned %v (%v)", after, before, err)
		}
		if at, _, _ := other.IndexMark(c.ref); at.Total != after.Total {
			t.Errorf("the index has %d entries, the period %d", at.Total, after.Total)
		}
	})
}

// TestIndexLogPruned: an index whose next commits the log no longer has is built from scratch.
func TestIndexLogPruned(t *testing.T) {
	t.Parallel()
	for name, loaded := range map[string]bool{"in memory": true, "saved": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Dialects(t, func(t *testing.T, dsn string) {
				c := filled(t, dsn, everywhere)
				rng := rand.New(rand.NewPCG(5, 5))
				if loaded {
					c.query(t, c.stores[1])
				}
				if err := c.write(t.Context(), c.stores[0], rng, 20); err != nil {
					t.Fatal(err)
				}
				// The oracle needs the log, so the answers are kept until it is back.
				db := dbtest.Connect(t, dsn)
				dbtest.MustExec(t, db, "CREATE TABLE kept AS SELECT * FROM changes")
				dbtest.MustExec(t, db, "DELETE FROM changes")
				for range 3 {
					if err := c.read(t.Context(), c.stores[1], rng); err != nil {
						t.Fatal(err)
					}
				}
				c.indexed(t, c.stores[1])
				if err := c.read(t.Context(), c.stores[1], rng); err != nil {
					t.Fatal(err)
				}
				dbtest.MustExec(t, db, "INSERT INTO changes SELECT * FROM kept")
				c.check(t)
			})
		})
	}
}

// TestIndexAhead: the database is restored from a backup under the feet of two stores and takes another course.
func TestIndexAhead(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		db := dbtest.Connect(t, dsn)
		tables := []string{"entries", "periods", "changes"}
		for _, table := range tables {
			dbtest.MustExec(t, db, "CREATE TABLE kept_"+table+" AS SELECT * FROM "+table)
		}
		if err := c.write(t.Context(), c.stores[0], rand.New(rand.NewPCG(6, 6)), 20); err != nil {
			t.Fatal(err)
		}
		for _, s := range c.stores {
			c.query(t, s)
			c.indexed(t, s)
		}
		if err := c.stores[0].Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			dbtest.MustExec(t, db, "DELETE FROM "+table)
			dbtest.MustExec(t, db, "INSERT INTO "+table+" SELECT * FROM kept_"+table)
		}
		for _, s := range c.stores {
			c.query(t, s)
		}
		other := rand.New(rand.NewPCG(7, 7))
		for range 20 { // past the state that the indexes were at
			if err := c.write(t.Context(), c.stores[0], other, 2); err != nil {
				t.Fatal(err)
			}
			for _, s := range c.stores {
				c.query(t, s)
			}
		}
		third := open(t, dsn, everywhere)
		c.query(t, third)
		for _, s := range append(c.stores, third) {
			c.indexed(t, s)
			c.query(t, s)
		}
	})
}

// TestIndexBusyElsewhere: while another process builds, one answer at a time is counted by scanning; an answer with a slot
// that others need is refused when its time is over, with the time that the index takes (promise C7).
func TestIndexBusyElsewhere(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		c := newCrowd(t, through, leaderboard.Rules{Policy: leaderboard.PolicyLatest}, everywhere)
		s := c.stores[0]
		if err := c.write(t.Context(), s, rand.New(rand.NewPCG(8, 8)), 20); err != nil {
			t.Fatal(err)
		}
		conn, err := dbtest.Connect(t, dsn).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		name := fmt.Sprintf("CONCAT('leaderboard-index-', LEFT(SHA2(DATABASE(), 256), 20), '-', %d)", c.ref.ID)
		if _, err := conn.ExecContext(t.Context(), "DO GET_LOCK("+name+", 5)"); err != nil {
			t.Fatal(err)
		}
		c.query(t, s)
		if _, _, ok := s.IndexMark(c.ref); ok {
			t.Error("two processes build at once")
		}
		held, release := p.Hold("(SELECT COUNT(*)", 1)
		defer release()
		scanning := make(chan error, 1)
		go func() {
			_, err := s.Entries.ScoreRank(context.WithoutCancel(t.Context()), c.ref, leaderboard.ScoreQuery{Score: 1})
			scanning <- err
		}()
		select {
		case <-held:
		case err := <-scanning:
			t.Fatalf("within the bound: %v", err)
		}
		left := false
		waits := turn.With(t.Context(), time.Now().Add(100*time.Millisecond), func() { left = true })
		var busy *leaderboard.OverloadError
		if _, err := s.Entries.ScoreRank(waits, c.ref, leaderboard.ScoreQuery{Score: 50}); !errors.As(err, &busy) || busy.Wait <= 0 || !left {
			t.Errorf("beyond the bound: %v; it has left its slot: %t", err, left)
		}
		if _, err := s.Entries.Page(t.Context(), c.ref, leaderboard.PageQuery{Limit: 10}); err != nil {
			t.Errorf("the top needs no scan: %v", err)
		}
		release()
		if err := <-scanning; err != nil {
			t.Errorf("within the bound: %v", err)
		}
		if _, err := conn.ExecContext(t.Context(), "DO RELEASE_LOCK("+name+")"); err != nil {
			t.Fatal(err)
		}
		c.indexed(t, s)
		c.query(t, s)
	})
}

// TestIndexResumed: a build that was interrupted continues where it was saved, with the commits since.
func TestIndexResumed(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		often := func(cfg *store.Config) {
			cfg.IndexTarget = 4
			cfg.SaveBuilds()
		}
		c := newCrowd(t, dsn, leaderboard.Rules{Policy: leaderboard.PolicyLatest}, often)
		s := c.stores[0]
		rng := rand.New(rand.NewPCG(9, 9))
		if err := c.write(t.Context(), s, rng, 30); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		half := int64(0)
		run, err := s.Indexes.Build(ctx, c.ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand, Progress: func(counted, total int64) {
			if half == 0 && counted > total/2 {
				half = counted
				cancel()
			}
		}})
		if err == nil || run.State != leaderboard.RunStateFailed {
			t.Fatal(run, err)
		}
		st, err := s.Indexes.Status(t.Context(), c.ref)
		if err != nil || !st.Building || st.Counted == 0 {
			t.Fatalf("%+v, %v", st, err)
		}
		if recorded, err := s.Runs.Run(t.Context(), run.ID); err != nil || recorded.State != leaderboard.RunStateFailed || recorded.Kind != leaderboard.RunKindIndex || recorded.Error != "the server was stopped" {
			t.Errorf("%+v, %v", recorded, err)
		}
		if err := c.write(t.Context(), s, rng, 10); err != nil {
			t.Fatal(err)
		}
		first := int64(0)
		run, err = s.Indexes.Build(t.Context(), c.ref, index.BuildRequest{Reason: leaderboard.RunReasonCommand, Progress: func(counted, _ int64) {
			if first == 0 {
				first = counted
			}
		}})
		if err != nil || run.State != leaderboard.RunStateDone || first < st.Counted-20 {
			t.Fatalf("%+v from %d on, %d were counted before (%v)", run, first, st.Counted, err)
		}
		c.query(t, s)
	})
}

// TestIndexFollowsUnread: the saved index of a period that is not read follows the log before that is pruned.
func TestIndexFollowsUnread(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		if err := c.stores[0].Close(); err != nil {
			t.Fatal(err)
		}
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE rank_indexes SET saved_at = saved_at - INTERVAL 50 MINUTE")
		if err := c.write(t.Context(), open(t, dsn, nil), rand.New(rand.NewPCG(10, 10)), 5); err != nil {
			t.Fatal(err)
		}
		other := c.stores[1]
		if err := other.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		st, err := other.Indexes.Status(t.Context(), c.ref)
		if err != nil || st.Seq != st.PeriodSeq || st.Loaded {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// TestIndexDeleted: a deleted board leaves no index behind, even when a process that still has its index saves it.
func TestIndexDeleted(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		c.query(t, c.stores[1])
		c.indexed(t, c.stores[1])
		if err := c.write(t.Context(), c.stores[1], rand.New(rand.NewPCG(11, 11)), 2); err != nil {
			t.Fatal(err)
		}
		if err := c.stores[0].Boards.DeleteBoard(t.Context(), c.ref.Board); err != nil {
			t.Fatal(err)
		}
		if _, err := c.stores[0].Entries.ScoreRank(t.Context(), c.ref, leaderboard.ScoreQuery{}); !errors.Is(err, leaderboard.ErrPeriodNotFound) {
			t.Errorf("rank on a deleted board: %v", err)
		}
		for _, s := range c.stores {
			if err := s.Close(); err != nil { // the second one saves
				t.Error(err)
			}
		}
		var left int
		if err := dbtest.Connect(t, dsn).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM rank_indexes").Scan(&left); err != nil || left != 0 {
			t.Errorf("%d rows are left, %v", left, err)
		}
	})
}

// TestIndexMemory: more indexes than memory allows push each other out, and come back; the others' memory is reported.
func TestIndexMemory(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var told atomic.Int64 // bytes of the remaining index
		s := open(t, dsn, func(cfg *store.Config) { everywhere(cfg); cfg.IndexMemory, cfg.OnIndexes = 1, told.Store })
		var refs []leaderboard.PeriodRef
		for i := range 3 {
			ref := dbtest.MakeBoard(t, s, fmt.Sprintf("b%d", i), leaderboard.Rules{})
			for j := range 30 {
				if _, err := s.Writer.Submit(t.Context(), dbtest.One(ref.Board, "", fmt.Sprintf("m%d", j), int64(i+j))); err != nil {
					t.Fatal(err)
				}
			}
			refs = append(refs, ref)
		}
		for range 3 {
			for i, ref := range refs {
				dbtest.Eventually(t, "the index is in memory", func() bool {
					got, err := s.Entries.ScoreRank(t.Context(), ref, leaderboard.ScoreQuery{Score: int64(i + 10)})
					if err != nil || got.Tied != 20 || got.Strict != 21 {
						t.Fatalf("%+v, %v", got, err)
					}
					_, _, ok := s.IndexMark(ref)
					return ok
				})
			}
		}
		dbtest.Eventually(t, "only the last index is in memory", func() bool {
			loaded := 0
			for _, ref := range refs {
				if _, _, ok := s.IndexMark(ref); ok {
					loaded++
				}
			}
			return loaded == 1
		})
		if n := told.Load(); n < 100 || n > 50_000 {
			t.Errorf("the index of 30 entries is said to take %d bytes", n)
		}
	})
}

// TestIndexSaved: an index that one process saved is loaded by another instead of built.
func TestIndexSaved(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		c := filled(t, dsn, everywhere)
		if err := c.write(t.Context(), c.stores[0], rand.New(rand.NewPCG(12, 12)), 5); err != nil {
			t.Fatal(err)
		}
		started := time.Now()
		c.query(t, c.stores[1])
		c.indexed(t, c.stores[1])
		runs, err := c.stores[0].Runs.Runs(t.Context(), c.ref.BoardID, 0, 10)
		if err != nil || len(runs) != 1 || runs[0].Kind != leaderboard.RunKindIndex || runs[0].Rows == 0 || runs[0].Actor != "test" {
			t.Errorf("%v after %s: %+v, %v", c.ref.Board, time.Since(started), runs, err)
		}
		if r := c.stores[1].Entries.Reads(); r.Transactions == 0 || r.Scans != 0 {
			t.Errorf("answers of the index took %+v", r)
		}
		if err := c.stores[0].Close(); err != nil {
			t.Fatal(err)
		}
		st, err := c.stores[1].Indexes.Status(t.Context(), c.ref)
		if err != nil || st.Seq != st.PeriodSeq || st.Counted != st.Entries || st.Target != 4 || st.Buckets < 10 {
			t.Errorf("saved at the end: %+v, %v", st, err)
		}
	})
}
