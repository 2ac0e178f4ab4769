package refresher

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"leaderboard"
)

// Derived takes the steps of derived boards. Its methods block until MySQL has answered or ctx ends, and may be called
// concurrently.
type Derived interface {
	// DerivedBoards lists derived boards in the order of their ids, from the one after the id given, at most limit.
	DerivedBoards(ctx context.Context, after int64, limit int) ([]leaderboard.Board, error)
	// LeadDerived says whether this process leads a board, and makes it so when nobody does.
	LeadDerived(ctx context.Context, boardID int64) (bool, error)
	YieldDerived(ctx context.Context, boardID int64) error
	// FollowSources takes one step. One that takes long is taken only if it may be long; otherwise nothing is done, and the
	// step says that it is Long. Errors: ErrBoardNotFound, ErrNotDerived, ErrOverloaded when others were faster.
	FollowSources(ctx context.Context, board string, long bool) (leaderboard.DeriveStep, error)
	// Recompute computes all entries from scratch. The step's State is DerivationStateComputing unless others have done so
	// since the call. Errors as of FollowSources.
	Recompute(ctx context.Context, board string) (leaderboard.DeriveStep, error)
}

const (
	listChunk  = 1000
	maxBackoff = 30 * time.Second
	// yieldTimeout bounds giving up the lead at the end of Run.
	yieldTimeout = time.Second
	// restShare is what part of the time that a step took its follower rests at least.
	restShare = 4
)

// deriver follows the sources of all derived boards.
type deriver struct {
	runner      *runner
	derived     Derived
	poll, gap   time.Duration
	stepTimeout time.Duration
	log         *slog.Logger
	onStep      func(step leaderboard.DeriveStep, took time.Duration, err error)

	short, long *semaphore.Weighted // of steps under way, and of those among them that take long

	followers map[int64]*follower // by board id; run's goroutine alone
	following sync.WaitGroup      // one per follower; run's goroutine alone adds and waits
	bySource  atomic.Pointer[map[string][]*follower]
}

func newDeriver(run *runner, cfg *Config) *deriver {
	d := &deriver{
		runner: run, derived: cfg.Derived, poll: cfg.Poll, gap: cfg.StepGap, stepTimeout: cfg.StepTimeout, log: cfg.Logger, onStep: cfg.OnStep,
		short: semaphore.NewWeighted(int64(cfg.Steps)), long: semaphore.NewWeighted(int64(cfg.Steps)), followers: map[int64]*follower{},
	}
	d.bySource.Store(&map[string][]*follower{})
	return d
}

// recompute does a run that computes all entries of a derived board from scratch, once there is a permit for a long step.
func (d *deriver) recompute(ctx context.Context, j *job) (result, error) {
	d.runner.begin(ctx, j)
	if err := d.long.Acquire(ctx, 1); err != nil {
		return result{}, err
	}
	defer d.long.Release(1)
	start := time.Now()
	step, err := d.derived.Recompute(ctx, j.req.Ref.Board)
	d.onStep(step, time.Since(start), err)
	state := leaderboard.RunStateDone
	if step.State != leaderboard.DerivationStateComputing {
		state = leaderboard.RunStateShared // whoever follows the board was faster: the rows are theirs
	}
	return result{state, step.FromSeq, step.ToSeq, step.Rows}, err
}

func (d *deriver) notify(ref leaderboard.PeriodRef) {
	for _, f := range (*d.bySource.Load())[ref.Board] {
		f.wakeUp()
	}
}

func (d *deriver) lag() (changes int64, behind time.Duration) {
	seen := map[*follower]bool{}
	for _, followers := range *d.bySource.Load() {
		for _, f := range followers {
			last := f.last.Load()
			if last == nil || seen[f] {
				continue
			}
			seen[f] = true
			changes, behind = max(changes, last.behind), max(behind, time.Since(last.began))
		}
	}
	return changes, behind
}

// run follows until ctx ends, and returns when no step is under way.
func (d *deriver) run(ctx context.Context) {
	for failed := false; ; {
		err := d.list(ctx)
		switch {
		case err != nil && !failed && ctx.Err() == nil:
			d.log.Warn("derived boards cannot be listed", "error", err)
		case err == nil && failed:
			d.log.Info("derived boards can be listed again")
		}
		failed = err != nil
		if sleep(ctx, d.poll) != nil {
			break
		}
	}
	d.following.Wait()
}

// list brings the followers in line with the boards that there are.
func (d *deriver) list(ctx context.Context) error {
	listed, bySource := map[int64]bool{}, map[string][]*follower{}
	for after := int64(0); ; {
		boards, err := d.derived.DerivedBoards(ctx, after, listChunk)
		if err != nil {
			return err
		}
		for _, b := range boards {
			after = b.ID
			if b.Rules.Derive == nil {
				continue
			}
			listed[b.ID] = true
			f := d.follow(ctx, b)
			for _, source := range b.Rules.Derive.From {
				bySource[source.Board] = append(bySource[source.Board], f)
			}
		}
		if len(boards) < listChunk {
			break
		}
	}
	for id, f := range d.followers {
		if !listed[id] {
			f.cancel()
			delete(d.followers, id)
		}
	}
	d.bySource.Store(&bySource)
	return nil
}

