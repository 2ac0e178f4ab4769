package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard"
	"leaderboard/cache/cachetest"
)

// source is what pages are loaded from; every load takes a while.
type source struct {
	mu    sync.Mutex
	seq   int64
	err   error
	slow  time.Duration
	loads int
}

func (s *source) set(seq int64, err error, slow time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq, s.err, s.slow = seq, err, slow
}

func (s *source) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

func (s *source) load(ctx context.Context, minSeq int64) (*leaderboard.Page, error) {
	s.mu.Lock()
	s.loads++
	seq, err, slow := s.seq, s.err, s.slow
	s.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	switch {
	case err != nil:
		return nil, err
	case seq < minSeq:
		return nil, leaderboard.ErrSeqAhead
	}
	return &leaderboard.Page{State: leaderboard.State{Revision: leaderboard.Revision{Seq: seq}, Source: leaderboard.SourceRedis}}, nil
}

type (
	testKey     struct{ periodKey }
	testAnswers = answers[testKey, *leaderboard.Page]
)

func newTestAnswers() *testAnswers {
	o := ReaderOptions{StaleLimit: time.Minute, CallTimeout: 5 * time.Second}.withDefaults()
	return newAnswers(o.answerRules(), opsOf[testKey](pageShape(), &o), 100, 1<<20)
}

// ask is one read, as the reader makes it.
func ask(t *testing.T, k *testAnswers, s *source, minSeq int64) *leaderboard.Page {
	t.Helper()
	page, err := askErr(t, k, s, minSeq)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func askErr(t *testing.T, k *testAnswers, s *source, minSeq int64) (*leaderboard.Page, error) {
	if page, ok := k.fresh(testKey{}, minSeq); ok {
		return page, nil
	}
	return k.get(t.Context(), testKey{}, minSeq, s.load)
}

func want(t *testing.T, p *leaderboard.Page, seq int64, source leaderboard.Source, stale bool) {
	t.Helper()
	if p.Seq != seq || p.Source != source || p.Stale != stale {
		t.Errorf("page is at seq %d from %s, stale %t; want %d from %s, stale %t", p.Seq, p.Source, p.Stale, seq, source, stale)
	}
}

func TestAnswersAges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := newTestAnswers(), &source{seq: 1, slow: 10 * time.Millisecond}
		want(t, ask(t, k, s, 0), 1, leaderboard.SourceRedis, false) // the first caller gets the original
		first := ask(t, k, s, 0)
		want(t, first, 1, leaderboard.SourceLocal, false)
		time.Sleep(90 * time.Millisecond)
		s.set(2, nil, 10*time.Millisecond)
		if again := ask(t, k, s, 0); again != first {
			t.Error("later callers do not share one object, its memo is useless")
		}
		time.Sleep(50 * time.Millisecond) // not fresh any more, within the grace
		for range 5 {
			want(t, ask(t, k, s, 0), 1, leaderboard.SourceLocal, false)
		}
		time.Sleep(20 * time.Millisecond)
		want(t, ask(t, k, s, 0), 2, leaderboard.SourceLocal, false)
		if s.count() != 2 {
			t.Errorf("%d loads, want one at first and one renewal", s.count())
		}
		time.Sleep(1100 * time.Millisecond) // older: waited for
		s.set(3, nil, 10*time.Millisecond)
		want(t, ask(t, k, s, 0), 3, leaderboard.SourceRedis, false)
	})
}

func TestAnswersMinSeq(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := newTestAnswers(), &source{seq: 5}
		ask(t, k, s, 0)
		s.set(6, nil, 0)
		want(t, ask(t, k, s, 5), 5, leaderboard.SourceLocal, false)
		want(t, ask(t, k, s, 6), 6, leaderboard.SourceRedis, false)
		want(t, ask(t, k, s, 0), 6, leaderboard.SourceLocal, false)
		if _, err := askErr(t, k, s, 7); !errors.Is(err, leaderboard.ErrSeqAhead) {
			t.Errorf("min_seq that nothing has reached: %v", err)
		}
		want(t, ask(t, k, s, 0), 6, leaderboard.SourceLocal, false) // still kept
		s.set(6, leaderboard.ErrUnavailable, 0)
		time.Sleep(2 * time.Second)
		if _, err := askErr(t, k, s, 7); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("a stale answer that is too old for min_seq was given: %v", err)
		}
		want(t, ask(t, k, s, 6), 6, leaderboard.SourceLocal, true)
	})
}

