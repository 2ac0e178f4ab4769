package cache

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// slowDatabase answers questions about pages with the answers that are set, after a while. A feed can use it too.
type slowDatabase struct {
	Database
	mu    sync.Mutex
	seq   int64
	err   error
	slow  time.Duration
	asked int
	away  bool // from the feed
}

func (s *slowDatabase) set(seq int64, err error, slow time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq, s.err, s.slow = seq, err, slow
}

func (s *slowDatabase) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func (s *slowDatabase) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = true
}

func (s *slowDatabase) Query(ctx context.Context, _ leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	s.mu.Lock()
	s.asked++
	seq, err, slow := s.seq, s.err, s.slow
	s.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	out := make([]leaderboard.Answer, len(questions))
	for i, q := range questions {
		switch state := (leaderboard.State{Revision: leaderboard.Revision{Seq: seq}, Source: leaderboard.SourceMySQL}); {
		case q.Page.Offset == 99:
			panic("ouch")
		case err != nil:
			out[i].Err = err
		case seq < q.Page.MinSeq:
			out[i].Err = leaderboard.ErrSeqAhead
		default:
			out[i].Page = &leaderboard.Page{State: state}
		}
	}
	return out, nil
}

func (s *slowDatabase) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, leaderboard.ErrUnavailable
	}
	return map[int64]leaderboard.Revision{1: {Seq: s.seq}}, nil
}

// keeping returns a reader of a database, without a feed: its answers are fresh for 100 ms, and served for a minute.
func keeping(s *slowDatabase) *Reader {
	return NewReader(nil, s, ReaderOptions{StaleLimit: time.Minute, CallTimeout: 5 * time.Second})
}

// watched returns such a reader with a feed that runs until the test ends.
func watched(t *testing.T, s *slowDatabase) *Reader {
	w := feed.New(s, feed.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go w.Run(ctx)
	return NewReader(nil, s, ReaderOptions{StaleLimit: time.Minute, CallTimeout: 5 * time.Second, Feed: w})
}

func getPage(t *testing.T, r *Reader, minSeq int64) *leaderboard.Page {
	t.Helper()
	return cachetest.Must(getPageErr(t, r, minSeq))(t)
}

func getPageErr(t *testing.T, r *Reader, minSeq int64) (*leaderboard.Page, error) {
	return getOffset(t.Context(), r, minSeq, 5)
}

func getOffset(ctx context.Context, r *Reader, minSeq, offset int64) (*leaderboard.Page, error) {
	ref := leaderboard.PeriodRef{ID: 1, Rules: new(leaderboard.Rules{}.WithDefaults())}
	return r.Page(ctx, ref, leaderboard.PageQuery{Query: leaderboard.Query{MinSeq: minSeq}, Limit: 3, Offset: offset})
}

func want(t *testing.T, p *leaderboard.Page, seq int64, source leaderboard.Source, stale bool) {
	t.Helper()
	if p.Seq != seq || p.Source != source || p.Stale != stale {
		t.Errorf("page is at seq %d from %s, stale %t; want %d from %s, stale %t", p.Seq, p.Source, p.Stale, seq, source, stale)
	}
}

// TestKeptAnswers: while the feed shows its revision an answer is given again, the same object, which is encoded once.
func TestKeptAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowDatabase{seq: 1, slow: 10 * time.Millisecond}
		r := watched(t, s)
		want(t, getPage(t, r, 0), 1, leaderboard.SourceMySQL, false)
		first := getPage(t, r, 0)
		if first.Encoded == nil {
			t.Error("nothing keeps the encoded forms of a kept answer")
		}
		for range 10 {
			time.Sleep(time.Minute)
			if again := getPage(t, r, 0); again != first || again.Source != leaderboard.SourceLocal || again.Stale {
				t.Fatalf("%+v", again)
			}
		}
		s.set(2, nil, 10*time.Millisecond)
		time.Sleep(time.Second)
		want(t, getPage(t, r, 0), 2, leaderboard.SourceMySQL, false)
		want(t, getPage(t, r, 2), 2, leaderboard.SourceLocal, false)
		if s.count() != 2 {
			t.Errorf("the database was asked %d times, want once for each revision", s.count())
		}
	})
}

func TestKeptMinSeq(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowDatabase{seq: 5}
		r := keeping(s)
		getPage(t, r, 0)
		s.set(6, nil, 0)
		want(t, getPage(t, r, 5), 5, leaderboard.SourceLocal, false)
		want(t, getPage(t, r, 6), 6, leaderboard.SourceMySQL, false)
		want(t, getPage(t, r, 0), 6, leaderboard.SourceLocal, false)
		if _, err := getPageErr(t, r, 7); !errors.Is(err, leaderboard.ErrSeqAhead) {
			t.Errorf("min_seq that nothing has reached: %v", err)
		}
		want(t, getPage(t, r, 0), 6, leaderboard.SourceLocal, false) // still kept
		s.set(6, leaderboard.ErrUnavailable, 0)
		time.Sleep(2 * time.Second)
		if _, err := getPageErr(t, r, 7); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("a stale answer that is too old for min_seq was given: %v", err)
		}
		want(t, getPage(t, r, 6), 6, leaderboard.SourceLocal, true)
	})
}

