package derived

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// TestModel: the model is as good as a store.
func TestModel(t *testing.T) {
	t.Parallel()
	m := newModel(storetest.NewModel())
	runSuite(t, subject{m, m, m.SetNow})
}

func TestDerived(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		_, subject := clocked(t, dsn)
		runSuite(t, subject)
	})
}

func TestPropertyDerived(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, subject := clocked(t, dsn)
		subject.sums = asked{subject.sums, s}
		property(t, subject)
	})
}

// sourced returns a store with a source and a board that is derived from it.
func sourced(t *testing.T, dsn string, change func(*store.Config)) (s *server, source leaderboard.PeriodRef) {
	t.Helper()
	s = newServer(t, dsn, change)
	source = dbtest.MakeBoard(t, s.Store, "runs", leaderboard.Rules{Policy: leaderboard.PolicyLatest})
	rules := leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}}}}
	if _, _, err := s.Boards.PutBoard(t.Context(), "sum", rules); err != nil {
		t.Fatal(err)
	}
	return s, source
}

func follow(t *testing.T, s *server) Step {
	t.Helper()
	step, err := s.Derived.FollowSources(t.Context(), "sum", true)
	if err != nil {
		t.Fatal(err)
	}
	return step
}

// submitMany gives members m0 to mn-1 a score, 500 in a request.
func submitMany(t *testing.T, s *server, n int, score int64) {
	t.Helper()
	for from := 0; from < n; from += 500 {
		var entries []leaderboard.Submission
		for i := from; i < min(n, from+500); i++ {
			entries = append(entries, leaderboard.Submission{Member: fmt.Sprint("m", i), Score: score})
		}
		if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "runs", Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}
}

// equals holds the entries against the sources.
func equals(t *testing.T, s *server, checked int64) {
	t.Helper()
	v, err := s.Derived.VerifySources(t.Context(), "sum")
	if err != nil || !v.Equal || v.Checked != checked {
		t.Errorf("verify: %+v, %v; want %d entries", v, err, checked)
	}
}

// TestDerivedLog: a step of many changes is one state in the entries and several commits in the log, that lead to it.
func TestDerivedLog(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var mu sync.Mutex
		var told []leaderboard.Commit
		s, _ := sourced(t, dsn, func(c *store.Config) {
			c.OnCommit = func(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
				mu.Lock()
				defer mu.Unlock()
				if ref.Board == "sum" {
					told = append(told, commit)
				}
			}
		})
		submitMany(t, s, 6200, 5)
		if step := follow(t, s); step.Rows != 6200 || step.ToSeq != 6200 {
			t.Errorf("step is %+v", step)
		}
		if _, err := s.Writer.Remove(t.Context(), leaderboard.RemoveRequest{Board: "runs", Member: "m7"}); err != nil {
			t.Fatal(err)
		}
		follow(t, s)
		ref := dbtest.MakeBoard(t, s.Store, "sum", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs"}}}})
		logged, err := s.Entries.Changes(t.Context(), ref.ID, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(logged, told) || len(logged) != 14 {
			t.Errorf("%d commits are logged, %d were told", len(logged), len(told))
		}
		seq, count, at := int64(0), int64(0), logged[0].PrevCommittedAt
		for _, c := range logged {
			for _, change := range c.Changes {
				if change.Old == nil {
					count++
				}
				if change.New == nil {
					count--
				}
			}
			if c.FirstSeq != seq+1 || c.PrevCommittedAt != at || c.CommittedAt <= at || c.EntryCount != count || len(c.Changes) > 500 {
				t.Fatalf("commit %d to %d from %s to %s with %d entries; the one before ended at %d, %s, with %d now", c.FirstSeq, c.LastSeq, c.PrevCommittedAt, c.CommittedAt, c.EntryCount, seq, at, count)
			}
			seq, at = c.LastSeq, c.CommittedAt
		}
		p, err := s.Boards.Period(t.Context(), ref.ID)
		if err != nil || p.LastSeq != seq || p.EntryCount != count || p.Committed != at {
			t.Errorf("the period is %+v, %v; the log ends at %d, %s, with %d", p, err, seq, at, count)
		}
		equals(t, s, 6199)
	})
}

