package feed

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
)

// database is a Source whose statements take some time; they see the state at their beginning.
type database struct {
	mu        sync.Mutex
	revisions map[int64]leaderboard.Revision
	takes     time.Duration
	failure   error
	asked     [][]int64
}

func (d *database) Revisions(ctx context.Context, periods []int64) (map[int64]leaderboard.Revision, error) {
	d.mu.Lock()
	d.asked = append(d.asked, periods)
	found, failure, takes := map[int64]leaderboard.Revision{}, d.failure, d.takes
	for _, id := range periods {
		if r, ok := d.revisions[id]; ok {
			found[id] = r
		}
	}
	d.mu.Unlock()
	select {
	case <-time.After(takes):
		return found, failure
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// incarnation is the incarnation of all periods here except in TestOtherIncarnation.
const incarnation = 77

func (d *database) set(id, seq int64) leaderboard.Revision {
	return d.put(id, leaderboard.Revision{Incarnation: incarnation, Seq: seq, AsOf: leaderboard.Micros(seq * 10)})
}

// put makes r the revision of a period, and returns it.
func (d *database) put(id int64, r leaderboard.Revision) leaderboard.Revision {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.revisions[id] = r
	return r
}

// answer sets how long statements take from now on, and how they end.
func (d *database) answer(takes time.Duration, failure error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.takes, d.failure = takes, failure
}

func (d *database) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

// start runs a feed on a database in a bubble, where time passes when all wait.
func start(t *testing.T, opts Options) (*Feed, *database) {
	t.Helper()
	d := &database{revisions: map[int64]leaderboard.Revision{}, takes: time.Millisecond}
	w := New(d, opts)
	run(t, w)
	return w, d
}

func run(t *testing.T, w *Feed) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

func wait(t *testing.T, w *Feed, id int64) {
	t.Helper()
	if err := w.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

// latest returns the revision that was last shown of a period, and whether anything was.
func latest(w *Feed, id int64) (leaderboard.Revision, bool) {
	v, ok := w.periods.Load(id)
	if !ok {
		return leaderboard.Revision{}, false
	}
	p := v.(*period)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.samples) == 0 {
		return leaderboard.Revision{}, false
	}
	return p.samples[len(p.samples)-1].Revision, true
}

func judge(t *testing.T, w *Feed, r leaderboard.Revision, want Verdict) {
	t.Helper()
	if got := w.Judge(1, r); got != want {
		t.Errorf("%+v: verdict %d, want %d", r, got, want)
	}
}

// TestVerdicts: an answer is fresh for MaxAge after the last statement that did not show anything newer.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		old := d.set(1, 5)
		judge(t, w, old, VerdictUnknown)
		wait(t, w, 1)
		judge(t, w, old, VerdictFresh)
		for range 100 { // it is read, so it is asked about
			time.Sleep(20 * time.Millisecond)
			judge(t, w, old, VerdictFresh)
		}
		changed := time.Now()
		now := d.set(1, 6)
		var fresh time.Duration
		for w.Judge(1, old) == VerdictFresh {
			fresh = time.Since(changed)
			time.Sleep(time.Millisecond)
		}
		if fresh > 200*time.Millisecond || fresh < 140*time.Millisecond {
			t.Errorf("the old revision was fresh for %v", fresh)
		}
		judge(t, w, old, VerdictOld)
		judge(t, w, now, VerdictFresh)
	})
}

// TestHungConnection: a statement that is not answered is given up after a second, so that one connection that hangs
// does not make everything stale for longer.
func TestHungConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		r := d.set(1, 5)
		wait(t, w, 1)
		d.answer(time.Hour, nil)
		hung := time.Now()
		for asked := d.count(); d.count() == asked; time.Sleep(time.Millisecond) {
			judge(t, w, r, VerdictFresh)
		}
		d.answer(time.Millisecond, nil) // the next connection does not
		time.Sleep(500 * time.Millisecond)
		judge(t, w, r, VerdictUnknown)
		for w.Judge(1, r) != VerdictFresh {
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(hung); took > 1200*time.Millisecond {
			t.Errorf("a hung connection made all stale for %s", took)
		}
	})
}

// TestOwnCommits: an answer from a copy that is ahead of the feed is fresh, and from then on older answers are not.
func TestOwnCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		old := d.set(1, 5)
		wait(t, w, 1)
		judge(t, w, old, VerdictFresh)
		own := d.set(1, 7)
		judge(t, w, own, VerdictFresh)
		judge(t, w, old, VerdictOld) // though nothing but 5 was shown: the reader has seen 7
		time.Sleep(time.Second / 2)
		wait(t, w, 1)
		judge(t, w, own, VerdictFresh)
	})
}