// TestKeptInAnOutage: kept answers are given while the database fails, refuses or hangs, one object marked stale, until
// they are too old; a database that hangs delays one reader of each attempt.
func TestKeptInAnOutage(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		err  error
		slow time.Duration
	}{"fails": {leaderboard.ErrUnavailable, 0}, "refuses": {leaderboard.ErrOverloaded, 0}, "hangs": {nil, time.Hour}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &slowDatabase{seq: 1}
				r := keeping(s)
				getPage(t, r, 0)
				s.set(1, fault.err, fault.slow)
				time.Sleep(2 * time.Second)
				stale, waited := getPage(t, r, 0), 0
				want(t, stale, 1, leaderboard.SourceLocal, true)
				for range 100 {
					start := time.Now()
					again := getPage(t, r, 0)
					took := time.Since(start)
					if again != stale || took > 250*time.Millisecond {
						t.Fatalf("a later reader got another object or waited %s", took)
					}
					if took > 0 {
						waited++
					}
					time.Sleep(100 * time.Millisecond)
				}
				if waited > 3 {
					t.Errorf("%d of 100 readers in 10 s waited, want one of each attempt", waited)
				}
				s.set(2, nil, 0)
				time.Sleep(6 * time.Second) // a call that hangs ends by its own deadline
				getPage(t, r, 0)
				synctest.Wait()
				want(t, getPage(t, r, 0), 2, leaderboard.SourceLocal, false)
				s.set(2, fault.err, fault.slow)
				time.Sleep(61 * time.Second)
				if page, err := getPageErr(t, r, 0); err == nil {
					t.Errorf("beyond the limit: %+v", page)
				}
				time.Sleep(6 * time.Second) // let the last call end
			})
		})
	}
}

// TestKeptWhileTheDatabaseAnswers: a better answer that takes long is waited for, until the database does not answer.
func TestKeptWhileTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	for _, leaves := range []time.Duration{0, 600 * time.Millisecond} { // 0: never
		synctest.Test(t, func(t *testing.T) {
			s := &slowDatabase{seq: 1}
			r := watched(t, s)
			getPage(t, r, 0)
			s.set(2, nil, 2*time.Second)
			time.Sleep(5 * time.Second)
			if leaves > 0 {
				time.AfterFunc(leaves, s.leave)
			}
			start := time.Now()
			page := getPage(t, r, 0)
			took := time.Since(start)
			if leaves == 0 && (page.Seq != 2 || page.Stale || took < 2*time.Second) ||
				leaves > 0 && (page.Seq != 1 || !page.Stale || took < leaves || took > leaves+time.Second) {
				t.Errorf("seq %d, stale %t after %s", page.Seq, page.Stale, took)
			}
			time.Sleep(3 * time.Second) // let the call end
		})
	}
}

// TestKeptAgesByTheTimeThatPasses: wherever the clock of the machine is set, an answer is served in an outage until it
// is a minute old.
func TestKeptAgesByTheTimeThatPasses(t *testing.T) {
	t.Parallel()
	for _, leap := range []time.Duration{time.Hour, -time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			s, ahead := &slowDatabase{seq: 1}, time.Duration(0)
			r := keeping(s)
			r.opts.Now = func() time.Time { return cachetest.Leap(time.Now(), ahead) }
			getPage(t, r, 0)
			s.set(1, leaderboard.ErrUnavailable, 0)
			ahead = leap
			for range 9 {
				time.Sleep(6 * time.Second)
				want(t, getPage(t, r, 0), 1, leaderboard.SourceLocal, true)
			}
			time.Sleep(7 * time.Second)
			if _, err := getPageErr(t, r, 0); !errors.Is(err, leaderboard.ErrUnavailable) {
				t.Errorf("leap %s: an answer that is too old: %v", leap, err)
			}
		})
	}
}

func TestErrorsAreNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowDatabase{err: leaderboard.ErrNotRanked}
		r := keeping(s)
		if _, err := getPageErr(t, r, 0); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Fatal(err)
		}
		s.set(1, nil, 0)
		want(t, getPage(t, r, 0), 1, leaderboard.SourceMySQL, false)
		time.Sleep(2 * time.Second)
		s.set(1, leaderboard.ErrNotRanked, 0)
		if page, err := getPageErr(t, r, 0); !errors.Is(err, leaderboard.ErrNotRanked) {
			t.Errorf("an answer that says no was taken for an outage: %+v, %v", page, err)
		}
		s.set(1, leaderboard.ErrUnavailable, 0)
		if page, err := getPageErr(t, r, 0); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("what is no longer ranked was kept: %+v, %v", page, err)
		}
	})
}