// TestDerivedPruned: when the log is pruned, the entries are computed from scratch.
func TestDerivedPruned(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, source := sourced(t, dsn, nil)
		submitMany(t, s, 1200, 5)
		follow(t, s)
		submitMany(t, s, 700, 6)
		if _, err := dbtest.Connect(t, dsn).ExecContext(t.Context(), "DELETE FROM changes WHERE period_id = ?", source.ID); err != nil {
			t.Fatal(err)
		}
		if v, err := s.Derived.VerifySources(t.Context(), "sum"); err != nil || v.Equal {
			t.Errorf("verify without a log: %+v, %v", v, err)
		}
		if step := follow(t, s); step.State != api.DerivationStateComputing || step.Rows != 700 {
			t.Errorf("step is %+v", step)
		}
		equals(t, s, 1200)
	})
}

// TestDerivedKeepsLog: housekeeping leaves what a derived board has not followed yet, for a day.
func TestDerivedKeepsLog(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	dsn, cfg := testenv.MySQL(t), func(c *store.Config) {
		c.ChangeTTL = time.Minute
		dbtest.ClockBy(&ahead)(c)
	}
	s, source := sourced(t, dsn, cfg)
	logged := func(from int64) error {
		_, err := s.Entries.Changes(t.Context(), source.ID, from, 10)
		return err
	}
	sweep := func(after time.Duration) {
		t.Helper()
		ahead.Add(int64(after))
		// By a process that has not seen the clock leap, and so believes it.
		if err := newServer(t, dsn, cfg).Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	submitMany(t, s, 10, 1)
	follow(t, s)
	submitMany(t, s, 10, 2)
	sweep(time.Hour)
	if err := logged(0); !errors.Is(err, leaderboard.ErrLogPruned) {
		t.Errorf("what was followed is kept: %v", err)
	}
	if err := logged(10); err != nil {
		t.Errorf("what was not followed is gone: %v", err)
	}
	if step := follow(t, s); step.State != api.DerivationStateFollowing || step.Rows != 10 {
		t.Errorf("step is %+v", step)
	}
	submitMany(t, s, 10, 3)
	sweep(25 * time.Hour)
	if err := logged(20); !errors.Is(err, leaderboard.ErrLogPruned) {
		t.Errorf("what was not followed for a day is kept: %v", err)
	}
	follow(t, s)
	equals(t, s, 10)
}

// TestDeletedBoardKeepsNoLog: the log of a source does not wait for a derived board whose rows are being deleted.
func TestDeletedBoardKeepsNoLog(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, source := sourced(t, dsn, nil)
		submitMany(t, s, 10, 1)
		follow(t, s)
		followed := func(want map[int64]int64) {
			t.Helper()
			if got, err := s.Derived.followedSeqs(t.Context()); err != nil || !maps.Equal(got, want) {
				t.Errorf("the sources are followed up to %v, %v; want %v", got, err, want)
			}
		}
		followed(map[int64]int64{source.ID: 10})
		dbtest.MustExec(t, dbtest.Connect(t, dsn), "UPDATE boards SET state = 'deleting', name = '~sum' WHERE name = 'sum'")
		followed(nil)
	})
}

