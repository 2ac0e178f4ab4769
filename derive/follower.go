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

// errLong: the step takes long, and as many as may are under way.
var errLong = errors.New("derive: the step has to wait for others that take long")

// seats are the places of a step among those under way. A turn of the day rests most of its time, for minutes: it has
// a place of its own, so that other boards go on. It waits for that one with nothing in its hands, and begins anew then:
// a step that waits has a snapshot open, and a connection.
type seats struct {
	r           *Runner
	short, long bool
}

// take waits for a place.
func (s *seats) take(ctx context.Context, place chan struct{}, taken *bool) error {
	select {
	case place <- struct{}{}:
		*taken = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// leave gives a place to others.
func (s *seats) leave(place chan struct{}, taken *bool) {
	if *taken {
		<-place
		*taken = false
	}
}

// change goes from the place of a step to that of a long one, if there is one.
func (s *seats) change() error {
	if !s.long {
		select {
		case s.r.long <- struct{}{}:
			s.long = true
		default:
			return errLong
		}
	}
	s.leave(s.r.slots, &s.short)
	return nil
}

func (s *seats) leaveAll() {
	s.leave(s.r.slots, &s.short)
	s.leave(s.r.long, &s.long)
}

// step takes a step once there is a place for it.
func (f *follower) step(ctx context.Context) error {
	at := &seats{r: f.runner}
	defer at.leaveAll()
	err := at.take(ctx, f.runner.slots, &at.short)
	if err == nil {
		err = f.stepAt(ctx, at)
	}
	if !errors.Is(err, errLong) {
		return err
	}
	at.leaveAll()
	if err := at.take(ctx, f.runner.long, &at.long); err != nil {
		return err
	}
	return f.stepAt(ctx, at)
}

func (f *follower) stepAt(ctx context.Context, at *seats) error {
	r := f.runner
	if r.recomputing(f.id) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.opts.StepTimeout)
	defer cancel()
	start := time.Now()
	step, err := r.truth.FollowSources(ctx, f.board, at.change)
	if errors.Is(err, errLong) {
		return err // nothing was done
	}
	took := time.Since(start)
	r.opts.OnStep(step, took, err)
	if err != nil {
		return err
	}
	f.at.Store(&standing{behind: step.Behind, began: start})
	if step.State != leaderboard.DerivationStateFollowing {
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
