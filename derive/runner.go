package derive

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

// Truth takes the steps. Its methods block until MySQL has answered or ctx ends, and may be called concurrently.
type Truth interface {
	// DerivedBoards lists derived boards in the order of their ids, behind after, at most limit.
	DerivedBoards(ctx context.Context, after int64, limit int) ([]leaderboard.Board, error)
	// LeadDerived says whether this process leads a board, and makes it so when nobody does.
	LeadDerived(ctx context.Context, boardID int64) (bool, error)
	YieldDerived(ctx context.Context, boardID int64) error
	// FollowSources takes one step. It calls long, which does not block, before work that takes long, and nothing is locked
	// then; an error of long ends the step and is in the one returned. Errors: ErrBoardNotFound, ErrNotDerived,
	// ErrOverloaded when others were faster.
	FollowSources(ctx context.Context, board string, long func() error) (leaderboard.DeriveStep, error)
	// Recompute computes all entries anew. The step's State is DerivationStateComputing unless others have done so since the call. Errors as
	// of FollowSources.
	Recompute(ctx context.Context, board string) (leaderboard.DeriveStep, error)
}

// Options adjust a Runner; the zero value works. Durations that are 0 get the default named beside them.
type Options struct {
	Poll        time.Duration // between two looks at the boards and their sources, 1 s
	Gap         time.Duration // between two steps of a board at least, 50 ms
	StepTimeout time.Duration // for one step, 30 min: a board may be computed anew in it
	Parallel    int           // steps at once, 2, and as many besides that take long

	Logger *slog.Logger
	OnStep func(step leaderboard.DeriveStep, took time.Duration, err error) // metrics; must not block; may be nil
}

const (
	listChunk  = 1000
	maxBackoff = 30 * time.Second
	// yieldTimeout bounds what is done behind the end of Run.
	yieldTimeout = time.Second
)

// Runner follows the sources of all derived boards. Run is called once, the other methods by anybody.
type Runner struct {
	truth   Truth
	history History
	opts    Options
	slots   chan struct{}   // one for each step under way
	long    chan struct{}   // one for each step under way that takes long
	ctx     context.Context // of recomputations, ended by Close
	cancel  context.CancelFunc

	mu     sync.Mutex
	jobs   map[int64]*job // by board id, guarded by mu
	closed bool           // guarded by mu: no recomputation begins any more
	wg     sync.WaitGroup // one per recomputation, added to under mu

	followers map[int64]*follower // by board id; Run's goroutine alone
	following sync.WaitGroup      // one per follower; Run's goroutine alone adds and waits
	bySource  atomic.Pointer[map[string][]*follower]
}

// New does no I/O and starts nothing.
func New(truth Truth, history History, opts Options) *Runner {
	setDefault(&opts.Poll, time.Second)
	setDefault(&opts.Gap, 50*time.Millisecond)
	setDefault(&opts.StepTimeout, 30*time.Minute)
	setDefault(&opts.Parallel, 2)
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.OnStep == nil {
		opts.OnStep = func(leaderboard.DeriveStep, time.Duration, error) {}
	}
	r := &Runner{
		truth: truth, history: history, opts: opts, slots: make(chan struct{}, opts.Parallel), long: make(chan struct{}, opts.Parallel),
		jobs: map[int64]*job{}, followers: map[int64]*follower{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.bySource.Store(&map[string][]*follower{})
	return r
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Notify tells of a commit to a period of a board. It does not block.
func (r *Runner) Notify(ref leaderboard.PeriodRef) {
	for _, f := range (*r.bySource.Load())[ref.Board] {
		f.wakeUp()
	}
}

// Lag is how far the boards that this process leads are behind their sources: the changes that the last step of the worst
// one found, and the time since that of the oldest began. What was committed before that is reflected.
func (r *Runner) Lag() (changes int64, behind time.Duration) {
	seen := map[*follower]bool{}
	for _, followers := range *r.bySource.Load() {
		for _, f := range followers {
			at := f.at.Load()
			if at == nil || seen[f] {
				continue
			}
			seen[f] = true
			changes, behind = max(changes, at.behind), max(behind, time.Since(at.began))
		}
	}
	return changes, behind
}

// Run follows until ctx ends, and returns when no step is under way; Close ends recomputations.
func (r *Runner) Run(ctx context.Context) {
	for {
		if err := r.list(ctx); err != nil && ctx.Err() == nil {
			r.opts.Logger.Warn("derived boards cannot be listed", "error", err)
		}
		if !sleep(ctx, r.opts.Poll) {
			break
		}
	}
	r.following.Wait()
}

// list brings the followers in line with the boards that there are.
func (r *Runner) list(ctx context.Context) error {
	found, bySource := map[int64]bool{}, map[string][]*follower{}
	for after := int64(0); ; {
		boards, err := r.truth.DerivedBoards(ctx, after, listChunk)
		if err != nil {
			return err
		}
		for _, b := range boards {
			after = b.ID
			if b.Rules.Derive == nil {
				continue
			}
			found[b.ID] = true
			f := r.followers[b.ID]
			if f == nil || f.version != b.Version {
				f = r.follow(ctx, b, f)
			}
			for _, source := range b.Rules.Derive.From {
				bySource[source.Board] = append(bySource[source.Board], f)
			}
		}
		if len(boards) < listChunk {
			break
		}
	}
	for id, f := range r.followers {
		if !found[id] {
			f.cancel()
			delete(r.followers, id)
		}
	}
	r.bySource.Store(&bySource)
	return nil
}

// follow has a follower for a board at its present version.
func (r *Runner) follow(ctx context.Context, b leaderboard.Board, f *follower) *follower {
	if f != nil {
		f.version = b.Version
		f.wakeUp()
		return f
	}
	f = &follower{runner: r, id: b.ID, board: b.Name, version: b.Version, wake: make(chan struct{}, 1)}
	ctx, f.cancel = context.WithCancel(ctx)
	r.followers[b.ID] = f
	r.following.Go(func() { f.run(ctx) })
	return f
}

// sleep returns false when ctx ends.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
