package refresher

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

const (
	// leasePoll is how often a run looks whether the lease is free, or the work done by its holder.
	leasePoll = 25 * time.Millisecond
	// releaseTimeout bounds giving a lease back; its term ends it otherwise.
	releaseTimeout = 2 * time.Second
)

// copier does the runs of copies.
type copier struct {
	*runner
	copies   Copies
	minGap   time.Duration // between the starts of two builds of a period
	leaseTTL time.Duration
	random   func() float64
	log      *slog.Logger
}

// refresh does a run of a copy.
func (c *copier) refresh(ctx context.Context, j *job) (result, error) {
	switch {
	case c.copies == nil:
		return result{}, errNoRedis
	case j.req.Kind == leaderboard.RunKindIncremental:
		return c.catchUp(ctx, j)
	default:
		return c.build(ctx, j)
	}
}

func resultOf(state leaderboard.RunState, out leaderboard.CopyOutcome) result {
	return result{state, out.FromSeq, out.ToSeq, out.Rows}
}

// catchUp does an incremental run. When the log does not suffice it becomes a build, unless the run comes from the schedule and
// there is no copy.
func (c *copier) catchUp(ctx context.Context, j *job) (result, error) {
	c.begin(ctx, j)
	out, err := c.copies.CatchUp(ctx, j.req.Ref)
	if !errors.Is(err, leaderboard.ErrNeedsBuild) {
		return resultOf(leaderboard.RunStateDone, out), err
	}
	if j.req.Reason == leaderboard.RunReasonSchedule || j.req.Reason == leaderboard.RunReasonDynamic {
		info, err := c.copies.Info(ctx, j.req.Ref)
		if err != nil || !info.Exists {
			return result{state: leaderboard.RunStateDone}, err
		}
	}
	c.mu.Lock()
	j.forced = false // a copy that the log can bring up to date is enough, whichever process builds it
	c.mu.Unlock()
	return c.build(ctx, j)
}

// build does a full run: it waits until it may build, then builds, unless another process has done it in the meantime.
// Until then more requests may share the run.
func (c *copier) build(ctx context.Context, j *job) (result, error) {
	for {
		if err := sleep(ctx, c.localGap(j)); err != nil {
			return result{}, err
		}
		out, wait, err := c.attempt(ctx, j)
		if wait == 0 || err != nil {
			return out, err
		}
		if err := sleep(ctx, wait); err != nil {
			return result{}, err
		}
	}
}

// attempt takes the lease, looks at the copy in place and builds, unless the copy is enough. wait is when to try again:
// another process has the lease, or the last build began a moment ago.
func (c *copier) attempt(ctx context.Context, j *job) (out result, wait time.Duration, err error) {
	lease, err := c.copies.Lease(ctx, j.req.Ref, c.leaseTTL)
	if err != nil {
		return result{}, 0, err
	}
	if lease != nil {
		defer c.release(ctx, j, lease)
	}
	found, err := c.check(ctx, j)
	switch {
	case err != nil || found.shared:
		return resultOf(leaderboard.RunStateShared, found.out), 0, err
	case found.gap > 0:
		return result{}, found.gap, nil
	}
	// A Redis that lost the copy a moment ago has lost the lease too, and may have given it to another process.
	held := false
	if lease != nil {
		held, err = lease.Held(ctx)
	}
	if err != nil || !held {
		return result{}, leasePoll + time.Duration(c.random()*float64(leasePoll)), err
	}
	out, err = c.buildUnder(ctx, j, lease)
	return out, 0, err
}

// release gives a lease back.
func (c *copier) release(ctx context.Context, j *job, lease leaderboard.Lease) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := lease.Release(ctx); err != nil {
		c.log.WarnContext(ctx, "lease is left to its term", "period", j.req.Ref.ID, "error", err)
	}
}

// buildUnder builds until the lease is lost.
func (c *copier) buildUnder(ctx context.Context, j *job, lease leaderboard.Lease) (result, error) {
	c.begin(ctx, j)
	c.mu.Lock()
	j.slot.began = time.Now()
	c.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-lease.Lost():
			cancel(errLeaseLost)
		case <-ctx.Done():
		}
	}()
	building, span := trace.Start(ctx, "build", trace.KindInternal)
	built, err := c.copies.Build(building, j.req.Ref)
	span.Done(err)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errLeaseLost):
		err = errors.Join(errLeaseLost, err)
	case built.Refused:
		return resultOf(leaderboard.RunStateRefused, built), nil
	}
	return resultOf(leaderboard.RunStateDone, built), err
}

// found is the state of the copy in place, as a job sees it.
type found struct {
	shared bool                    // another build has done the work
	gap    time.Duration           // to wait before the next build of this period may start
	out    leaderboard.CopyOutcome // when shared
}

// check looks at the copy in place, and brings it up to date where that is enough.
func (c *copier) check(ctx context.Context, j *job) (found, error) {
	sent := time.Now()
	info, err := c.copies.Info(ctx, j.req.Ref)
	if err != nil {
		return found{}, err
	}
	c.mu.Lock()
	asked, forced := j.asked, j.forced
	c.mu.Unlock()
	// Redis read its clock after sent, so the time of the request comes out late rather than early: a build that is older
	// than the request never counts as newer.
	askedRedis := info.RedisNow + leaderboard.Micros(asked.Sub(sent).Microseconds())
	// A build of the future was before the clock of Redis went back: it is older than the request, and no gap follows from it.
	thisEra := info.BuildStarted <= info.RedisNow
	if info.Exists && !info.Short && thisEra && info.BuildStarted >= askedRedis && c.conclude(j, asked, forced) {
		return found{shared: true, out: leaderboard.CopyOutcome{FromSeq: info.Seq, ToSeq: info.Seq}}, nil
	}
	if !forced && info.Exists {
		out, err := c.copies.CatchUp(ctx, j.req.Ref)
		if !errors.Is(err, leaderboard.ErrNeedsBuild) && (err != nil || c.conclude(j, asked, forced)) {
			return found{shared: err == nil, out: out}, err
		}
	}
	if !thisEra {
		return found{}, nil
	}
	since := time.Duration(info.RedisNow-info.BuildStarted) * time.Microsecond
	return found{gap: c.minGap - since}, nil
}

// localGap returns how long to wait since the last start of a build by this process, also when that build failed and
// left no trace in Redis.
func (c *copier) localGap(j *job) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.minGap - time.Since(j.slot.began)
}