// TestRestored: the database is at an older state than the copies, as after a backup was restored: they are fresh until
// the next statement. New commits from there on are fresh, though their numbers were used before.
func TestRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		copied := d.set(1, 9)
		wait(t, w, 1)
		judge(t, w, copied, VerdictFresh)
		restored := d.set(1, 6)
		judge(t, w, copied, VerdictFresh)
		time.Sleep(time.Microsecond)
		wait(t, w, 1)
		for range 3 {
			judge(t, w, copied, VerdictDiverged)
			judge(t, w, leaderboard.Revision{Incarnation: incarnation, Seq: 8, AsOf: 80}, VerdictDiverged)
			time.Sleep(100 * time.Millisecond)
		}
		judge(t, w, restored, VerdictFresh)
		again := leaderboard.Revision{Incarnation: incarnation, Seq: 7, AsOf: 170} // committed by this server, later
		judge(t, w, again, VerdictFresh)
		d.put(1, again)
		time.Sleep(100 * time.Millisecond)
		judge(t, w, again, VerdictFresh)
		judge(t, w, copied, VerdictDiverged)
		d.set(1, 8)
		time.Sleep(10 * time.Millisecond)
		wait(t, w, 1)
		judge(t, w, leaderboard.Revision{Incarnation: incarnation, Seq: 7, AsOf: 70}, VerdictOld) // of the copy
	})
}

// TestSameSeqOfAnotherBranch: a copy from before a restore, with the same seq that the database has reached since,
// names another state (promise B7).
func TestSameSeqOfAnotherBranch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		shown := d.set(1, 6)
		wait(t, w, 1)
		judge(t, w, shown, VerdictFresh)
		other := leaderboard.Revision{Incarnation: incarnation, Seq: 6, AsOf: shown.AsOf + 5}
		judge(t, w, other, VerdictFresh) // possibly committed since
		time.Sleep(time.Microsecond)
		wait(t, w, 1)
		judge(t, w, other, VerdictDiverged)
		judge(t, w, shown, VerdictFresh)
	})
}

// TestRestoredBelowTheFloor: a revision that was confirmed and is lost is not asked for again; true answers pass all the same.
func TestRestoredBelowTheFloor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		lost := d.set(1, 9)
		wait(t, w, 1)
		judge(t, w, lost, VerdictFresh)
		time.Sleep(60 * time.Millisecond) // confirmed
		restored := d.set(1, 6)
		time.Sleep(60 * time.Millisecond)
		wait(t, w, 1)
		judge(t, w, restored, VerdictFresh)
		time.Sleep(60 * time.Millisecond)
		judge(t, w, lost, VerdictDiverged)
	})
}

// TestOtherIncarnation: an id that is given again after a restore is another period, whatever its numbers. An answer from
// an incarnation that was not shown last waits for the next statement, and is then fresh or diverged.
func TestOtherIncarnation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		lost := d.put(1, leaderboard.Revision{Incarnation: 1, Seq: 9, AsOf: 90})
		wait(t, w, 1)
		judge(t, w, lost, VerdictFresh)
		made := d.put(1, leaderboard.Revision{Incarnation: 2, Seq: 3, AsOf: 100})
		judge(t, w, made, VerdictUnknown)
		time.Sleep(time.Microsecond)
		if got := w.Check(t.Context(), 1, made); got != VerdictFresh {
			t.Errorf("the new period: verdict %d", got)
		}
		judge(t, w, lost, VerdictDiverged)
		other := leaderboard.Revision{Incarnation: 1, Seq: 10, AsOf: 110} // never seen before
		judge(t, w, other, VerdictUnknown)
		time.Sleep(time.Microsecond)
		if got := w.Check(t.Context(), 1, other); got != VerdictDiverged {
			t.Errorf("the lost period, further on: verdict %d", got)
		}
		for range 10 {
			judge(t, w, made, VerdictFresh)
			time.Sleep(50 * time.Millisecond)
		}
		judge(t, w, leaderboard.Revision{Incarnation: 2, Seq: 4, AsOf: 120}, VerdictFresh) // an own commit
		judge(t, w, made, VerdictOld)
	})
}