// TestDerivedTogether: several processes follow the same board at once, while its source changes, a member is hidden and
// the rule changes. The log has no gap and the entries follow from the sources, whichever process was faster.
func TestDerivedTogether(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		patient := func(c *store.Config) {
			dbtest.Patient(c)
			c.LockWait = dbtest.MaxWait // the steps of three servers wait for each other
		}
		first, _ := sourced(t, dsn, patient)
		stores := []*server{first, newServer(t, dsn, patient), newServer(t, dsn, patient)}
		ctx, stop := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for _, s := range stores {
			wg.Go(func() {
				for ctx.Err() == nil {
					if _, err := s.Derived.FollowSources(t.Context(), "sum", true); err != nil && !errors.Is(err, leaderboard.ErrOverloaded) {
						t.Error(err)
						return
					}
				}
			})
		}
		for i := range 20 {
			submitMany(t, first, 100+40*i, int64(i))
			switch i {
			case 5:
				if _, err := first.Hidden.Hide(t.Context(), leaderboard.HideRequest{Board: "sum", Member: "m3", Reason: "r", Actor: "a"}); err != nil {
					t.Error(err)
				}
			case 10:
				weight := int64(-3)
				rules := leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "runs", Weight: &weight}}}}
				if _, _, err := stores[1].Boards.PutBoard(t.Context(), "sum", rules); err != nil {
					t.Error(err)
				}
			case 15:
				if _, err := stores[2].Derived.Recompute(t.Context(), "sum"); err != nil && !errors.Is(err, leaderboard.ErrOverloaded) {
					t.Error(err)
				}
			}
		}
		stop()
		wg.Wait()
		follow(t, first)
		equals(t, first, 860)
		l, err := first.Boards.Current(t.Context(), "sum")
		if err != nil {
			t.Fatal(err)
		}
		ref := l.Periods[0].Ref(&l.Board)
		if got := dbtest.ScoreOf(t, first.Store, ref, "m859"); got != -3*19 {
			t.Errorf("the last member has %d", got)
		}
		if got := dbtest.ScoreOf(t, first.Store, ref, "m3"); got != -1 {
			t.Errorf("the hidden member has %d", got)
		}
		replayed(t, first, ref)
	})
}

// replayed checks that the log leads without a gap to the present entries.
func replayed(t *testing.T, s *server, ref leaderboard.PeriodRef) {
	t.Helper()
	p, err := s.Boards.Period(t.Context(), ref.ID)
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]leaderboard.Entry{}
	for at := int64(0); at < p.LastSeq; {
		commits, err := s.Entries.Changes(t.Context(), ref.ID, at, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commits {
			for _, change := range c.Changes {
				old, ok := entries[change.Member]
				if ok != (change.Old != nil) || (ok && old != *change.Old) {
					t.Fatalf("change %d is from %+v, the entry was %+v", change.Seq, change.Old, old)
				}
				if delete(entries, change.Member); change.New != nil {
					entries[change.Member] = *change.New
				}
			}
			if int64(len(entries)) != c.EntryCount {
				t.Fatalf("commit %d says there are %d entries, there are %d", c.LastSeq, c.EntryCount, len(entries))
			}
			at = c.LastSeq
		}
	}
	if int64(len(entries)) != p.EntryCount {
		t.Errorf("the period has %d entries, its log %d", p.EntryCount, len(entries))
	}
}

// TestLeadDerived: one process leads the boards until it yields or its connection is gone.
func TestLeadDerived(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		first, second := newServer(t, dsn, nil), newServer(t, dsn, nil)
		lead := func(s *server, board int64, want bool) {
			t.Helper()
			if got, err := s.Derived.lead(t.Context(), []int64{board, board + 1}); err != nil || !slices.Equal(got, []bool{want, want}) {
				t.Errorf("boards from %d are led: %t, %v; want %t", board, got, err, want)
			}
		}
		lead(first, 1, true)
		lead(first, 1, true)
		lead(second, 1, false)
		lead(second, 2, false) // the first process leads all boards, also later ones
		lead(first, 1_000_000, true)
		if err := first.Derived.yield(t.Context()); err != nil {
			t.Fatal(err)
		}
		lead(second, 1, true)
		lead(first, 1, false)
		var id int64
		if err := dbtest.Connect(t, dsn).QueryRowContext(t.Context(), "SELECT IS_USED_LOCK(CONCAT('leaderboard-derive-', LEFT(SHA2(DATABASE(), 256), 20), '-', 1))").Scan(&id); err != nil {
			t.Fatal(err)
		}
		if _, err := dbtest.Connect(t, dsn).ExecContext(t.Context(), fmt.Sprint("KILL ", id)); err != nil {
			t.Fatal(err)
		}
		dbtest.Eventually(t, "the lock of a lost connection is free", func() bool {
			got, err := first.Derived.lead(t.Context(), []int64{1})
			return err == nil && got[0]
		})
	})
}