// TestKeptIsGoodWhileItIsFound: the limit counts from when an answer was last found to be fresh: a period at rest
// is served in an outage, however long ago it changed.
func TestKeptIsGoodWhileItIsFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowDatabase{seq: 1}
		r := watched(t, s)
		getPage(t, r, 0)
		for range 10 {
			time.Sleep(time.Minute)
			want(t, getPage(t, r, 0), 1, leaderboard.SourceLocal, false)
		}
		s.leave()
		s.set(1, leaderboard.ErrUnavailable, 0)
		time.Sleep(58 * time.Second)
		want(t, getPage(t, r, 0), 1, leaderboard.SourceLocal, true)
		time.Sleep(3 * time.Second)
		if page, err := getPageErr(t, r, 0); err == nil {
			t.Errorf("beyond the limit: %+v", page)
		}
	})
}

func TestCallsAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowDatabase{seq: 1, slow: 100 * time.Millisecond}
		r := keeping(s)
		first, cancel := context.WithCancel(t.Context())
		go func() {
			if _, err := getOffset(first, r, 0, 5); !errors.Is(err, context.Canceled) {
				t.Errorf("the caller that went away got %v", err)
			}
		}()
		synctest.Wait()
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { want(t, getPage(t, r, 0), 1, leaderboard.SourceMySQL, false) })
		}
		synctest.Wait()
		cancel() // the work continues for the others
		wg.Wait()
		if s.count() != 1 {
			t.Errorf("the database was asked %d times for 51 callers", s.count())
		}
	})
}

// TestErrorsOfJoinedCalls: a reader who joins an earlier call and gets an error, which has no state to judge, is
// answered by a new call: its entry may have been committed meanwhile.
func TestErrorsOfJoinedCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		minSeq int64
	}{"not ranked": {leaderboard.ErrNotRanked, 0}, "seq ahead": {nil, 4}} {
		synctest.Test(t, func(t *testing.T) {
			s := &slowDatabase{seq: 3, err: c.err, slow: 2 * time.Second}
			r := watched(t, s)
			go func() { _, _ = getPageErr(t, r, c.minSeq) }()
			time.Sleep(time.Second)
			s.set(4, nil, 0)
			time.Sleep(500 * time.Millisecond)
			if page, err := getPageErr(t, r, c.minSeq); err != nil || page.Seq != 4 || page.Stale {
				t.Errorf("%s: %+v, %v", name, page, err)
			}
			time.Sleep(2 * time.Second) // let the first call end
		})
	}
}

// TestOlderAnswersAreNotKept: of two answers that were judged one after the other, the newer is kept, whichever is kept
// last.
func TestOlderAnswersAreNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &slowDatabase{seq: 4}
		r := keeping(s)
		older := *getPage(t, r, 0)
		older.Seq = 3
		ref := leaderboard.PeriodRef{ID: 1, Rules: new(leaderboard.Rules{}.WithDefaults())}
		q := newPending(pageQuestion{onePeriod{ref}, leaderboard.PageQuery{Limit: 3, Offset: 5}})
		if out := r.kept.put(q, &older); out.At(0).Seq != 3 {
			t.Errorf("its reader gets %+v", out)
		}
		s.set(4, leaderboard.ErrUnavailable, 0)
		time.Sleep(time.Second)
		want(t, getPage(t, r, 0), 4, leaderboard.SourceLocal, true)
	})
}

// TestKeptBytes: an answer about many periods counts for each of them.
func TestKeptBytes(t *testing.T) {
	t.Parallel()
	r := keeping(&slowDatabase{})
	refs := make([]leaderboard.PeriodRef, leaderboard.MaxCombined)
	q := newPending(combinedMemberQuestion{manyPeriods{refs}, leaderboard.CombinedMemberQuery{Member: "m"}})
	r.kept.put(q, &leaderboard.CombinedStandings{States: make([]leaderboard.State, len(refs))})
	if _, bytes := r.kept.answers.Size(); bytes < len(q.key())+len(refs)*stateBytes {
		t.Errorf("%d bytes", bytes)
	}
}

func TestCallPanics(t *testing.T) {
	t.Parallel()
	r := keeping(&slowDatabase{seq: 1})
	if _, err := getOffset(t.Context(), r, 0, 99); err == nil || !strings.Contains(err.Error(), "ouch") {
		t.Errorf("a panic became %v", err)
	}
	want(t, getPage(t, r, 0), 1, leaderboard.SourceMySQL, false)
}
