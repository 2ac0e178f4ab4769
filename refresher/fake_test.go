package refresher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// site is the part that all processes share: one period, its copy, its lease, the history. Its clock is the test's
// clock.
type site struct {
	mu      sync.Mutex
	period  leaderboard.Period
	copied  leaderboard.CopyInfo
	gone    bool // no longer applies the log, only a build helps
	lease   *fakeLease
	took    time.Duration // of a build
	latency time.Duration // of everything else
	err     error         // of everything
	failing error         // of builds
	panics  bool
	builds  []time.Time // starts
	running int
	most    int // builds at the same time
	runs    []leaderboard.Run
	lost    error // of the history

	redisAhead leaderboard.Micros // the difference of Redis's clock to the test's
}

func newSite() *site {
	return &site{took: 10 * time.Millisecond, period: leaderboard.Period{ID: 70, BoardID: 7, Window: leaderboard.WindowAllTime}}
}

// copies is the access of one process to the site.
type copies struct{ *site }

func (s copies) Build(ctx context.Context, _ leaderboard.PeriodRef) (leaderboard.CopyOutcome, error) {
	s.mu.Lock()
	s.builds = append(s.builds, time.Now())
	s.running++
	s.most = max(s.most, s.running)
	started, seq, asOf, err, took, panics := micros()+s.redisAhead, s.period.LastSeq, s.period.Committed, s.failing, s.took, s.panics
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	if panics {
		panic("ouch")
	}
	select {
	case <-time.After(took):
	case <-ctx.Done():
		return leaderboard.CopyOutcome{}, ctx.Err()
	}
	if err != nil {
		return leaderboard.CopyOutcome{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := leaderboard.CopyOutcome{FromSeq: s.copied.Seq, ToSeq: seq, Rows: 3}
	s.copied, s.gone = leaderboard.CopyInfo{Exists: true, Revision: leaderboard.Revision{Seq: seq, AsOf: asOf}, BuildStarted: started}, false
	return out, nil
}

func micros() leaderboard.Micros { return leaderboard.MicrosOf(time.Now()) }

func (s copies) CatchUp(context.Context, leaderboard.PeriodRef) (leaderboard.CopyOutcome, error) {
	time.Sleep(s.latency)
	s.mu.Lock()
	defer s.mu.Unlock()
	out := leaderboard.CopyOutcome{FromSeq: s.copied.Seq, ToSeq: s.copied.Seq}
	if s.err != nil || !s.copied.Exists || s.copied.Short || s.gone {
		return out, cmp.Or(s.err, leaderboard.ErrNeedsBuild)
	}
	s.copied.Seq, s.copied.AsOf = s.period.LastSeq, s.period.Committed
	out.ToSeq, out.Rows = s.copied.Seq, s.copied.Seq-out.FromSeq
	return out, nil
}

func (s copies) Info(context.Context, leaderboard.PeriodRef) (leaderboard.CopyInfo, error) {
	defer time.Sleep(s.latency / 2)
	time.Sleep(s.latency / 2)
	s.mu.Lock()
	defer s.mu.Unlock()
	info := s.copied
	info.RedisNow = micros() + s.redisAhead
	return info, s.err
}

// fakeLease is exclusive while it is the site's.
type fakeLease struct {
	site *site
	lost chan struct{}
}

func (s copies) Lease(context.Context, leaderboard.PeriodRef, time.Duration) (leaderboard.Lease, error) {
	time.Sleep(s.latency)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.lease != nil {
		return nil, s.err
	}
	s.lease = &fakeLease{s.site, make(chan struct{})}
	return s.lease, nil
}

func (l *fakeLease) Held(context.Context) (bool, error) {
	l.site.mu.Lock()
	defer l.site.mu.Unlock()
	return l.site.lease == l, nil
}

func (l *fakeLease) Lost() <-chan struct{} { return l.lost }

func (l *fakeLease) Release(context.Context) error {
	l.site.mu.Lock()
	defer l.site.mu.Unlock()
	if l.site.lease == l {
		l.site.lease = nil
	}
	return nil
}

func (s *site) StartRun(_ context.Context, run leaderboard.Run) (leaderboard.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil {
		return run, s.lost
	}
	run.ID, run.StartedAt = int64(len(s.runs)+1), micros()
	s.runs = append(s.runs, run)
	return run, nil
}

func (s *site) FinishRun(ctx context.Context, run leaderboard.Run) (leaderboard.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost != nil || ctx.Err() != nil {
		return run, errors.Join(s.lost, ctx.Err())
	}
	if old := &s.runs[run.ID-1]; old.State == leaderboard.RunStateRunning {
		*old = run
	}
	return s.runs[run.ID-1], nil
}

func (s *site) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// write commits a number of changes.
func (s *site) write(n int64) {
	s.change(func() {
		s.period.LastSeq += n
		s.period.Committed = micros()
	})
}

func (s *site) buildCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.builds)
}

// history returns the runs recorded so far, as kind, reason and state.
func (s *site) history() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.runs {
		out = append(out, fmt.Sprint(r.Kind, " ", r.Reason, " ", r.State))
	}
	return out
}

func ref() leaderboard.PeriodRef {
	rules := leaderboard.Rules{}.WithDefaults()
	return leaderboard.PeriodRef{ID: 70, BoardID: 7, Board: "b", Window: leaderboard.WindowAllTime, Name: "all_time", Rules: &rules}
}

func full() Request {
	return Request{Ref: ref(), Kind: leaderboard.RunKindFull, Reason: leaderboard.RunReasonAdmin, Actor: "admin"}
}

func incremental(reason leaderboard.RunReason) Request {
	return Request{Ref: ref(), Kind: leaderboard.RunKindIncremental, Reason: reason}
}

// newRefresher returns the refresher of one process; it is closed before the test's bubble ends.
func newRefresher(t *testing.T, s *site, change func(*Config)) *Refresher {
	t.Helper()
	cfg := Config{Copies: copies{s}, Runs: s}
	if change != nil {
		change(&cfg)
	}
	r := New(cfg)
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}
