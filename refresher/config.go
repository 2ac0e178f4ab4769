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

	// Recompute computes all entries of a derived board from scratch. The run has only FromSeq, ToSeq, Rows and State:
	// RunStateDone, or RunStateShared when another process has computed the entries since the call. Errors: ErrBoardNotFound,
	// ErrNotDerived, ErrUnavailable. nil: no derived boards.
	Recompute        func(ctx context.Context, board string) (leaderboard.Run, error)
	RecomputeTimeout time.Duration // for one run of Recompute, 30 min

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
	c.RecomputeTimeout = cmp.Or(c.RecomputeTimeout, 30*time.Minute)
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
	if c.Recompute == nil {
		c.Recompute = func(context.Context, string) (leaderboard.Run, error) {
			return leaderboard.Run{}, leaderboard.ErrNotDerived
		}
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

// Boards finds the boards that have a cron expression, for the schedule, and compares copies with the database. Boards
// lists by name, after a name; CurrentPeriod comes from MySQL itself, never from a cache.
type Boards interface {
	Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error)
	CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error)
}
