package derive

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"leaderboard"
)

// follower takes the steps of one board.
type follower struct {
	runner  *Runner
	id      int64
	board   string
	version int64 // Run's goroutine alone
	cancel  context.CancelFunc
	wake    chan struct{} // holds a value while a source may have changed
	at      atomic.Pointer[standing]
}

// standing is what the last step found; nil while another process leads.
type standing struct {
	behind int64
	began  time.Time
}

func (f *follower) wakeUp() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// run takes steps until ctx ends.
func (f *follower) run(ctx context.Context) {
	opts := &f.runner.opts
	var (
		lead  bool
		asked time.Time
		err   error
	)
	defer func() {
		if lead {
			f.yield(ctx)
		}
	}()
	for failures := 0; ; {
		start := time.Now()
		if err = nil; !lead || start.Sub(asked) >= opts.Poll {
			lead, err = f.runner.truth.LeadDerived(ctx, f.id)
			asked = start
		}
		if lead && err == nil {
			err = f.step(ctx)
		}
		switch {
		case errors.Is(err, leaderboard.ErrBoardNotFound), errors.Is(err, leaderboard.ErrNotDerived):
			err = nil // the list will say so
			f.at.Store(nil)
		case !lead:
			f.at.Store(nil)
		}
		if failures++; err == nil {
			failures = 0
		} else if ctx.Err() == nil {
			opts.Logger.Warn("a derived board does not follow its sources", "board", f.board, "error", err)
		}
		if !f.wait(ctx, time.Since(start), failures, lead) {
			return
		}
	}
}

// restShare is what part of the time that a step took the follower rests at least.
const restShare = 4

// wait lets some time pass, and returns false when ctx ends: at least a part of the time that the step took, behind failures
// longer and longer, and then until there is something to do.
func (f *follower) wait(ctx context.Context, took time.Duration, failures int, lead bool) bool {
	opts := &f.runner.opts
	rest := max(opts.Gap, took/restShare)
	if failures > 0 {
		rest = max(rest, min(maxBackoff, opts.Poll<<min(failures-1, 10)))
	}
	if !sleep(ctx, rest) {
		return false
	}
	timer := time.NewTimer(opts.Poll)
	defer timer.Stop()
	wake := f.wake
	if !lead {
		wake = nil
	}
	select {
	case <-wake:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func (f *follower) step(ctx context.Context) error {
	r := f.runner
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.slots }()
	if r.recomputing(f.id) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.opts.StepTimeout)
	defer cancel()
	start := time.Now()
	step, err := r.truth.FollowSources(ctx, f.board)
	took := time.Since(start)
	r.opts.OnStep(step, took, err)
	if err != nil {
		return err
	}
	f.at.Store(&standing{behind: step.Behind, began: start})
	if step.State != leaderboard.Following {
		r.opts.Logger.Info("a derived board has new sources", "board", f.board, "state", string(step.State), "members", step.Members,
			"rows", step.Rows, "seq", step.ToSeq, "took", took.Round(time.Millisecond).String())
	}
	return nil
}

// yield leaves the board to others at once; without it they would wait until the connection is gone.
func (f *follower) yield(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), yieldTimeout)
	defer cancel()
	if err := f.runner.truth.YieldDerived(ctx, f.id); err != nil {
		f.runner.opts.Logger.Debug("a derived board is not yielded", "board", f.board, "error", err)
	}
}
