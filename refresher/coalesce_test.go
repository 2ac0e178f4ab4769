package refresher

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// burst has n callers ask over a span of time, spread over the processes, and checks that each is answered by a
// build that started after it asked.
func burst(t *testing.T, s *site, n int, over time.Duration, processes ...*Refresher) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		r := processes[i%len(processes)]
		delay := time.Duration(rand.Int64N(int64(over) + 1))
		wg.Go(func() {
			time.Sleep(delay)
			asked := micros()
			run, err := r.RunOnce(t.Context(), full())
			if err != nil || (run.State != leaderboard.RunStateDone && run.State != leaderboard.RunStateShared) {
				t.Errorf("%+v, %v", run, err)
			}
			s.change(func() {
				if s.copied.BuildStarted < asked {
					t.Errorf("asked at %s, answered with a build of %s", asked, s.copied.BuildStarted)
				}
			})
		})
	}
	wg.Wait()
}

func TestBurstCostsTwoBuilds(t *testing.T) {
	t.Parallel()
	for name, took := range map[string]time.Duration{"quick": time.Microsecond, "like the burst": 30 * time.Millisecond, "slow": 20 * time.Second} {
		for _, processes := range []int{1, 3} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newSite()
					s.took, s.latency = took, time.Millisecond
					var all []*Refresher
					for range processes {
						all = append(all, newRefresher(t, s, nil))
					}
					burst(t, s, 500, 50*time.Millisecond, all...)
					if n := s.buildCount(); n < 1 || n > 2 {
						t.Errorf("%d builds for 500 requests to %d processes", n, processes)
					}
					if s.most != 1 {
						t.Errorf("%d builds at the same time", s.most)
					}
				})
			})
		}
	}
}

// TestEachRequestGetsItsBuild: successive requests do not share a build.
func TestEachRequestGetsItsBuild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		r := newRefresher(t, s, nil)
		for range 3 {
			burst(t, s, 1, 0, r)
		}
		if len(s.builds) != 3 {
			t.Fatalf("%d builds for 3 requests", len(s.builds))
		}
		for i := 1; i < 3; i++ {
			if gap := s.builds[i].Sub(s.builds[i-1]); gap < time.Second {
				t.Errorf("builds start %s apart, want a second at least", gap)
			}
		}
		want := []string{"full admin done", "full admin done", "full admin done"}
		if got := s.history(); !reflect.DeepEqual(got, want) {
			t.Errorf("history: %v", got)
		}
	})
}

func TestDemandsShareOneBuild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Second
		processes := []*Refresher{newRefresher(t, s, nil), newRefresher(t, s, nil), newRefresher(t, s, nil)}
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Millisecond) // on past the end of the build
				start := time.Now()
				wait := processes[i%3].Demand(ref())
				if time.Since(start) > 0 {
					t.Error("Demand blocks")
				}
				if err := wait(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := s.buildCount(); n != 1 {
			t.Errorf("%d builds for a copy that was missing", n)
		}
		s.change(func() { s.copied.Short = true })
		if err := processes[0].Demand(ref())(t.Context()); err != nil || s.buildCount() != 2 {
			t.Errorf("a copy that is too short: %v, %d builds", err, s.buildCount())
		}
		s.change(func() { s.gone = true })
		if err := processes[1].Demand(ref())(t.Context()); err != nil || s.buildCount() != 3 {
			t.Errorf("a copy that the log cannot bring up to date: %v, %d builds", err, s.buildCount())
		}
	})
}

// TestDemandJoinsTheBuild: a process that needs a copy while it is building one needs no second run.
func TestDemandJoinsTheBuild(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Second
		r := newRefresher(t, s, nil)
		var last func(context.Context) error
		for range 90 {
			last = r.Demand(ref())
			time.Sleep(10 * time.Millisecond)
		}
		if err := last(t.Context()); err != nil {
			t.Error(err)
		}
		if got := s.history(); !reflect.DeepEqual(got, []string{"full demand done"}) {
			t.Errorf("history: %v", got)
		}
	})
}