// TestFirstRead: a copy that is ahead of the database is found out by its first reader.
func TestFirstRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		d.set(1, 6)
		for range 3 {
			ahead := leaderboard.Revision{Incarnation: incarnation, Seq: 9, AsOf: 90}
			judge(t, w, ahead, VerdictUnknown)
			time.Sleep(time.Microsecond)
			if got := w.Check(t.Context(), 1, ahead); got != VerdictDiverged {
				t.Errorf("verdict %d", got)
			}
			time.Sleep(time.Hour)
		}
	})
}

// TestDeleted: a period that is gone takes its copies along; its id may come again.
func TestDeleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		made := leaderboard.Revision{Incarnation: incarnation, Seq: 0, AsOf: 40}
		wait(t, w, 1)
		judge(t, w, made, VerdictFresh) // made since it was asked about
		d.put(1, made)
		time.Sleep(time.Microsecond)
		wait(t, w, 1)
		judge(t, w, made, VerdictFresh)
		d.mu.Lock()
		delete(d.revisions, 1)
		d.mu.Unlock()
		time.Sleep(time.Microsecond)
		wait(t, w, 1)
		judge(t, w, made, VerdictDiverged)
		if r, ok := latest(w, 1); !ok || r != (leaderboard.Revision{}) {
			t.Errorf("a deleted period is at %+v, %t", r, ok)
		}
	})
}

// TestNobodyReads: statements end a second after the last reader, and begin with the next.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		time.Sleep(time.Hour)
		if n := d.count(); n != 0 {
			t.Errorf("%d statements before anybody reads", n)
		}
		d.set(1, 5)
		wait(t, w, 1)
		time.Sleep(time.Hour)
		if n := d.count(); n < 19 || n > 22 {
			t.Errorf("%d statements after one reader, want one every 50 ms for a second", n)
		}
		judge(t, w, leaderboard.Revision{Incarnation: incarnation, Seq: 5, AsOf: 50}, VerdictUnknown)
		before := time.Now()
		wait(t, w, 1)
		if took := time.Since(before); took > 2*time.Millisecond {
			t.Errorf("the next reader waited %v for a statement of 1 ms", took)
		}
	})
}

// TestLookingIsNotReading: looking at the present knowledge, as the status of all boards does, causes no further
// statements.
func TestLookingIsNotReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		want := d.set(1, 5)
		wait(t, w, 1)
		if r, _, ok := w.Latest(1); !ok || r != want {
			t.Errorf("the latest revision is %+v, %t, want %+v", r, ok, want)
		}
		for range 3600 {
			w.Latest(1)
			w.Latest(2)
			time.Sleep(500 * time.Millisecond)
		}
		if n := d.count(); n < 19 || n > 22 {
			t.Errorf("%d statements after one reader, want one every 50 ms for a second", n)
		}
		if r, _, ok := w.Latest(1); ok {
			t.Errorf("%+v is still known of a period that is not read", r)
		}
	})
}

// TestReadersShareStatements: readers that come while a statement is under way all wait for the next one.
func TestReadersShareStatements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{Interval: time.Hour, Chunk: 500, MaxAge: 2 * time.Hour})
		d.takes = 10 * time.Millisecond
		d.set(1, 5)
		var first sync.WaitGroup
		first.Go(func() { wait(t, w, 1) })
		synctest.Wait()
		changed := d.set(1, 6)
		var rest sync.WaitGroup
		for i := range int64(1200) {
			rest.Go(func() { wait(t, w, 1+i) })
		}
		synctest.Wait()
		first.Wait()
		judge(t, w, changed, VerdictFresh)
		rest.Wait()
		if len(d.asked) != 4 || len(d.asked[1]) != 500 || len(d.asked[3]) != 200 {
			t.Errorf("%d statements, want one, and three for 1,200 periods", len(d.asked))
		}
		if r, ok := latest(w, 1); !ok || r != changed {
			t.Errorf("at %+v, %t; want %+v", r, ok, changed)
		}
	})
}

// TestSlowStatements: the interval stretches to half of MaxAge, and answers stay fresh as long as statements take less.
func TestSlowStatements(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		r := d.set(1, 5)
		wait(t, w, 1)
		d.answer(45*time.Millisecond, nil)
		before := d.count()
		for range 1000 {
			time.Sleep(2 * time.Millisecond)
			judge(t, w, r, VerdictFresh)
		}
		if n := d.count() - before; n < 20 || n > 25 {
			t.Errorf("%d statements in two seconds, want one every 90 ms", n)
		}
	})
}

