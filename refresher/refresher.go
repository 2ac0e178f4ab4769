package refresher

import (
	"context"

	"leaderboard/leaderboard"
)

// Refresher refreshes copies, and has derived boards computed from scratch. Run is called once at most, the other methods may be called concurrently.
type Refresher struct {
	cfg    Config
	runner *runner
	copier *copier

	scheduler *scheduler // nil: no schedule
}

// New does no I/O and starts nothing.
func New(cfg Config) *Refresher {
	cfg.setDefaults()
	run := newRunner(&cfg)
	r := &Refresher{
		cfg: cfg, runner: run,
		copier: &copier{run, cfg.Copies, cfg.MinGap, cfg.LeaseTTL, cfg.Random, cfg.Logger},
	}
	if cfg.Copies != nil && cfg.Boards != nil {
		r.scheduler = newScheduler(&cfg, r.RunOnce, run.refuse)
	}
	return r
}

func (r *Refresher) join(req Request) *job {
	if req.Kind == leaderboard.RunKindRecompute {
		return r.runner.join(req, work{r.recompute, r.cfg.RecomputeTimeout})
	}
	return r.runner.join(req, work{r.copier.refresh, r.cfg.Timeout})
}

// recompute does a run that computes all entries of a derived board from scratch.
func (r *Refresher) recompute(ctx context.Context, j *job) (result, error) {
	r.runner.begin(ctx, j)
	run, err := r.cfg.Recompute(ctx, j.req.Ref.Board)
	return result{run.State, run.FromSeq, run.ToSeq, run.Rows}, err
}

// RunOnce does the run, or shares a run under way, and returns it finished. The error is the error of the run, or of
// ctx, whose end stops the waiting but not the run.
func (r *Refresher) RunOnce(ctx context.Context, req Request) (leaderboard.Run, error) {
	return r.join(req).wait(ctx)
}

// Start begins the run, or shares a run under way, and returns it as soon as it has an id; a run that cannot be done
// here is returned as it ended. wait returns it finished, like RunOnce. The error means that the history did not take
// the run, which continues all the same.
func (r *Refresher) Start(ctx context.Context, req Request) (run leaderboard.Run, wait func(context.Context) (leaderboard.Run, error), err error) {
	j := r.join(req)
	select {
	case <-j.announced:
	case <-ctx.Done():
		return leaderboard.Run{}, j.wait, ctx.Err()
	}
	if j.startErr == nil && r.cfg.Copies == nil && req.Kind != leaderboard.RunKindRecompute {
		select {
		case <-j.done:
			return j.run, j.wait, nil
		case <-ctx.Done():
		}
	}
	return j.first, j.wait, j.startErr
}

// Demand requests a copy that a reader found missing. It never blocks; wait returns nil once the copy exists. Copies of
// closed periods are not made, because readers may name any number of them. This process builds at most Config.Demands
// copies at once; beyond that, wait returns an error at once, and readers continue without a copy.
func (r *Refresher) Demand(ref leaderboard.PeriodRef) (wait func(context.Context) error) {
	if ref.Closed {
		return func(context.Context) error { return leaderboard.ErrPeriodClosed }
	}
	j := r.join(Request{Ref: ref, Kind: leaderboard.RunKindFull, Reason: leaderboard.RunReasonDemand})
	return func(ctx context.Context) error {
		_, err := j.wait(ctx)
		return err
	}
}

// Follow takes a board that is being read, as MySQL described it last. The schedule of its rules applies as long as
// Follow is called from time to time. It does not block.
func (r *Refresher) Follow(l leaderboard.Listing) {
	if r.scheduler != nil {
		r.scheduler.follow(l)
	}
}

// Run keeps the schedules of boards until ctx ends, then waits for the work that it began. Failures are logged and do not
// end it.
func (r *Refresher) Run(ctx context.Context) {
	if r.scheduler != nil {
		r.scheduler.run(ctx)
	}
}

// Close cancels the runs and waits for their ends to be recorded, or for the end of ctx.
func (r *Refresher) Close(ctx context.Context) error { return r.runner.close(ctx) }
