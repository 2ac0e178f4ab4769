package refresher

import (
	"context"
	"errors"
	"time"

	"leaderboard"
)

// leasePoll is how often a run looks whether the lease is free, or the work done by its holder.
const leasePoll = 25 * time.Millisecond

// catchUp is the work of an incremental run. What the log cannot do becomes a build, unless the run comes from the
// schedule and there is no copy.
func (r *Refresher) catchUp(ctx context.Context, j *job) (Outcome, leaderboard.RunState, error) {
	r.begin(j)
	out, err := r.cfg.Copies.CatchUp(ctx, j.req.Ref)
	if err != nil || !out.NeedsBuild {
		return out, leaderboard.RunStateDone, err
	}
	if j.req.Reason == leaderboard.RunReasonSchedule || j.req.Reason == leaderboard.RunReasonDynamic {
		info, err := r.cfg.Copies.Info(ctx, j.req.Ref)
		if err != nil || !info.Exists {
			return Outcome{}, leaderboard.RunStateDone, err
		}
	}
	r.mu.Lock()
	j.forced = false // a copy that the log can bring up to date is enough, whoever builds it
	r.mu.Unlock()
	return r.build(ctx, j)
}

// build is the work of a full run: wait for the turn, then build, unless another process has done it in the meantime.
// Until the turn comes, more requests may share the run.
func (r *Refresher) build(ctx context.Context, j *job) (Outcome, leaderboard.RunState, error) {
	for {
		if err := r.pause(ctx, r.localGap(j)); err != nil {
			return Outcome{}, "", err
		}
		v, err := r.look(ctx, j)
		if err != nil || v.shared {
			return v.out, leaderboard.RunStateShared, err
		}
		if v.gap > 0 {
			if err := r.pause(ctx, v.gap); err != nil {
				return Outcome{}, "", err
			}
			continue
		}
		out, state, again, err := r.buildAlone(ctx, j)
		if !again {
			return out, state, err
		}
		if err := r.pause(ctx, leasePoll+time.Duration(r.cfg.Random()*float64(leasePoll))); err != nil {
			return Outcome{}, "", err
		}
	}
}

// buildAlone builds under the lease. again: the lease is taken, or somebody built just before we got it.
func (r *Refresher) buildAlone(ctx context.Context, j *job) (out Outcome, state leaderboard.RunState, again bool, err error) {
	lease, err := r.cfg.Copies.Lease(ctx, j.req.Ref, r.cfg.LeaseTTL)
	if err != nil || lease == nil {
		return Outcome{}, "", err == nil, err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), historyTimeout)
		defer cancel()
		if err := lease.Release(ctx); err != nil {
			r.cfg.Logger.Warn("lease is left to its term", "period", j.req.Ref.ID, "error", err)
		}
	}()
	if v, err := r.look(ctx, j); err != nil || v.shared || v.gap > 0 {
		return v.out, leaderboard.RunStateShared, err == nil && !v.shared, err
	}
	r.begin(j)
	r.mu.Lock()
	j.slot.built = time.Now()
	r.mu.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-lease.Lost():
			cancel(errLeaseLost)
		case <-ctx.Done():
		}
	}()
	out, err = r.cfg.Copies.Build(ctx, j.req.Ref)
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errLeaseLost):
		return out, "", false, errors.Join(errLeaseLost, err)
	case out.Refused:
		return out, leaderboard.RunStateRefused, false, err
	}
	return out, leaderboard.RunStateDone, false, err
}

// view is what a look at the copy says about a job.
type view struct {
	shared bool          // another build has done the work
	gap    time.Duration // to wait before the next build of this period may start
	out    Outcome       // when shared
}

func (r *Refresher) look(ctx context.Context, j *job) (view, error) {
	sent := time.Now()
	info, err := r.cfg.Copies.Info(ctx, j.req.Ref)
	if err != nil {
		return view{}, err
	}
	// Redis read its clock after sent: this way around the moment of asking comes out late rather than early, so a
	// build is never taken to be newer than a request that it is older than.
	asked, forced := r.wishes(j)
	askedRedis := info.RedisNow + leaderboard.Micros(asked.Sub(sent).Microseconds())
	if info.Exists && !info.Short && info.BuildStarted >= askedRedis {
		return view{shared: true, out: Outcome{FromSeq: info.Seq, ToSeq: info.Seq}}, nil
	}
	if !forced && info.Exists {
		out, err := r.cfg.Copies.CatchUp(ctx, j.req.Ref)
		if err != nil || !out.NeedsBuild {
			return view{shared: err == nil, out: out}, err
		}
	}
	since := time.Duration(info.RedisNow-info.BuildStarted) * time.Microsecond
	return view{gap: r.cfg.MinGap - since}, nil
}

// localGap is how long to wait since the last start of a build by this process, also when that build failed and left
// no trace in Redis.
func (r *Refresher) localGap(j *job) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg.MinGap - time.Since(j.slot.built)
}

// pause waits for d, or returns the error of ctx.
func (r *Refresher) pause(ctx context.Context, d time.Duration) error {
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
