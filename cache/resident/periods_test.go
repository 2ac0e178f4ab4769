package resident

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store/storetest"
)

// database has boards, and the periods of it that are in memory.
type database struct {
	*storetest.Model
	t       *testing.T
	periods *Periods
	loads   atomic.Int64
	reads   atomic.Int64 // of the log
	silent  atomic.Bool  // commits are other servers'
	hold    chan struct{}
	failing atomic.Bool
}

func (w *database) Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error {
	w.loads.Add(1)
	if w.failing.Load() {
		return leaderboard.ErrUnavailable
	}
	return w.Model.Snapshot(ctx, p, limit, func(s leaderboard.State) error {
		if err := begin(s); err != nil {
			return err
		}
		return nil
	}, func(keys []rank.Key) error {
		if w.hold != nil {
			<-w.hold
		}
		return rows(keys)
	})
}

func (w *database) CommitsSince(ctx context.Context, from []leaderboard.PeriodRevision, changes int) (map[int64]leaderboard.LogPart, error) {
	w.reads.Add(1)
	return w.Model.CommitsSince(ctx, from, changes)
}

// newDatabase runs periods with an amount of memory until the test ends.
func newDatabase(t *testing.T, memory int64) *database {
	t.Helper()
	w := &database{Model: storetest.NewModel(), t: t}
	w.periods = NewPeriods(w, Options{Memory: memory})
	w.OnCommit = func(ref leaderboard.PeriodRef, c leaderboard.Commit) {
		if !w.silent.Load() {
			w.periods.Committed(ref.ID, c)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.periods.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return w
}

// board makes a board with a number of entries.
func (w *database) board(name string, rules leaderboard.Rules, entries int) leaderboard.PeriodRef {
	w.t.Helper()
	b, _, err := w.PutBoard(w.t.Context(), name, rules.WithDefaults())
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range entries {
		w.submit(name, fmt.Sprint("m", i), int64(i))
	}
	l, err := w.Current(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return l.Periods[0].Ref(&b)
}

func (w *database) submit(board, member string, score int64) {
	w.t.Helper()
	_, err := w.Submit(w.t.Context(), leaderboard.SubmitRequest{Board: board, Entries: []leaderboard.Submission{{Member: member, Score: score}}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// read reads a period until it is in memory, some seconds at most; nil: it does not get there.
func (w *database) read(ref leaderboard.PeriodRef, seconds int) *Period {
	for range seconds * 10 {
		if p := w.periods.Get(&ref, WeightDeep); p != nil {
			return p
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// check holds a period in memory against the database.
func (w *database) check(ref leaderboard.PeriodRef, p *Period) {
	w.t.Helper()
	q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeTied}, Limit: 100}
	want, err := w.Model.Page(w.t.Context(), ref, q)
	if err != nil {
		w.t.Fatal(err)
	}
	got, err := p.Page(q)
	if err != nil || got.Revision != want.Revision || fmt.Sprint(got.Entries) != fmt.Sprint(want.Entries) {
		w.t.Errorf("in memory: %+v, %v; the database has %+v", got, err, want)
	}
}

const mib = 1 << 20

// TestReadEnoughComes: a period that is read comes into memory and follows own commits at once.
func TestReadEnoughComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref := w.board("b", leaderboard.Rules{}, 20)
		w.periods.Get(&ref, WeightDeep) // once is not enough
		time.Sleep(time.Minute)
		if w.loads.Load() != 0 {
			t.Fatal("a period that was read once was loaded")
		}
		p := w.read(ref, 10)
		if p == nil {
			t.Fatal("it is not in memory after ten seconds of reading")
		}
		w.check(ref, p)
		w.submit("b", "m3", 1000)
		synctest.Wait()
		w.check(ref, p)
		if w.reads.Load() != 0 {
			t.Errorf("the log was read %d times for an own commit", w.reads.Load())
		}
		if n, bytes := w.periods.Held(); n != 1 || bytes <= 0 || bytes > mib {
			time.Sleep(time.Second)
			if n, bytes = w.periods.Held(); n != 1 || bytes <= 0 || bytes > mib {
				t.Errorf("%d periods with %d bytes", n, bytes)
			}
		}
		time.Sleep(2 * idle)
		if w.periods.Get(&ref, 0) != nil {
			t.Error("it is not read and is still in memory")
		}
	})
}

// TestOthersCommits: commits of other servers are read from the log once the feed has shown them, while this server's
// later commits wait for the missing ones.
func TestOthersCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref := w.board("b", leaderboard.Rules{}, 20)
		p := w.read(ref, 10)
		from := p.At().Revision
		w.silent.Store(true)
		w.submit("b", "other", 1)
		synctest.Wait()
		if p.At().Revision != from {
			t.Fatal("it knows of a commit that it was never given")
		}
		page, err := w.Page(t.Context(), ref, leaderboard.PageQuery{})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() { done <- w.periods.Await(t.Context(), ref.ID, p, from) }()
		synctest.Wait()
		w.periods.Shown(map[int64]leaderboard.Revision{ref.ID: page.Revision})
		if !<-done {
			t.Error("it did not move on")
		}
		w.check(ref, p)
		w.submit("b", "again", 2)
		w.silent.Store(false)
		w.submit("b", "mine", 3) // after a missing commit
		synctest.Wait()
		w.check(ref, p)
		if w.periods.Await(t.Context(), ref.ID, p, p.At().Revision) {
			t.Error("it moved on though nothing happened")
		}
	})
}

// TestCommitsWhileLoading: commits during the load of a period are not missing in it.
func TestCommitsWhileLoading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref := w.board("b", leaderboard.Rules{}, 20)
		w.hold = make(chan struct{})
		if p := w.read(ref, 3); p != nil || w.loads.Load() != 1 {
			t.Fatalf("it is not loading: %v, %d loads", p, w.loads.Load())
		}
		for i := range 5 {
			w.submit("b", fmt.Sprint("new", i), 7)
		}
		close(w.hold)
		p := w.read(ref, 3)
		synctest.Wait()
		w.check(ref, p)
	})
}