// TestAnswersAsksAgainBehindMinSeq: a layer that is behind what the caller has seen is asked again for what it
// needs: nothing is down, so nothing is stale.
func TestAnswersAsksAgainBehindMinSeq(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := newTestAnswers(), &source{seq: 6}
		ask(t, k, s, 6)
		time.Sleep(2 * time.Second)
		lagging := func(ctx context.Context, minSeq int64) (*leaderboard.Page, error) {
			if minSeq == 0 {
				return &leaderboard.Page{State: leaderboard.State{Revision: leaderboard.Revision{Seq: 5}, Source: leaderboard.SourceRedis}}, nil
			}
			return s.load(ctx, minSeq)
		}
		want(t, cachetest.Must(k.get(t.Context(), testKey{}, 6, lagging))(t), 6, leaderboard.SourceRedis, false)
	})
}

func TestAnswersOutage(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		err  error
		slow time.Duration
	}{"fails": {leaderboard.ErrUnavailable, 0}, "refuses": {leaderboard.ErrOverloaded, 0}, "hangs": {nil, time.Hour}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k, s := newTestAnswers(), &source{seq: 1}
				ask(t, k, s, 0)
				s.set(1, fault.err, fault.slow)
				time.Sleep(2 * time.Second)
				start := time.Now()
				stale := ask(t, k, s, 0)
				want(t, stale, 1, leaderboard.SourceLocal, true)
				if took := time.Since(start); took > 250*time.Millisecond {
					t.Errorf("the first reader waited %s", took)
				}
				loads := s.count()
				for range 100 {
					start := time.Now()
					if again := ask(t, k, s, 0); again != stale || time.Since(start) > 0 {
						t.Fatalf("a later reader got another object or waited %s", time.Since(start))
					}
					time.Sleep(100 * time.Millisecond)
				}
				if tries := s.count() - loads; tries < 1 || tries > 11 {
					t.Errorf("%d tries to renew in 10 s", tries)
				}
				s.set(2, nil, 0)
				time.Sleep(6 * time.Second) // a load that hangs ends by its own deadline
				ask(t, k, s, 0)
				synctest.Wait()
				want(t, ask(t, k, s, 0), 2, leaderboard.SourceLocal, false)
				s.set(2, fault.err, fault.slow)
				time.Sleep(61 * time.Second)
				if page, err := askErr(t, k, s, 0); err == nil {
					t.Errorf("beyond the limit: %+v", page)
				}
				time.Sleep(6 * time.Second) // let the last load end
			})
		})
	}
}

// TestAnswersWaitWhileTheDatabaseAnswers: a renewal that takes long is waited for, until nobody knows the database to answer.
func TestAnswersWaitWhileTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		well  time.Duration
		seq   int64
		stale bool
		took  time.Duration
	}{
		"it answers":  {time.Hour, 2, false, 2 * time.Second},
		"it stops":    {600 * time.Millisecond, 1, true, 750 * time.Millisecond},
		"it does not": {0, 1, true, 250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k, s := newTestAnswers(), &source{seq: 1}
				ask(t, k, s, 0)
				time.Sleep(5 * time.Second)
				s.set(2, nil, 2*time.Second)
				start := time.Now()
				k.rules.well = func() bool { return time.Since(start) < c.well }
				page := ask(t, k, s, 0)
				if took := time.Since(start); page.Seq != c.seq || page.Stale != c.stale || took != c.took {
					t.Errorf("seq %d, stale %t after %s; want %d, %t after %s", page.Seq, page.Stale, took, c.seq, c.stale, c.took)
				}
				time.Sleep(2 * time.Second) // let the load end
			})
		})
	}
}

// TestAnswersAgeByTheTimeThatPasses: wherever the clock of the machine is set, an answer is served in an outage until it
// is a minute old.
func TestAnswersAgeByTheTimeThatPasses(t *testing.T) {
	t.Parallel()
	for _, leap := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			k, s, ahead := newTestAnswers(), &source{seq: 1}, time.Duration(0)
			k.rules.now = func() time.Time { return cachetest.Leap(time.Now(), ahead) }
			ask(t, k, s, 0)
			s.set(1, leaderboard.ErrUnavailable, 0)
			ahead = leap
			for range 9 {
				time.Sleep(6 * time.Second)
				want(t, ask(t, k, s, 0), 1, leaderboard.SourceLocal, true)
			}
			time.Sleep(7 * time.Second)
			if _, err := askErr(t, k, s, 0); !errors.Is(err, leaderboard.ErrUnavailable) {
				t.Errorf("leap %s: an answer that is too old: %v", leap, err)
			}
		})
	}
}

func TestAnswersKeepsNoErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := newTestAnswers(), &source{err: leaderboard.ErrNotRanked}
		if _, err := askErr(t, k, s, 0); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Fatal(err)
		}
		s.set(1, nil, 0)
		want(t, ask(t, k, s, 0), 1, leaderboard.SourceRedis, false)
		time.Sleep(2 * time.Second)
		s.set(1, leaderboard.ErrNotRanked, 0)
		if page, err := askErr(t, k, s, 0); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Errorf("an answer that says no was taken for an outage: %+v, %v", page, err)
		}
		s.set(1, leaderboard.ErrUnavailable, 0)
		if page, err := askErr(t, k, s, 0); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("what is no longer ranked was kept: %+v, %v", page, err)
		}
	})
}

func TestAnswersForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := newTestAnswers(), &source{seq: 1, slow: time.Second}
		go func() { _, _ = askErr(t, k, s, 0) }()
		time.Sleep(500 * time.Millisecond)
		s.set(2, nil, 0)
		k.forget(testKey{})
		want(t, ask(t, k, s, 0), 2, leaderboard.SourceRedis, false) // does not join the old call
		time.Sleep(time.Second)                                     // which ends without leaving anything
		want(t, ask(t, k, s, 0), 2, leaderboard.SourceLocal, false)
	})
}

// TestAnswersAreGoodWhileTheyAreFound: the limit counts from when an answer was last found to be fresh: a period at rest
// is served in an outage, however long ago it changed.
func TestAnswersAreGoodWhileTheyAreFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := newTestAnswers(), &source{seq: 1}
		resting := true
		k.ops.judge = func(testKey, *leaderboard.Page, time.Duration) freshness {
			if resting {
				return freshnessFresh
			}
			return freshnessOld
		}
		ask(t, k, s, 0)
		for range 10 {
			time.Sleep(time.Minute)
			want(t, ask(t, k, s, 0), 1, leaderboard.SourceLocal, false)
		}
		resting = false
		s.set(1, leaderboard.ErrUnavailable, 0)
		time.Sleep(59 * time.Second)
		want(t, ask(t, k, s, 0), 1, leaderboard.SourceLocal, true)
		time.Sleep(2 * time.Second)
		if page, err := askErr(t, k, s, 0); err == nil {
			t.Errorf("beyond the limit: %+v", page)
		}
	})
}

func TestCallsAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, s := newTestAnswers(), &source{seq: 1, slow: 100 * time.Millisecond}
		first, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := k.get(first, testKey{}, 0, s.load); !errors.Is(err, context.Canceled) {
				t.Errorf("the caller that went away got %v", err)
			}
		}()
		synctest.Wait()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { want(t, ask(t, k, s, 0), 1, leaderboard.SourceRedis, false) })
		}
		synctest.Wait()
		cancel() // the work goes on for the others
		wg.Wait()
		if s.count() != 1 {
			t.Errorf("%d loads for 51 callers", s.count())
		}
	})
}

func TestCallPanics(t *testing.T) {
	t.Parallel()
	k := newTestAnswers()
	_, err := k.get(t.Context(), testKey{}, 0, func(context.Context, int64) (*leaderboard.Page, error) { panic("ouch") })
	if err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("a panic became %v", err)
	}
	want(t, ask(t, k, &source{seq: 1}, 0), 1, leaderboard.SourceRedis, false)
}

func TestLRU(t *testing.T) {
	t.Parallel()
	l := newLRU[int, string](10*lruShards, 1000*lruShards)
	put := func(key, bytes int) {
		l.update(key, bytes, func(string, bool) string { return fmt.Sprint(key) })
	}
	for i := range 10_000 {
		put(i, 10)
		l.get(0) // read all the time
	}
	if n, _ := l.size(); n > 10*lruShards {
		t.Errorf("%d entries", n)
	}
	if v, ok := l.get(0); !ok || v != "0" {
		t.Error("the entry that is read most is gone")
	}
	if _, ok := l.get(9999); !ok {
		t.Error("the newest entry is gone")
	}
	for i := range 10_000 {
		put(i, 300)
	}
	if _, bytes := l.size(); bytes > 1000*lruShards {
		t.Errorf("%d bytes", bytes)
	}
	put(5, 1001)
	if _, ok := l.get(5); ok {
		t.Error("an entry larger than its shard is kept")
	}
	put(5, 10)
	put(5, 20)
	before, _ := l.size()
	l.delete(5)
	l.delete(5)
	if after, _ := l.size(); after != before-1 {
		t.Errorf("%d entries, %d after a delete", before, after)
	}
}
