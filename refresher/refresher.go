package refresher

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
)

// Config is what a Refresher works with. Durations and numbers that are 0 get the default named beside them.
type Config struct {
	Runs Runs // nil: no history

	Copies   Copies        // nil: no Redis, runs of copies fail
	Boards   Boards        // for the schedule of Run; nil: none
	MinGap   time.Duration // between the starts of two full builds of one period, 1 s
	LeaseTTL time.Duration // 5 s
	Timeout  time.Duration // for one run of a copy, waiting for the lease included, 2 min
	Reload   time.Duration // between two looks for boards with a cron expression, 1 min
	Parallel int           // scheduled runs at once, 4
	Demands  int           // runs for readers at once, 4

	// Memory returns which part of its memory the Redis uses that has the copy of a period, 0 where nobody knows; nil: no Redis
	// ever fills up.
	Memory func(ctx context.Context, p leaderboard.PeriodRef) (float64, error)

	Derived     Derived       // nil: no derived boards
	Poll        time.Duration // between two looks at the derived boards and their sources, 1 s
	StepGap     time.Duration // between two steps of a board at least, 50 ms
	StepTimeout time.Duration // for one step, 30 min: a board may be computed from scratch in it
	Steps       int           // steps at once, 2, and as many besides that take long

	Logger *slog.Logger
	Span   trace.Span                                                       // that those of runs are in which no request has asked for
	Random func() float64                                                   // 0 to 1, for jitter; math/rand when nil
	OnRun  func(leaderboard.Run)                                            // metrics, at the end of each run; must not block; may be nil
	OnStep func(step leaderboard.DeriveStep, took time.Duration, err error) // metrics; must not block; may be nil

	OnLate func() // metrics; a tick came before the former had ended; must not block; may be nil

	wall wallClock // of cron expressions; wallOf, but in tests
}

func (c *Config) setDefaults() {
	c.MinGap = cmp.Or(c.MinGap, time.Second)
	c.LeaseTTL = cmp.Or(c.LeaseTTL, 5*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 2*time.Minute)
	c.Reload = cmp.Or(c.Reload, time.Minute)
	c.Parallel = cmp.Or(c.Parallel, 4)
	c.Demands = cmp.Or(c.Demands, 4)
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.StepGap = cmp.Or(c.StepGap, 50*time.Millisecond)
	c.StepTimeout = cmp.Or(c.StepTimeout, 30*time.Minute)
	c.Steps = cmp.Or(c.Steps, 2)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Random == nil {
		c.Random = rand.Float64
	}
	if c.wall == nil {
		c.wall = wallOf
	}
	if c.Memory == nil {
		c.Memory = func(context.Context, leaderboard.PeriodRef) (float64, error) { return 0, nil }
	}
	if c.OnLate == nil {
		c.OnLate = func() {}
	}
	if c.OnRun == nil {
		c.OnRun = func(leaderboard.Run) {}
	}
	if c.OnStep == nil {
		c.OnStep = func(leaderboard.DeriveStep, time.Duration, error) {}
	}
}

// Refresher refreshes copies and derived boards. Run is called once at most, the other methods by anybody.
type Refresher struct {
	cfg     Config
	runner  *runner
	copier  *copier
	deriver *deriver

	scheduler *scheduler // nil: no schedule
}

// New does no I/O and starts nothing.
func New(cfg Config) *Refresher {
	cfg.setDefaults()
	run := newRunner(&cfg)
	r := &Refresher{
		cfg: cfg, runner: run, deriver: newDeriver(run, &cfg),
		copier: &copier{run, cfg.Copies, cfg.MinGap, cfg.LeaseTTL, cfg.Random, cfg.Logger},
	}
	if cfg.Copies != nil && cfg.Boards != nil {
		r.scheduler = newScheduler(&cfg, r.RunOnce, run.refuse)
	}
	return r
}

func (r *Refresher) join(req Request) *job {
	if req.Kind == leaderboard.RunKindRecompute {
		return r.runner.join(req, work{r.deriver.recompute, r.cfg.StepTimeout})
	}
	return r.runner.join(req, work{r.copier.refresh, r.cfg.Timeout})
}

// RunOnce does the run, or shares one that does, and returns it finished. The error is that of the run, or of ctx,
// whose end stops the waiting but not the run.
func (r *Refresher) RunOnce(ctx context.Context, req Request) (leaderboard.Run, error) {
	return r.join(req).wait(ctx)
}

// Start begins the run, or shares one, and returns it as soon as it has an id; one that cannot be done here, as it
// ended. wait returns it finished, as RunOnce does. The error says that the history did not take the run, which goes on
// all the same.
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

// Demand asks for a copy because a reader found none. It never blocks; wait returns nil once there is one. Closed periods
// get none, for anybody can read any number of them, and this process makes Config.Demands at once; for others wait
// returns an error at once, and readers go on without a copy.
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

// Follow tells of a board that is being read, as MySQL described it last: the schedule of its rules holds for as long
// as it is called now and then. It does not block.
func (r *Refresher) Follow(l leaderboard.Listing) {
	if r.scheduler != nil {
		r.scheduler.follow(l)
	}
}

// Run keeps the schedules of boards and follows the sources of derived boards until ctx ends, then waits for what
// it began. Failures are logged and do not end it.
func (r *Refresher) Run(ctx context.Context) {
	var wg sync.WaitGroup
	if r.scheduler != nil {
		wg.Go(func() { r.scheduler.run(ctx) })
	}
	if r.cfg.Derived != nil {
		wg.Go(func() { r.deriver.run(ctx) })
	}
	wg.Wait()
}

// Notify tells of a commit to a period of a board. It does not block.
func (r *Refresher) Notify(ref leaderboard.PeriodRef) { r.deriver.notify(ref) }

// Lag returns how far the derived boards that this process leads are behind their sources: the changes that the last
// step of the worst one found, and the time since that of the oldest began. What was committed before that is
// reflected.
func (r *Refresher) Lag() (changes int64, behind time.Duration) { return r.deriver.lag() }

// Close cancels the runs and waits for their ends to be recorded, or for the end of ctx.
func (r *Refresher) Close(ctx context.Context) error { return r.runner.close(ctx) }
