package refresher

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"leaderboard"
)

// Copies are the copies to refresh, see package cache. Build and CatchUp may be called concurrently, in any order and
// from any process.
type Copies interface {
	// Build makes the copy anew.
	Build(ctx context.Context, p leaderboard.PeriodRef) (Outcome, error)
	// CatchUp applies the change log. That only a rebuild can help is no error but Outcome.NeedsBuild.
	CatchUp(ctx context.Context, p leaderboard.PeriodRef) (Outcome, error)
	Info(ctx context.Context, p leaderboard.PeriodRef) (Info, error)
	// Lease tries to take the period's lease without waiting; nil and no error: another has it.
	Lease(ctx context.Context, p leaderboard.PeriodRef, ttl time.Duration) (Lease, error)
}

// Lease is the right to build alone. Lost is closed when it may be another's.
type Lease interface {
	Lost() <-chan struct{}
	Release(ctx context.Context) error
}

// Outcome is what a build or a catch-up did.
type Outcome struct {
	FromSeq, ToSeq int64 // of the copy, before and after
	Rows           int64 // read or applied
	Refused        bool  // the build was older than the copy in place
	NeedsBuild     bool  // the catch-up could not do it
}

// Info describes the copy in place.
type Info struct {
	Exists       bool // there is one that can be read
	Damaged      bool // there is one that can not
	Short        bool // it can be read, and has too few entries left
	Seq          int64
	AsOf         leaderboard.Micros
	BuildStarted leaderboard.Micros // clock of Redis
	RedisNow     leaderboard.Micros
}

// Runs is the history. Its failures never fail a refresh.
type Runs interface {
	// StartRun records a run and returns it with its id and start.
	StartRun(ctx context.Context, run leaderboard.Run) (leaderboard.Run, error)
	FinishRun(ctx context.Context, run leaderboard.Run) error
}

// Boards is what the schedule follows. Boards lists by name, after a name; CurrentPeriod comes from MySQL itself,
// never from a cache.
type Boards interface {
	Boards(ctx context.Context, after string, limit int) ([]leaderboard.Board, error)
	CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error)
}

// Config is what a Refresher works with. Durations that are 0 get the default named beside them.
type Config struct {
	Copies Copies
	Runs   Runs   // nil: no history
	Boards Boards // for Run; nil when only RunOnce, Start and Demand are used

	MinGap   time.Duration // between the starts of two full builds of one period, 1 s
	LeaseTTL time.Duration // 5 s
	Timeout  time.Duration // for one run, waiting for the lease included, 2 min
	Reload   time.Duration // between two looks at the list of boards, 10 s
	Parallel int           // scheduled runs at once, 4

	Logger *slog.Logger
	Random func() float64        // 0 to 1, for jitter; math/rand when nil
	OnRun  func(leaderboard.Run) // metrics, at the end of each run; must not block; may be nil
}

// ErrClosed: the refresher is shutting down.
var ErrClosed = errors.New("refresher: closed")

// historyTimeout bounds one write to the history.
const historyTimeout = 2 * time.Second

// Refresher refreshes copies. All methods may be called concurrently.
type Refresher struct {
	cfg    Config
	ctx    context.Context // of all runs, ended by Close
	cancel context.CancelFunc
	wg     sync.WaitGroup // one per run

	mu     sync.Mutex
	slots  map[slotKey]*slot
	closed bool
}

// New does no I/O and starts nothing.
func New(cfg Config) *Refresher {
	setDefault(&cfg.MinGap, time.Second)
	setDefault(&cfg.LeaseTTL, 5*time.Second)
	setDefault(&cfg.Timeout, 2*time.Minute)
	setDefault(&cfg.Reload, 10*time.Second)
	setDefault(&cfg.Parallel, 4)
	if cfg.Runs == nil {
		cfg.Runs = noHistory{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	if cfg.OnRun == nil {
		cfg.OnRun = func(leaderboard.Run) {}
	}
	r := &Refresher{cfg: cfg, slots: map[slotKey]*slot{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Request asks for a run.
type Request struct {
	Ref    leaderboard.PeriodRef
	Kind   leaderboard.RunKind
	Reason leaderboard.RunReason
	Actor  string
	// AskedAt is when the wish arose, by the clock of this machine; the zero value is now. A full build that started
	// later, in any process, fulfils it.
	AskedAt time.Time
}

// RunOnce does the run, or shares one that does, and returns it finished. The error is that of the run, or of ctx,
// whose end stops the waiting but not the run.
func (r *Refresher) RunOnce(ctx context.Context, req Request) (leaderboard.Run, error) {
	return r.join(req).wait(ctx)
}

// Start begins the run, or shares one, and returns it as soon as it has an id. wait returns it finished, as RunOnce
// does. The error says that the history did not take the run, which goes on all the same.
func (r *Refresher) Start(ctx context.Context, req Request) (run leaderboard.Run, wait func(context.Context) (leaderboard.Run, error), err error) {
	j := r.join(req)
	select {
	case <-j.announced:
		return j.first, j.wait, j.startErr
	case <-ctx.Done():
		return leaderboard.Run{}, j.wait, ctx.Err()
	}
}

// Demand asks for a copy because a reader found none. It never blocks; wait returns nil once there is one.
func (r *Refresher) Demand(ref leaderboard.PeriodRef) (wait func(context.Context) error) {
	j := r.join(Request{Ref: ref, Kind: leaderboard.RunKindFull, Reason: leaderboard.RunReasonDemand})
	return func(ctx context.Context) error {
		_, err := j.wait(ctx)
		return err
	}
}

// Close cancels the runs and waits for their ends to be recorded, or for the end of ctx.
func (r *Refresher) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	ended := make(chan struct{})
	go func() {
		r.wg.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type noHistory struct{}

func (noHistory) StartRun(_ context.Context, run leaderboard.Run) (leaderboard.Run, error) {
	return run, nil
}
func (noHistory) FinishRun(context.Context, leaderboard.Run) error { return nil }