// follow returns the follower of a board, begun if there is none, and woken when the board has changed.
func (d *deriver) follow(ctx context.Context, b leaderboard.Board) *follower {
	f := d.followers[b.ID]
	if f == nil {
		f = &follower{deriver: d, id: b.ID, board: b.Name, version: b.Version, wake: make(chan struct{}, 1)}
		ctx, f.cancel = context.WithCancel(ctx)
		d.followers[b.ID] = f
		d.following.Go(func() { f.run(ctx) })
	} else if f.version != b.Version {
		f.version = b.Version
		f.wakeUp()
	}
	return f
}

// follower takes the steps of one board.
type follower struct {
	deriver *deriver
	id      int64
	board   string
	version int64 // the goroutine of deriver.run alone
	cancel  context.CancelFunc
	wake    chan struct{} // holds a value while a source may have changed
	last    atomic.Pointer[lastStep]
}

// lastStep is what the last step found; nil while another process leads.
type lastStep struct {
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
		if err = nil; !lead || start.Sub(asked) >= f.deriver.poll {
			lead, err = f.deriver.derived.LeadDerived(ctx, f.id)
			asked = start
		}
		if lead && err == nil {
			err = f.step(ctx)
		}
		switch {
		case errors.Is(err, leaderboard.ErrBoardNotFound), errors.Is(err, leaderboard.ErrNotDerived):
			err = nil // the list will say so
			f.last.Store(nil)
		case !lead:
			f.last.Store(nil)
		}
		failures = f.count(ctx, failures, err)
		if !f.wait(ctx, time.Since(start), failures, lead) {
			return
		}
	}
}

// count returns how often in a row it failed, and logs the first time, and when it goes on.
func (f *follower) count(ctx context.Context, failures int, err error) int {
	switch {
	case err == nil && failures > 0:
		f.deriver.log.Info("a derived board follows its sources again", "board", f.board)
	case err != nil && failures == 0 && ctx.Err() == nil:
		f.deriver.log.Warn("a derived board does not follow its sources", "board", f.board, "error", err)
	}
	if err == nil {
		return 0
	}
	return failures + 1
}

// wait lets some time pass, and returns false when ctx ends: at least a part of the time that the step took, after
// failures longer and longer, and then until there is something to do.
func (f *follower) wait(ctx context.Context, took time.Duration, failures int, lead bool) bool {
	poll := f.deriver.poll
	rest := max(f.deriver.gap, took/restShare)
	if failures > 0 {
		rest = max(rest, min(maxBackoff, poll<<min(failures-1, 10)))
	}
	if sleep(ctx, rest) != nil {
		return false
	}
	timer := time.NewTimer(poll)
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

// step takes a step once there is a permit for it. A rollover rests most of its time, for minutes: it has permits of
// its own, so that other boards go on. While it waits for one it holds nothing, and then it starts over: a step that
// waited in the middle would keep a snapshot and a connection open.
func (f *follower) step(ctx context.Context) error {
	long, err := f.stepWith(ctx, f.deriver.short, false)
	if err == nil && long {
		_, err = f.stepWith(ctx, f.deriver.long, true)
	}
	return err
}

// stepWith takes a step with a permit of the kind given, and says whether nothing was done because it takes long.
func (f *follower) stepWith(ctx context.Context, kind *semaphore.Weighted, mayBeLong bool) (long bool, err error) {
	if err := kind.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer kind.Release(1)
	d := f.deriver
	if d.runner.busy(slotKey{f.id, leaderboard.RunKindRecompute}) {
		return false, nil // no time to take steps
	}
	ctx, cancel := context.WithTimeout(ctx, d.stepTimeout)
	defer cancel()
	start := time.Now()
	step, err := d.derived.FollowSources(ctx, f.board, mayBeLong)
	if err == nil && step.Long {
		return true, nil
	}
	took := time.Since(start)
	d.onStep(step, took, err)
	if err != nil {
		return false, err
	}
	f.last.Store(&lastStep{behind: step.Behind, began: start})
	if step.State != leaderboard.DerivationStateFollowing {
		d.log.Info("a derived board has new sources", "board", f.board, "state", string(step.State), "members", step.Members,
			"rows", step.Rows, "seq", step.ToSeq, "took", took.Round(time.Millisecond).String())
	}
	return false, nil
}

// yield leaves the board to others at once; without it they would wait until the connection is gone.
func (f *follower) yield(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), yieldTimeout)
	defer cancel()
	if err := f.deriver.derived.YieldDerived(ctx, f.id); err != nil {
		f.deriver.log.Debug("a derived board is not yielded", "board", f.board, "error", err)
	}
}
