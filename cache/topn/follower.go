package cache

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"leaderboard"
)

const (
	// followChanges is how many changes of one period wait in memory; beyond, they are read from the log instead.
	followChanges = 5000
	// followTimeout bounds one application or catch-up.
	followTimeout = 5 * time.Second
	followBackoff = 100 * time.Millisecond // after the first failure, doubled up to followBackoffMax
	// followBackoffMax is short enough to be back soon, and long enough to be no load on a server in trouble.
	followBackoffMax = 5 * time.Second
	// followers is how many periods are applied at once.
	followers = 8
)

// FollowerOptions adjust a Follower; the zero value works.
type FollowerOptions struct {
	Demand  func(leaderboard.PeriodRef) // a copy that exists needs a full rebuild; must not block; may be nil
	OnApply func(Applied)               // metrics; must not block; may be nil
	Logger  *slog.Logger
}

// Applied reports one write-through.
type Applied struct {
	Ref     leaderboard.PeriodRef
	Seq     int64         // the copy is at it, unless Effect is EffectMissing
	Changes int           // in the commits applied; 0 for a catch-up
	Lag     time.Duration // since the oldest of the commits was notified
	Effect  Effect        // EffectGap: brought up to date from the log
}

// Follower writes committed changes through to the copies. Commits of one period are applied in order and many at a
// time when they come fast; what goes wrong is made good from the change log. A copy that does not exist is left
// alone: cold boards stay cold until somebody reads them.
type Follower struct {
	copies *Copies
	opts   FollowerOptions
	slots  chan struct{}
	ctx    context.Context // ends when Stop gives up
	cancel context.CancelFunc
	wg     sync.WaitGroup // one per trail with a goroutine

	mu      sync.Mutex
	trails  map[int64]*trail
	stopped bool
	stop    chan struct{}
}

// trail is what one period's copy still lacks. All fields belong to Follower.mu.
type trail struct {
	ref     leaderboard.PeriodRef
	commits []leaderboard.Commit
	changes int
	behind  bool  // commits were let go, or do not fit: use the log
	seq     int64 // of the last commit notified
	applied int64 // seq known to be in the copy
	since   time.Time
}

// NewFollower starts nothing before the first Notify.
func NewFollower(copies *Copies, opts FollowerOptions) *Follower {
	if opts.Demand == nil {
		opts.Demand = func(leaderboard.PeriodRef) {}
	}
	if opts.OnApply == nil {
		opts.OnApply = func(Applied) {}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	f := &Follower{
		copies: copies, opts: opts, slots: make(chan struct{}, followers), trails: map[int64]*trail{}, stop: make(chan struct{}),
	}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Notify hands a commit over, after it happened and in the order of seq per period. It never blocks.
func (f *Follower) Notify(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	t, running := f.trails[ref.ID]
	if !running {
		t = &trail{applied: commit.FromSeq()}
		f.trails[ref.ID] = t
	}
	t.add(ref, commit)
	if !running {
		f.wg.Add(1)
		go f.follow(t)
	}
}

func (t *trail) add(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
	if t.since.IsZero() {
		t.since = time.Now()
	}
	t.ref = ref
	follows := len(t.commits) == 0 || t.seq == commit.FromSeq()
	t.seq = commit.LastSeq
	t.changes += len(commit.Changes)
	if t.behind || !follows || t.changes > followChanges {
		t.commits, t.behind = nil, true
		return
	}
	t.commits = append(t.commits, commit)
}

// Lag is how far the copies are behind what was notified: the most changes in any period, and the age of the oldest.
func (f *Follower) Lag() (changes int64, age time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.trails {
		changes = max(changes, t.seq-t.applied)
		if !t.since.IsZero() {
			age = max(age, time.Since(t.since))
		}
	}
	return changes, age
}

// Stop takes no more commits and waits until those it has are applied, or ctx ends. What is left then is made good by
// the next catch-up of any process.
func (f *Follower) Stop(ctx context.Context) error {
	f.mu.Lock()
	if !f.stopped {
		f.stopped = true
		close(f.stop)
	}
	f.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		f.wg.Wait()
		close(drained)
	}()
	defer f.cancel()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		f.cancel()
		<-drained
		return ctx.Err()
	}
}

// follow works on one period until nothing is left to do.
func (f *Follower) follow(t *trail) {
	defer f.wg.Done()
	backoff := time.Duration(0)
	for {
		job, ok := f.take(t)
		if !ok {
			return
		}
		f.slots <- struct{}{}
		err := f.apply(job)
		<-f.slots
		if err == nil {
			backoff = 0
			f.settle(t, job)
			continue
		}
		f.opts.Logger.Warn("copy is not kept up to date for now", "board", job.ref.Board, "period", job.ref.ID, "error", err)
		f.putBack(t, job)
		backoff = min(max(2*backoff, followBackoff), followBackoffMax)
		if !f.pause(backoff) {
			return
		}
	}
}

// pause waits, and says whether to go on: not once the follower is stopped, another try would be no better.
func (f *Follower) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.stop:
		return false
	}
}

// job is what was taken from a trail to be applied at once.
type job struct {
	ref     leaderboard.PeriodRef
	commits []leaderboard.Commit
	behind  bool
	seq     int64
	since   time.Time
}

func (f *Follower) take(t *trail) (job, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(t.commits) == 0 && !t.behind {
		delete(f.trails, t.ref.ID)
		return job{}, false
	}
	j := job{t.ref, t.commits, t.behind, t.seq, t.since}
	t.commits, t.changes, t.behind, t.since = nil, 0, false, time.Time{}
	return j, true
}

func (f *Follower) settle(t *trail, j job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.applied = j.seq
}

// putBack leaves to the log what could not be applied.
func (f *Follower) putBack(t *trail, j job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t.commits, t.behind, t.since = nil, true, j.since
}

// apply writes one job through. An error is a failure of Redis or MySQL, to be tried again.
func (f *Follower) apply(j job) error {
	ctx, cancel := context.WithTimeout(f.ctx, followTimeout)
	defer cancel()
	report := Applied{Ref: j.ref, Seq: j.seq, Effect: EffectGap}
	if !j.behind {
		effect, err := f.copies.Apply(ctx, j.ref, j.commits)
		if err != nil {
			return err
		}
		report.Effect = effect
		for i := range j.commits {
			report.Changes += len(j.commits[i].Changes)
		}
	}
	switch report.Effect {
	case EffectGap:
		out, err := f.copies.CatchUp(ctx, j.ref)
		switch {
		case errors.Is(err, ErrMissing), errors.Is(err, ErrDamaged), errors.Is(err, leaderboard.ErrPeriodNotFound):
			report.Effect = EffectMissing
		case errors.Is(err, ErrNeedsBuild):
			f.opts.Demand(j.ref)
		case err != nil:
			return err
		}
		report.Seq, report.Changes = out.ToSeq, 0
	case EffectShort, EffectForked:
		f.opts.Demand(j.ref)
	}
	report.Lag = time.Since(j.since)
	f.opts.OnApply(report)
	return nil
}