// TestLeaseOfAnother: while another process builds, ours waits, and takes its build only if that began after all who
// share ours asked.
func TestLeaseOfAnother(t *testing.T) {
	t.Parallel()
	demand := full()
	demand.Reason = leaderboard.RunReasonDemand
	cases := map[string]struct {
		asks   map[int]Request // by second
		shared bool
	}{
		"asked before":                   {map[int]Request{1: full()}, true},
		"asked after":                    {map[int]Request{3: full()}, false},
		"asked before and after":         {map[int]Request{1: full(), 3: full()}, false},
		"needs a copy":                   {map[int]Request{3: demand}, true},
		"needs a copy, and a build":      {map[int]Request{1: demand, 3: full()}, false},
		"needs a copy, and asked before": {map[int]Request{1: full(), 3: demand}, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSite()
				s.latency = time.Millisecond
				r := newRefresher(t, s, nil)
				other, err := copies{s}.Lease(t.Context(), ref(), time.Second)
				if err != nil {
					t.Fatal(err)
				}
				var wg sync.WaitGroup
				for second, req := range c.asks {
					wg.Go(func() {
						time.Sleep(time.Duration(second) * time.Second)
						run, err := r.RunOnce(t.Context(), req)
						if err != nil || (run.State == leaderboard.RunStateShared) != c.shared {
							t.Errorf("asked in second %d: %+v, %v", second, run, err)
						}
					})
				}
				time.Sleep(2 * time.Second)
				started := micros()
				time.Sleep(2 * time.Second)
				if s.buildCount() > 0 {
					t.Error("built without the lease")
				}
				s.change(func() { s.copied = leaderboard.CopyInfo{Exists: true, BuildStarted: started} })
				_ = other.Release(t.Context())
				wg.Wait()
				records := 1
				if name == "needs a copy" {
					records = 0 // a reader that caused no build leaves no record
				}
				if len(s.history()) != records || (s.buildCount() == 0) != c.shared {
					t.Errorf("%d builds, history %v", s.buildCount(), s.history())
				}
			})
		})
	}
}

// TestLooksAgainUnderTheLease: the other may finish between our look at the copy and our taking the lease.
func TestLooksAgainUnderTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		r := newRefresher(t, s, func(c *Config) { c.Copies = lastMoment{copies{s}} })
		time.Sleep(time.Second)
		if run, err := r.RunOnce(t.Context(), full()); err != nil || run.State != leaderboard.RunStateShared || s.buildCount() != 0 {
			t.Errorf("%+v, %v; %d builds", run, err, s.buildCount())
		}
		if s.lease != nil {
			t.Error("the lease was not given back")
		}
	})
}

// lastMoment has another process publish right before the lease is granted.
type lastMoment struct{ copies }

func (l lastMoment) Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (leaderboard.Lease, error) {
	l.change(func() { l.copied = leaderboard.CopyInfo{Exists: true, BuildStarted: micros()} })
	return l.copies.Lease(ctx, p, ttl)
}

// TestFlushedUnderTheLease: Redis loses everything after it gave the lease and before the process looks at the copy;
// the next process with the lease builds, and the first one waits for its copy (promise C1).
func TestFlushedUnderTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Second
		other := newRefresher(t, s, nil)
		var built func(context.Context) error
		r := newRefresher(t, s, func(c *Config) {
			c.Copies = &flushed{copies: copies{s}, then: func() {
				built = other.Demand(ref())
				synctest.Wait()
			}}
		})
		if err := r.Demand(ref())(t.Context()); err != nil {
			t.Error(err)
		}
		if err := built(t.Context()); err != nil {
			t.Error(err)
		}
		if s.buildCount() != 1 {
			t.Errorf("%d builds", s.buildCount())
		}
	})
}

// flushed loses the first lease that it gives, then calls then.
type flushed struct {
	copies
	then func()
}

func (f *flushed) Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (leaderboard.Lease, error) {
	l, err := f.copies.Lease(ctx, p, ttl)
	if then := f.then; then != nil {
		f.then = nil
		f.change(func() { f.lease = nil })
		then()
	}
	return l, err
}

// TestIncrementalsAreShared: catch-ups are shared like builds: one runs, one waits.
func TestIncrementalsAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.latency, s.copied = 20*time.Millisecond, leaderboard.CopyInfo{Exists: true}
		r := newRefresher(t, s, nil)
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 100 * time.Microsecond)
				s.write(1)
				s.mu.Lock()
				seq := s.period.LastSeq
				s.mu.Unlock()
				run, err := r.RunOnce(t.Context(), incremental(leaderboard.RunReasonAdmin))
				if err != nil || run.ToSeq < seq {
					t.Errorf("asked at seq %d, answered with %+v, %v", seq, run, err)
				}
			})
		}
		wg.Wait()
		if len(s.runs) > 4 {
			t.Errorf("%d runs in 50 ms of 20 ms each", len(s.runs))
		}
	})
}

// TestIncrementalTakesTheBuildUnderWay: a catch-up that finds no copy waits for the copy that is being built.
func TestIncrementalTakesTheBuildUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Second
		r, other := newRefresher(t, s, nil), newRefresher(t, s, nil)
		built := other.Demand(ref())
		time.Sleep(500 * time.Millisecond)
		run, err := r.RunOnce(t.Context(), incremental(leaderboard.RunReasonAdmin))
		if err != nil || run.State != leaderboard.RunStateShared || s.buildCount() != 1 {
			t.Errorf("%+v, %v; %d builds", run, err, s.buildCount())
		}
		if err := built(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestLostLeaseCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Minute
		r := newRefresher(t, s, nil)
		go func() {
			time.Sleep(5 * time.Second)
			s.change(func() { close(s.lease.lost) })
		}()
		start := time.Now()
		run, err := r.RunOnce(t.Context(), full())
		if !errors.Is(err, errLeaseLost) || run.State != leaderboard.RunStateFailed || time.Since(start) != 5*time.Second {
			t.Errorf("after %s: %+v, %v", time.Since(start), run, err)
		}
		if got := s.history(); !reflect.DeepEqual(got, []string{"full admin failed"}) || s.runs[0].Error == "" {
			t.Errorf("history: %v", s.runs)
		}
	})
}

