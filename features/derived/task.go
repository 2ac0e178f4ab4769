package derived

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

const (
	maxBackoff = 30 * time.Second
	// restShare: a task rests for at least this part of the time that its step took.
	restShare = 4
)

// boardTask takes the steps of one board. It has a goroutine only while it is awake.
type boardTask struct {
	follower *follower
	id       int64
	board    string

	mu     sync.Mutex // guards the fields below
	lead   bool       // of this process
	awake  bool
	again  bool               // a source may have changed since the step under way began
	cancel context.CancelFunc // of the steps, while it is awake
	last   lastStep

	failures  int       // in a row
	failure   error     // the last of them
	notBefore time.Time // the next step after a failure
}

// lastStep is the result of the last step. Before the first step it began with the lead; once another process leads it
// is the zero value.
type lastStep struct {
	behind int64
	began  time.Time
}

// wakeUp begins a step, or another one after the step under way. It returns false when too many boards are awake.
func (f *boardTask) wakeUp() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.lead || time.Now().Before(f.notBefore):
		return true
	case f.awake:
		f.again = true
		return true
	}
	ctx, ok := f.follower.begin()
	if !ok {
		return false
	}
	ctx, f.cancel = context.WithCancel(ctx)
	f.awake, f.again = true, true
	go func() {
		defer f.follower.end()
		f.run(ctx)
	}()
	return true
}

// leads notes whether this process leads the board.
func (f *boardTask) leads(lead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !lead:
		f.last = lastStep{}
	case !f.lead && f.last == (lastStep{}):
		f.last = lastStep{began: time.Now()}
	}
	f.lead = lead
}

// unsure notes that it is not known which process leads the board. It takes no steps then, and its lag grows until it is known
// that another process leads it.
func (f *boardTask) unsure() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lead = false
}

// end ends the steps of a board that is gone.
func (f *boardTask) end() {
	f.leads(false)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel != nil {
		f.cancel()
	}
}

// followed notes that there was nothing to do at a moment.
func (f *boardTask) followed(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lead && !f.awake {
		f.last = lastStep{began: at}
		f.succeeded()
	}
}

// lastStep returns the result of the last step, false without the lead.
func (f *boardTask) lastStep() (lastStep, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, !f.last.began.IsZero()
}

// stepped notes what a step found.
func (f *boardTask) stepped(last lastStep) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lead || last == (lastStep{}) {
		f.last = last
	}
}

// run takes steps until there is nothing to do, one fails or ctx ends. At least a part of the time that a step took
// passes before the next one, and after failures longer and longer, asleep.
func (f *boardTask) run(ctx context.Context) {
	for stepped := false; f.goesOn(ctx, stepped); stepped = true {
		start := time.Now()
		err := f.step(ctx)
		if errors.Is(err, leaderboard.ErrBoardNotFound) || errors.Is(err, leaderboard.ErrNotDerived) {
			err = nil // the next list shows it
			f.stepped(lastStep{})
		}
		f.count(ctx, err)
		_ = sleep(ctx, max(stepGap, time.Since(start)/restShare))
	}
}

// goesOn reports whether to take another step now; otherwise the board goes to sleep. When other boards wait to be
// woken it goes to sleep after one step, and a later round finds the remaining work.
func (f *boardTask) goesOn(ctx context.Context, stepped bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	again := f.again && (!stepped || !f.follower.crowded.Load())
	if ctx.Err() == nil && f.lead && again && !time.Now().Before(f.notBefore) {
		f.again = false
		return true
	}
	f.awake, f.again = false, false
	f.cancel()
	f.cancel = nil
	return false
}

// count counts failures in a row; it logs the first one, and the success after it.
func (f *boardTask) count(ctx context.Context, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.succeeded()
		return
	}
	if f.failures == 0 && ctx.Err() == nil {
		f.follower.log.Warn("a derived board does not follow its sources", "board", f.board, "error", err)
	}
	if errors.Is(err, leaderboard.ErrUnknownRule) {
		f.follower.foreign.Store(true)
	}
	f.notBefore = time.Now().Add(min(maxBackoff, poll<<min(f.failures, 10)))
	f.failures, f.failure = f.failures+1, err
}

// succeeded ends a row of failures. mu is held.
func (f *boardTask) succeeded() {
	if f.failures > 0 {
		f.follower.log.Info("a derived board follows its sources again", "board", f.board, "was", f.failure)
	}
	f.failures, f.failure, f.notBefore = 0, nil, time.Time{}
}

// step takes a step once there is a permit for it. A rollover pauses for most of its time, for minutes: it has separate
// permits, so that other boards continue. While it waits for a permit it holds nothing, and then it starts over: a step
// that waited in the middle would keep a snapshot and a connection open. When too many wait, a later round wakes it
// again: a board that waits counts as awake, and would keep others from being woken.
func (f *boardTask) step(ctx context.Context) error {
	long, err := f.stepWith(ctx, f.follower.short, false)
	if err != nil || !long || !f.follower.queue.TryAcquire(1) {
		return err
	}
	defer f.follower.queue.Release(1)
	_, err = f.stepWith(ctx, f.follower.long, true)
	return err
}

// stepWith takes a step with a permit of the kind given, and reports whether nothing was done because it takes long.
func (f *boardTask) stepWith(ctx context.Context, kind *semaphore.Weighted, mayBeLong bool) (long bool, err error) {
	if err := kind.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer kind.Release(1)
	d := f.follower
	if d.isRecomputed(f.board) {
		return false, nil // no time to take steps
	}
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	start := time.Now()
	step, err := d.steps.FollowSources(ctx, f.board, mayBeLong)
	if err == nil && step.Long {
		return true, nil
	}
	took := time.Since(start)
	d.metrics.stepEnded(&step, took, err)
	if err != nil {
		return false, err
	}
	f.stepped(lastStep{behind: step.Behind, began: start})
	if step.State != api.DerivationStateFollowing {
		d.log.Info("a derived board has new sources", "board", f.board, "state", string(step.State), "members", step.Members,
			"rows", step.Rows, "seq", step.ToSeq, "took", took.Round(time.Millisecond).String())
	}
	return false, nil
}

// sleep waits for d, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