// TestDatabaseAway: readers that wait get the failure, and nothing is fresh after MaxAge; the first answer ends that.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		r := d.set(1, 5)
		wait(t, w, 1)
		d.answer(time.Millisecond, errors.New("away"))
		if err := w.Wait(t.Context(), 1); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("waited in vain: %v", err)
		}
		time.Sleep(201 * time.Millisecond)
		judge(t, w, r, VerdictUnknown)
		if age := w.Age(); age < 200*time.Millisecond || !w.Away() {
			t.Errorf("the feed says its age is %v, away %t", age, w.Away())
		}
		if before := time.Now(); w.Check(t.Context(), 1, r) != VerdictUnknown || time.Since(before) != 0 {
			t.Errorf("a reader waited %v for a database that is away", time.Since(before))
		}
		d.answer(time.Minute, nil)
		before := time.Now()
		if err := w.Wait(t.Context(), 1); !errors.Is(err, leaderboard.ErrUnavailable) || time.Since(before) != 250*time.Millisecond {
			t.Errorf("hung: %v after %v", err, time.Since(before))
		}
		if !w.Away() {
			t.Error("a database that hangs is not away")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := w.Wait(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that has left gets %v", err)
		}
		d.answer(time.Millisecond, nil)
		time.Sleep(2 * time.Minute)
		wait(t, w, 1)
		if w.Away() || w.Check(t.Context(), 1, r) != VerdictFresh {
			t.Error("the database is back, the feed does not know")
		}
	})
}

// TestDatabaseHangs: a statement that is not answered makes the database away after MaxAge, and its answer brings it back.
func TestDatabaseHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		r := d.set(1, 5)
		wait(t, w, 1)
		d.answer(time.Second, nil)
		time.Sleep(190 * time.Millisecond)
		if w.Away() {
			t.Error("away too early")
		}
		time.Sleep(100 * time.Millisecond)
		if !w.Away() || w.Check(t.Context(), 1, r) != VerdictUnknown {
			t.Error("a database that hangs is not away")
		}
		d.answer(time.Millisecond, nil)
		time.Sleep(2 * time.Second)
		if w.Away() || w.Check(t.Context(), 1, r) != VerdictFresh {
			t.Error("it is back, the feed does not know")
		}
	})
}

// TestFailuresAreNotRepeatedAtOnce: a database that refuses at once gets statements as often as a database that
// answers, and readers that never wait see when it is back.
func TestFailuresAreNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		r := d.set(1, 5)
		wait(t, w, 1)
		d.answer(0, errors.New("refused"))
		before := d.count()
		for range 2000 {
			w.Judge(1, r)
			time.Sleep(time.Millisecond)
		}
		if n := d.count() - before; n < 20 || n > 41 {
			t.Errorf("%d statements in two seconds, want at most one in 50 ms", n)
		}
		time.Sleep(time.Minute) // without reads
		d.answer(0, nil)
		judge(t, w, r, VerdictUnknown)
		time.Sleep(51 * time.Millisecond)
		judge(t, w, r, VerdictFresh)
		if w.Away() {
			t.Error("still away")
		}
	})
}

// TestRunEnds: the callers that wait get an error.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &database{takes: time.Hour}
		w := New(d, Options{Wait: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { w.Run(ctx) })
		for range 2 { // of the statement under way, and of the next
			all.Go(func() {
				if err := w.Wait(t.Context(), 1); !errors.Is(err, leaderboard.ErrUnavailable) {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		before := time.Now()
		cancel()
		all.Wait()
		if waited := time.Since(before); waited != 0 {
			t.Errorf("they waited %v", waited)
		}
	})
}

// TestMachineClockLeaps: the revisions of the feed age by elapsed time, wherever the clock of the machine is set.
func TestMachineClockLeaps(t *testing.T) {
	t.Parallel()
	for _, leap := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			d := &database{revisions: map[int64]leaderboard.Revision{}}
			w, ahead := New(d, Options{}), atomic.Int64{}
			w.now = func() time.Time { return cachetest.Leap(time.Now(), time.Duration(ahead.Load())) }
			w.began = w.now()
			run(t, w)
			r := d.set(1, 5)
			wait(t, w, 1)
			ahead.Store(int64(leap))
			judge(t, w, r, VerdictFresh)
			if age := w.Age(); age < 0 || age > time.Second {
				t.Errorf("leap %s: the last round was sent %s ago", leap, age)
			}
			if ids := w.active(w.now()); len(ids) != 1 {
				t.Errorf("leap %s: a period that is read is forgotten", leap)
			}
			d.mu.Lock()
			d.failure = errors.New("away")
			d.mu.Unlock()
			time.Sleep(100 * time.Millisecond)
			judge(t, w, r, VerdictFresh)
			if w.Away() {
				t.Errorf("leap %s: the database is away already", leap)
			}
			time.Sleep(300 * time.Millisecond)
			judge(t, w, r, VerdictUnknown)
			if !w.Away() {
				t.Errorf("leap %s: the database is not away", leap)
			}
			time.Sleep(time.Minute)
			if ids := w.active(w.now()); len(ids) != 0 {
				t.Errorf("leap %s: a period that is not read is asked about", leap)
			}
		})
	}
}