// TestManyReadsLoadAtOnce: a period that many come to ask for is loaded at once, and is reported as loading until it is
// there.
func TestManyReadsLoadAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref := w.board("b", leaderboard.Rules{}, 20)
		w.hold = make(chan struct{})
		began := time.Now()
		for range enough/WeightDeep + 1 {
			if w.periods.Loads(ref.ID) {
				t.Error("it is loaded too soon")
			}
			w.periods.Get(&ref, WeightDeep)
		}
		if synctest.Wait(); w.loads.Load() != 1 || !w.periods.Loads(ref.ID) || time.Since(began) > 0 {
			t.Fatalf("%d loads, after %s", w.loads.Load(), time.Since(began))
		}
		close(w.hold)
		if synctest.Wait(); w.periods.Loads(ref.ID) || w.periods.Get(&ref, 0) == nil {
			t.Error("it is not there, or still loaded")
		}
	})
}

// TestLoadRests: a load rests as long as it worked while many read periods in memory; readers of periods outside of
// memory do not count.
func TestLoadRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref, other := w.board("b", leaderboard.Rules{}, 20), w.board("other", leaderboard.Rules{}, 20)
		w.read(ref, 10)
		for _, test := range []struct {
			ref  *leaderboard.PeriodRef
			want time.Duration
		}{{&other, 0}, {&ref, time.Second}} {
			pause := newPauses(w.periods.reads.Load())
			time.Sleep(time.Second)
			for range busyReads + 1 {
				w.periods.Get(test.ref, 0)
			}
			began := time.Now()
			if pause.between(t.Context(), w.periods.reads.Load()); time.Since(began) != test.want {
				t.Errorf("it rested for %s beside reads of %s", time.Since(began), test.ref.Board)
			}
		}
	})
}