// TestLocksAreKept: a process that leads a board and sends nothing to the server for longer than a session may be silent
// leads on, because the session is pinged.
func TestLocksAreKept(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		first, second := newServer(t, dsn, nil), newServer(t, dsn, nil)
		if lead, err := first.Derived.lead(t.Context(), []int64{1}); err != nil || !lead[0] {
			t.Fatal(lead, err)
		}
		began := time.Now()
		dbtest.Poll(t, time.Second, "the silence was long enough", func() bool {
			if lead, err := second.Derived.lead(t.Context(), []int64{1}); err != nil || lead[0] {
				t.Fatalf("after %s the other leads: %t, %v", time.Since(began), lead, err)
			}
			return time.Since(began) > 14*time.Second
		})
	})
}

// TestDerivedCutOff: a step of several transactions that ends in the middle, as of a killed process, leaves a board
// that says it is being computed, and the next step of anybody finishes it.
func TestDerivedCutOff(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		ctx, kill := context.WithCancel(t.Context())
		var commits atomic.Int64
		s, _ := sourced(t, dsn, func(c *store.Config) {
			c.OnCommit = func(ref leaderboard.PeriodRef, _ leaderboard.Commit) {
				if ref.Board == "sum" && commits.Add(1) == 4 {
					kill()
				}
			}
		})
		s.Derived.rows = 1000
		submitMany(t, s, 4300, 5)
		if _, err := s.Derived.FollowSources(ctx, "sum", true); err == nil {
			t.Fatal("the step was not cut off")
		}
		other := newServer(t, dsn, nil)
		d, err := other.Derived.Derivation(t.Context(), "sum")
		if err != nil || d.State != api.DerivationStateComputing || d.Seq != 2000 {
			t.Errorf("cut off at %+v, %v", d, err)
		}
		if v, err := other.Derived.VerifySources(t.Context(), "sum"); err != nil || v.Equal {
			t.Errorf("verify of one half: %+v, %v", v, err)
		}
		submitMany(t, other, 100, 6)
		if step := follow(t, other); step.Rows < 2300 || step.Rows > 2400 || step.State != api.DerivationStateComputing {
			t.Errorf("step is %+v", step)
		}
		equals(t, other, 4300)
	})
}

// TestDerivedVerifyAlone: of two comparisons with the sources at once the second is refused, and one comes after
// another.
func TestDerivedVerifyAlone(t *testing.T) {
	t.Parallel()
	p, through := dbtest.NewProxy(t, testenv.MySQL(t))
	s, _ := sourced(t, through, nil)
	submitMany(t, s, 3, 5)
	follow(t, s)
	held, release := p.Hold(" ORDER BY member LIMIT ", 1)
	defer release()
	first := make(chan error, 1)
	go func() {
		v, err := s.Derived.VerifySources(context.WithoutCancel(t.Context()), "sum")
		if err == nil && (!v.Equal || v.Checked != 3) {
			err = fmt.Errorf("%+v", v)
		}
		first <- err
	}()
	select {
	case <-held:
	case err := <-first:
		t.Fatalf("the first one is over: %v", err)
	}
	if v, err := s.Derived.VerifySources(t.Context(), "sum"); !errors.Is(err, leaderboard.ErrOverloaded) {
		t.Errorf("while another is made: %+v, %v", v, err)
	}
	release()
	if err := <-first; err != nil {
		t.Errorf("the first one: %v", err)
	}
	equals(t, s, 3)
	equals(t, s, 3)
}

// TestDerivedLong: a step says that it takes long before it does anything, and nothing has happened when it is refused;
// a step after a submit is a short one.
func TestDerivedLong(t *testing.T) {
	t.Parallel()
	s, _ := sourced(t, testenv.MySQL(t), nil)
	submitMany(t, s, 3, 5)
	if step, err := s.Derived.FollowSources(t.Context(), "sum", false); err != nil || !step.Long || step.Rows != 0 {
		t.Errorf("%+v, %v", step, err)
	}
	if d, err := s.Derived.Derivation(t.Context(), "sum"); err != nil || d.State != api.DerivationStateComputing || d.Seq != 0 {
		t.Errorf("refused, the board is %+v, %v", d, err)
	}
	follow(t, s)
	submitMany(t, s, 2, 6)
	if step, err := s.Derived.FollowSources(t.Context(), "sum", false); err != nil || step.Long || step.Rows != 2 {
		t.Errorf("%+v, %v", step, err)
	}
}
