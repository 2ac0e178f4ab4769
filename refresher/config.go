package refresher

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// Config is the configuration of a Refresher. Durations and numbers that are 0 get the default in their comment.
type Config struct {
	Runs Runs // the history

	Copies   Copies        // nil: no Redis, runs of copies fail
	Boards   Boards        // for the schedule of Run; nil: none
	Feed     *feed.Feed    // shows that boards have changed; nil: lists of boards are read each time
	MinGap   time.Duration // between the starts of two full builds of one period, 1 s
	LeaseTTL time.Duration // 5 s
	Timeout  time.Duration // for one run of a copy, waiting for the lease included, 2 min
	Reload   time.Duration // between two looks for boards with a cron expression, 1 min
	Parallel int           // scheduled runs at once, 4
	Demands  int           // runs for readers at once, 4

	// Memory returns the part of its memory that is used by the Redis with the copy of a period, 0 where that is not known;
	// nil: no Redis ever fills up.
	Memory func(ctx context.Context, p leaderboard.PeriodRef) (float64, error)

	Derived     Derived       // nil: no derived boards
	Poll        time.Duration // between two looks at the derived boards and their sources, 1 s
	StepGap     time.Duration // between two steps of a board at least, 50 ms
	StepTimeout time.Duration // for one step, 30 min: a board may be computed from scratch in it
	Steps       int           // steps at once, 2, and as many again that take long

	Logger   *slog.Logger
	Span     trace.Span     // the parent of the spans of runs that no request has asked for
	Random   func() float64 // 0 to 1, for jitter; math/rand when nil
	Observer Observer       // nil: no observer

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
	if c.Observer == nil {
		c.Observer = unobserved{}
	}
}

// Runs is the history of runs. Its failures never fail a run.
type Runs interface {
	// StartRun records a run and returns it with its id and start.
	StartRun(ctx context.Context, run leaderboard.Run) (leaderboard.Run, error)
	// FinishRun records how a run ended and returns the recorded run: it has failed if another process ended it before.
	FinishRun(ctx context.Context, run leaderboard.Run) (leaderboard.Run, error)
}

// Copies are the copies to refresh, see package topn. Build and CatchUp may be called concurrently, in any order and
// from any process.
type Copies interface {
	// Build makes the copy from scratch.
	Build(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyOutcome, error)
	// CatchUp applies the change log. Errors: leaderboard.ErrNeedsBuild when only a build can help.
	CatchUp(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyOutcome, error)
	Info(ctx context.Context, p leaderboard.PeriodRef) (leaderboard.CopyInfo, error)
	// Lease tries to take the period's lease without waiting; nil and no error: another process has it.
	Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (leaderboard.Lease, error)
}

// Derived takes the steps of derived boards. Its methods block until MySQL has answered or ctx ends, and may be called
// concurrently.
type Derived interface {
	// DerivedBoards lists derived boards in the order of their ids, after the given id, at most limit.
	DerivedBoards(ctx context.Context, after int64, limit int) ([]*leaderboard.DerivedBoard, error)
	// LeadDerived reports which of the boards this process leads. It takes the lead of boards that no other process
	// leads.
	LeadDerived(ctx context.Context, boardIDs []int64) ([]bool, error)
	YieldDerived(ctx context.Context) error
	// MovedDerived reports which of the boards may have work for a step.
	MovedDerived(ctx context.Context, boardIDs []int64) ([]bool, error)
	// FollowSources takes one step. A long step is taken only if it may be long; otherwise nothing is done, and the
	// returned step has Long set.
	FollowSources(ctx context.Context, board string, long bool) (leaderboard.DeriveStep, error)
	// Recompute computes all entries from scratch. The step's State is DerivationStateComputing unless another process has
	// computed them since the call. Errors: the errors of FollowSources.
	Recompute(ctx context.Context, board string) (leaderboard.DeriveStep, error)
}

// Boards finds the boards that have a cron expression, for the schedule, and compares copies with the database. Boards
// lists by name, after a name; CurrentPeriod comes from MySQL itself, never from a cache.
type Boards interface {
	Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error)
	CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error)
}