// TestRulesDecide: the rule of a board may be always or never; a period that does not fit, or that fails to load, is
// not tried all the time.
func TestRulesDecide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, 200_000)
		always, never := w.board("always", leaderboard.Rules{Resident: leaderboard.ResidentAlways}, 5), w.board("never", leaderboard.Rules{Resident: leaderboard.ResidentNever}, 5)
		w.periods.Get(&always, WeightPage)
		if time.Sleep(time.Second); w.periods.Get(&always, WeightPage) == nil {
			t.Error("a board that is to be resident is not")
		}
		if w.read(never, 10) != nil {
			t.Error("a board that is never to be resident is")
		}
		loads := w.loads.Load()
		large := w.board("large", leaderboard.Rules{}, 0)
		w.board("large", leaderboard.Rules{}, 3000)
		if w.read(large, 60) != nil {
			t.Error("what is larger than the budget is in memory")
		}
		if n := w.loads.Load() - loads; n > 2 {
			t.Errorf("it was tried %d times", n)
		}
		rules := leaderboard.Rules{Resident: leaderboard.ResidentNever}.WithDefaults()
		always.Rules = &rules
		w.periods.Get(&always, WeightPage)
		if time.Sleep(time.Second); w.periods.Get(&always, WeightPage) != nil {
			t.Error("its board says never now, and it is still in memory")
		}
		failing := w.board("failing", leaderboard.Rules{}, 5)
		loads = w.loads.Load()
		w.failing.Store(true)
		if w.read(failing, 30); w.loads.Load()-loads > 3 {
			t.Errorf("%d attempts in 30 s", w.loads.Load()-loads)
		}
		w.failing.Store(false)
		if w.read(failing, 30) == nil {
			t.Error("it does not come after a failure")
		}
	})
}

// TestGivenUp: a period leaves when the log does not continue from its state, or when its order has changed.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref := w.board("b", leaderboard.Rules{}, 20)
		w.read(ref, 10)
		w.periods.Committed(ref.ID, leaderboard.Commit{PeriodID: ref.ID, FirstSeq: 21, LastSeq: 21, PrevCommittedAt: 1, CommittedAt: 2})
		synctest.Wait()
		if w.periods.Get(&ref, WeightDeep) != nil {
			t.Error("a period of another incarnation is still in memory")
		}
		p := w.read(ref, 10)
		if p == nil {
			t.Fatal("it was not loaded again")
		}
		w.check(ref, p)
		w.periods.Drop(ref.ID, p)
		if w.periods.Get(&ref, WeightDeep) != nil {
			t.Error("it was dropped and is still in memory")
		}
		p = w.read(ref, 10)
		asc := leaderboard.Rules{Order: leaderboard.OrderAsc}.WithDefaults()
		ref.Rules = &asc
		if w.periods.Get(&ref, WeightDeep) == p {
			t.Error("it is given though it is in another order")
		}
	})
}

// TestHeardBeforeARestore: the log is not read for a state that was heard of and that the database has lost.
func TestHeardBeforeARestore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref := w.board("b", leaderboard.Rules{}, 20)
		p := w.read(ref, 10)
		at := p.At().Revision
		lost := at
		lost.Seq, lost.AsOf = at.Seq+100, at.AsOf+5
		w.periods.Shown(map[int64]leaderboard.Revision{ref.ID: lost})
		synctest.Wait()
		w.periods.Drop(ref.ID, p)
		if w.read(ref, 10) == nil {
			t.Fatal("it was not loaded again")
		}
		synctest.Wait()
		before := w.reads.Load()
		for range 100 {
			w.periods.Shown(map[int64]leaderboard.Revision{ref.ID: at})
			synctest.Wait()
			time.Sleep(50 * time.Millisecond)
		}
		if n := w.reads.Load() - before; n > 0 {
			t.Errorf("the log was read %d times though nothing is lacking", n)
		}
	})
}

// TestNoMemory: without memory nothing is loaded.
func TestNoMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, 0)
		if ref := w.board("b", leaderboard.Rules{Resident: leaderboard.ResidentAlways}, 5); w.read(ref, 10) != nil || w.loads.Load() != 0 {
			t.Error("a period was loaded")
		}
	})
}

// TestReadersOfAPeriodThatComesAndGoes: readers, commits and choices at the same time, for the race detector.
func TestReadersOfAPeriodThatComesAndGoes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newDatabase(t, mib)
		ref := w.board("b", leaderboard.Rules{}, 200)
		stop := make(chan struct{})
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
					}
					p := w.periods.Get(&ref, WeightDeep)
					if p == nil {
						continue
					}
					if _, err := p.Page(leaderboard.PageQuery{Limit: 10, Offset: 50}); err != nil && !errors.Is(err, rank.ErrDamaged) {
						t.Error(err)
					}
				}
			})
		}
		for i := range 200 {
			w.submit("b", fmt.Sprint("m", i%50), int64(i%math.MaxInt16))
			if i%20 == 0 {
				w.periods.Drop(ref.ID, w.periods.Get(&ref, 0))
			}
			time.Sleep(100 * time.Millisecond)
		}
		close(stop)
		readers.Wait()
		w.check(ref, w.read(ref, 10))
	})
}