// TestMemory: a period that changes all the time has a few samples, and a period that is not read has no samples.
func TestMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		wait(t, w, 1)
		for i := range int64(100) {
			r := d.set(1, i)
			time.Sleep(50 * time.Millisecond)
			w.Judge(1, r)
		}
		v, _ := w.periods.Load(int64(1))
		p := v.(*period)
		p.mu.Lock()
		if n, m := len(p.samples), len(p.seen); n < 2 || n > 6 || m > 2 {
			t.Errorf("%d samples, %d answers", n, m)
		}
		p.mu.Unlock()
		time.Sleep(time.Minute)
		if _, ok := w.periods.Load(int64(1)); ok {
			t.Error("it is still there")
		}
	})
}

// TestTables: an answer about the API keys is fresh for half a second, whatever MaxAge is.
func TestTables(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{MaxAge: 10 * time.Second, Interval: 250 * time.Millisecond})
		for id, want := range map[int64]Verdict{leaderboard.KeysPeriod: VerdictOld, 1: VerdictFresh} {
			r := d.set(id, 7)
			if got := w.Check(t.Context(), id, r); got != VerdictFresh {
				t.Fatalf("%d: verdict %d", id, got)
			}
			d.set(id, 8)
			for range 8 {
				time.Sleep(100 * time.Millisecond)
				w.Judge(id, r)
			}
			if got := w.Judge(id, r); got != want {
				t.Errorf("%d: verdict %d, want %d", id, got, want)
			}
		}
	})
}

// TestNext: callers of Next cause at most twenty statements in a second, and each gets a statement that was sent after its call. A
// caller of Wait does not wait for them.
func TestNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{MaxAge: 10 * time.Second, Interval: 250 * time.Millisecond})
		began := time.Now()
		for i := range int64(100) {
			want := d.set(1, i+1)
			if err := w.Next(t.Context(), 1); err != nil {
				t.Fatal(err)
			}
			if got, _, ok := w.Latest(1); !ok || got != want {
				t.Fatalf("%+v was shown, want %+v", got, want)
			}
		}
		if took := time.Since(began); took < 4900*time.Millisecond || took > 6*time.Second || d.count() > 101 {
			t.Errorf("100 after %v, by %d statements", took, d.count())
		}
		paced := make(chan error, 1)
		go func() { paced <- w.Next(t.Context(), 1) }()
		synctest.Wait()
		began = time.Now()
		wait(t, w, 1)
		if took := time.Since(began); took > 5*time.Millisecond {
			t.Errorf("waited %v for others", took)
		}
		if err := <-paced; err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		asked := d.count()
		time.Sleep(10 * time.Second)
		if n := d.count() - asked; n > 0 {
			t.Errorf("asked %d times, though nothing is read", n)
		}
	})
}

// TestChanged: it returns when a statement shows a change, and not before; a period that does not exist counts as changed.
func TestChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, d := start(t, Options{})
		now := d.set(1, 5)
		changed := func(id int64, than leaderboard.Revision, within time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			return w.Changed(ctx, id, than)
		}
		for _, than := range []leaderboard.Revision{now, {Incarnation: incarnation, Seq: 6, AsOf: 60}} {
			if err := changed(1, than, 10*time.Second); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("nothing newer than %+v: %v", than, err)
			}
		}
		done := make(chan time.Time, 1)
		go func() {
			if w.Changed(t.Context(), 1, now) == nil {
				done <- time.Now()
			}
		}()
		time.Sleep(5 * time.Second)
		set := time.Now()
		d.set(1, 6)
		if took := (<-done).Sub(set); took <= 0 || took > 100*time.Millisecond {
			t.Errorf("told after %v", took)
		}
		for name, than := range map[string]leaderboard.Revision{"older": now, "another incarnation": {Incarnation: incarnation + 1, Seq: 100, AsOf: 1000}} {
			if err := changed(1, than, time.Second); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := changed(2, now, time.Second); err != nil {
			t.Errorf("no such period: %v", err)
		}
	})
}