// TestCallerGoesAway: a caller that goes away ends no build.
func TestCallerGoesAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Second
		r := newRefresher(t, s, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := r.RunOnce(ctx, full()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("caller: %v", err)
		}
		time.Sleep(2 * time.Second)
		if got := s.history(); !reflect.DeepEqual(got, []string{"full admin done"}) {
			t.Errorf("history: %v", got)
		}
	})
}

// TestDemandsAreBounded: this process builds a limited number of copies for readers at once; further readers get an
// error at once, and leave no trace.
func TestDemandsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.took = time.Second
		r := newRefresher(t, s, func(c *Config) { c.Copies = apart{copies{s}} })
		demand := func(id int64) func(context.Context) error {
			p := ref()
			p.ID = id
			return r.Demand(p)
		}
		refused, waits := 0, []func(context.Context) error{}
		for id := range int64(100) {
			waits = append(waits, demand(id+1), demand(id+1))
		}
		for _, wait := range waits {
			start := time.Now()
			err := wait(t.Context())
			if errors.Is(err, leaderboard.ErrOverloaded) && time.Since(start) == 0 {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		}
		if refused != 2*96 || s.most != 4 || s.buildCount() != 4 || len(s.history()) != 4 {
			t.Errorf("%d refused; %d builds, %d at once; history %v", refused, s.buildCount(), s.most, s.history())
		}
		if err := demand(50)(t.Context()); err != nil || s.buildCount() != 5 {
			t.Errorf("there is room again: %v, %d builds", err, s.buildCount())
		}
		if _, err := r.RunOnce(t.Context(), full()); err != nil {
			t.Errorf("requests for builds are not bounded: %v", err)
		}
	})
}

// apart is copies in which no period has anything of another's.
type apart struct{ copies }

func (apart) Info(context.Context, leaderboard.PeriodRef) (leaderboard.CopyInfo, error) {
	return leaderboard.CopyInfo{RedisNow: micros()}, nil
}

func (apart) Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (leaderboard.Lease, error) {
	return copies{newSite()}.Lease(ctx, p, ttl)
}

// TestClosedPeriodsGetNoCopies: readers get none; a request for a build does.
func TestClosedPeriodsGetNoCopies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		r := newRefresher(t, s, nil)
		closed := full()
		closed.Ref.Closed = true
		if err := r.Demand(closed.Ref)(t.Context()); !errors.Is(err, leaderboard.ErrPeriodClosed) || s.buildCount() != 0 {
			t.Errorf("a reader: %v, %d builds", err, s.buildCount())
		}
		if _, err := r.RunOnce(t.Context(), closed); err != nil || s.buildCount() != 1 {
			t.Errorf("an admin: %v, %d builds", err, s.buildCount())
		}
	})
}

// TestRecordsOfDemands: a run that a reader began has a record from when it builds, or when a request joins that needs
// of it.
func TestRecordsOfDemands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		s.latency = time.Millisecond
		r := newRefresher(t, s, nil)
		lease, err := copies{s}.Lease(t.Context(), ref(), time.Second)
		if err != nil {
			t.Fatal(err)
		}
		demanded := r.Demand(ref())
		pass(time.Second)
		if got := s.history(); len(got) != 0 {
			t.Errorf("while it waits: %v", got)
		}
		run, wait, err := r.Start(t.Context(), full())
		if err != nil || run.ID != 1 || run.State != leaderboard.RunStateRunning {
			t.Errorf("the request that joins gets %+v, %v", run, err)
		}
		_ = lease.Release(t.Context())
		if err := demanded(t.Context()); err != nil {
			t.Error(err)
		}
		if run, err := wait(t.Context()); err != nil || run.ID != 1 || s.buildCount() != 1 {
			t.Errorf("%+v, %v, %d builds", run, err, s.buildCount())
		}
		if got := s.history(); !reflect.DeepEqual(got, []string{"full demand done"}) {
			t.Errorf("history: %v", got)
		}
		s.change(func() { s.copied.Exists, s.failing = false, leaderboard.ErrUnavailable })
		if err := r.Demand(ref())(t.Context()); err == nil || len(s.history()) != 2 || s.history()[1] != "full demand failed" {
			t.Errorf("a build that fails: %v, history %v", err, s.history())
		}
		s.change(func() { s.err = errors.New("Redis is away") })
		if err := r.Demand(ref())(t.Context()); err == nil || len(s.history()) != 2 {
			t.Errorf("Redis is away: %v, history %v", err, s.history())
		}
	})
}
