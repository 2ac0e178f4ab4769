package refresher

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"leaderboard/cache"
	"leaderboard/leaderboard"
)

const (
	maxBackoff = 30 * time.Second
	// yieldTimeout bounds giving up the lead at the end of Run.
	yieldTimeout = time.Second
	// restShare: a task rests for at least this part of the time that its step took.
	restShare = 4
	// passPolls is the number of polls for which this process leaves boards to others after a rule that it does not know:
	// each of them tries once.
	passPolls = 3
	// maxAwake is how many boards take steps at once, or rest between two. Other boards come in a later round.
	maxAwake = 1000
	// maxLong is the number of boards that take a long step, or wait for a permit for a long step.
	maxLong = 100
)

// deriver follows the sources of all derived boards. Once in a while it asks about all of them together (a round), and
// wakes the boards that have work; the others sleep and cost nothing. A commit of this process wakes the boards that
// follow its board at once.
type deriver struct {
	runner      *runner
	derived     Derived
	poll, gap   time.Duration
	stepTimeout time.Duration
	log         *slog.Logger
	observer    Observer

	short, long *semaphore.Weighted // of steps under way, and of the long steps among them
	queue       *semaphore.Weighted // of steps that wait for a permit in long, or hold one

	boards     *cache.Table[*derivedBoards]
	followed   *derivedBoards       // the tasks follow these; run's goroutine alone, as the next three
	listed     []*boardTask         // in the order of their ids
	tasks      map[int64]*boardTask // by board id
	firstWoken int                  // of the board that is woken first
	foreign    atomic.Bool          // a step met a rule that this server does not know
	crowded    atomic.Bool          // more boards have moved than may be awake: only rounds wake, and a board that is woken takes one step
	bySource   atomic.Pointer[map[string][]*boardTask]

	mu        sync.Mutex      // guards the fields below
	ctx       context.Context // of the tasks; nil before run and after it
	awake     int             // tasks that take steps
	following sync.WaitGroup  // the goroutines of steps
}

func newDeriver(run *runner, cfg *Config) *deriver {
	d := &deriver{
		runner: run, derived: cfg.Derived, poll: cfg.Poll, gap: cfg.StepGap, stepTimeout: cfg.StepTimeout, log: cfg.Logger, observer: cfg.Observer,
		short: semaphore.NewWeighted(int64(cfg.Steps)), long: semaphore.NewWeighted(int64(cfg.Steps)), queue: semaphore.NewWeighted(maxLong), tasks: map[int64]*boardTask{}, boards: newDerivedBoards(cfg),
	}
	d.bySource.Store(&map[string][]*boardTask{})
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
	d.observer.StepEnded(step, time.Since(start), err)
	state := leaderboard.RunStateDone
	if step.State != leaderboard.DerivationStateComputing {
		state = leaderboard.RunStateShared // another step was faster and has written the rows
	}
	return result{state, step.FromSeq, step.ToSeq, step.Rows}, err
}

func (d *deriver) notify(ref leaderboard.PeriodRef) {
	if d.crowded.Load() {
		return
	}
	for _, f := range (*d.bySource.Load())[ref.Board] {
		f.wakeUp()
	}
}

func (d *deriver) lag() (changes int64, behind time.Duration) {
	for _, followers := range *d.bySource.Load() {
		for _, f := range followers {
			if last, ok := f.lastStep(); ok {
				changes, behind = max(changes, last.behind), max(behind, time.Since(last.began))
			}
		}
	}
	return changes, behind
}

// run follows until ctx ends, and returns when no step is under way.
func (d *deriver) run(ctx context.Context) {
	d.mu.Lock()
	d.ctx = ctx
	d.mu.Unlock()
	for failed := error(nil); ; {
		start := time.Now()
		err := d.round(ctx)
		switch {
		case err != nil && failed == nil && ctx.Err() == nil:
			d.log.Warn("derived boards cannot be listed", "error", err)
		case err == nil && failed != nil:
			d.log.Info("derived boards can be listed again", "was", failed)
		}
		failed = err
		pause := max(d.gap, d.poll-time.Since(start))
		if d.foreign.Swap(false) {
			d.letOthersLead(ctx)
			pause = passPolls * d.poll
		}
		if sleep(ctx, pause) != nil {
			break
		}
	}
	d.mu.Lock()
	d.ctx = nil
	d.mu.Unlock()
	d.following.Wait()
	if len(d.tasks) > 0 {
		d.yield(ctx)
	}
}

// round updates the list of tasks, if any board has changed, and wakes the boards that have work.
func (d *deriver) round(ctx context.Context) error {
	sent := time.Now()
	err := d.boards.Renew(ctx)
	switch now := d.boards.Value(); {
	case now == nil:
		return err
	case now != d.followed:
		d.followBoards(now)
	}
	boards := d.listed
	if len(boards) == 0 {
		return nil
	}
	ids := make([]int64, len(boards))
	for i, f := range boards {
		ids[i] = f.id
	}
	lead, err := d.derived.LeadDerived(ctx, ids)
	if err != nil {
		for _, f := range boards {
			f.unsure()
		}
		return err
	}
	led := make([]*boardTask, 0, len(boards))
	for i, f := range boards {
		f.leads(lead[i])
		if lead[i] {
			led, ids[len(led)] = append(led, f), f.id
		}
	}
	moved, err := d.derived.MovedDerived(ctx, ids[:len(led)])
	if err != nil {
		return err
	}
	d.wake(led, moved, sent)
	return nil
}

// wake wakes the boards that have moved, as many as may be awake: the next round begins with the boards that could not
// be woken. The other boards reflected their sources when the database was asked.
func (d *deriver) wake(led []*boardTask, moved []bool, sent time.Time) {
	refused := -1
	for i := range led {
		at := (d.firstWoken + i) % len(led)
		switch {
		case !moved[at]:
			led[at].followed(sent)
		case !led[at].wakeUp() && refused < 0:
			refused = at
		}
	}
	d.firstWoken = max(0, refused)
	d.crowded.Store(refused >= 0)
}

// followBoards adds tasks for new boards, and removes the tasks of boards that are gone.
func (d *deriver) followBoards(boards *derivedBoards) {
	var all []*boardTask
	listed, bySource := map[int64]bool{}, map[string][]*boardTask{}
	for _, b := range *boards {
		listed[b.ID] = true
		f := d.follow(b)
		all = append(all, f)
		for _, source := range b.Sources {
			bySource[source] = append(bySource[source], f)
		}
	}
	for id, f := range d.tasks {
		if !listed[id] {
			f.end()
			delete(d.tasks, id)
		}
	}
	d.bySource.Store(&bySource)
	d.followed, d.listed = boards, all
}

// follow returns the task of a board.
func (d *deriver) follow(b *leaderboard.DerivedBoard) *boardTask {
	f := d.tasks[b.ID]
	if f == nil {
		f = &boardTask{deriver: d, id: b.ID, board: b.Name}
		d.tasks[b.ID] = f
	}
	return f
}

// begin counts one more task that takes steps, and returns the context of its steps; ok is false when there are
// enough of them, or the deriver is ending.
func (d *deriver) begin() (ctx context.Context, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil || d.awake >= maxAwake {
		return nil, false
	}
	d.awake++
	d.following.Add(1)
	return d.ctx, true
}

func (d *deriver) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.awake--
	d.following.Done()
}

// yield leaves the boards to others at once; without it they would wait for the end of the connection.
func (d *deriver) yield(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), yieldTimeout)
	defer cancel()
	if err := d.derived.YieldDerived(ctx); err != nil {
		d.log.Debug("derived boards are not yielded", "error", err)
	}
}

// letOthersLead yields the boards for a moment, because a server that knows the rule may take the steps that this one
// cannot. After it this process leads the boards again that no other process has taken.
func (d *deriver) letOthersLead(ctx context.Context) {
	for _, f := range d.listed {
		f.unsure()
	}
	d.yield(ctx)
}

// boardTask takes the steps of one board. It has a goroutine only while it is awake.
type boardTask struct {
	deriver *deriver
	id      int64
	board   string

	mu     sync.Mutex // guards the fields below
	lead   bool       // of this process
	awake  bool
	again  bool               // a source may have changed since the step under way began
	cancel context.CancelFunc // of the steps, while it is awake
	last   lastStep

	failures  int       // in a row
	failure   error     // the last of them
	notBefore time.Time // the next step after a failure
}

// lastStep is the result of the last step. Before the first step it began with the lead; once another process leads it
// is the zero value.
type lastStep struct {
	behind int64
	began  time.Time
}

// wakeUp begins a step, or another one after the step under way. It returns false when too many boards are awake.
func (f *boardTask) wakeUp() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !f.lead || time.Now().Before(f.notBefore):
		return true
	case f.awake:
		f.again = true
		return true
	}
	ctx, ok := f.deriver.begin()
	if !ok {
		return false
	}
	ctx, f.cancel = context.WithCancel(ctx)
	f.awake, f.again = true, true
	go func() {
		defer f.deriver.end()
		f.run(ctx)
	}()
	return true
}

// leads notes whether this process leads the board.
func (f *boardTask) leads(lead bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !lead:
		f.last = lastStep{}
	case !f.lead && f.last == (lastStep{}):
		f.last = lastStep{began: time.Now()}
	}
	f.lead = lead
}

// unsure notes that it is not known which process leads the board. It takes no steps then, and its lag grows until it is known
// that another process leads it.
func (f *boardTask) unsure() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lead = false
}

// end ends the steps of a board that is gone.
func (f *boardTask) end() {
	f.leads(false)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cancel != nil {
		f.cancel()
	}
}

// followed notes that there was nothing to do at a moment.
func (f *boardTask) followed(at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lead && !f.awake {
		f.last = lastStep{began: at}
		f.succeeded()
	}
}

// lastStep returns the result of the last step, false without the lead.
func (f *boardTask) lastStep() (lastStep, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last, !f.last.began.IsZero()
}

// stepped notes what a step found.
func (f *boardTask) stepped(last lastStep) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lead || last == (lastStep{}) {
		f.last = last
	}
}

// run takes steps until there is nothing to do, one fails or ctx ends. At least a part of the time that a step took
// passes before the next one, and after failures longer and longer, asleep.
func (f *boardTask) run(ctx context.Context) {
	for stepped := false; f.goesOn(ctx, stepped); stepped = true {
		start := time.Now()
		err := f.step(ctx)
		if errors.Is(err, leaderboard.ErrBoardNotFound) || errors.Is(err, leaderboard.ErrNotDerived) {
			err = nil // the next list shows it
			f.stepped(lastStep{})
		}
		f.count(ctx, err)
		_ = sleep(ctx, max(f.deriver.gap, time.Since(start)/restShare))
	}
}

// goesOn reports whether to take another step now; otherwise the board goes to sleep. When other boards wait to be
// woken it goes to sleep after one step, and a later round finds the remaining work.
func (f *boardTask) goesOn(ctx context.Context, stepped bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	again := f.again && (!stepped || !f.deriver.crowded.Load())
	if ctx.Err() == nil && f.lead && again && !time.Now().Before(f.notBefore) {
		f.again = false
		return true
	}
	f.awake, f.again = false, false
	f.cancel()
	f.cancel = nil
	return false
}

// count counts failures in a row; it logs the first one, and the success after it.
func (f *boardTask) count(ctx context.Context, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.succeeded()
		return
	}
	if f.failures == 0 && ctx.Err() == nil {
		f.deriver.log.Warn("a derived board does not follow its sources", "board", f.board, "error", err)
	}
	if errors.Is(err, leaderboard.ErrUnknownRule) {
		f.deriver.foreign.Store(true)
	}
	f.notBefore = time.Now().Add(min(maxBackoff, f.deriver.poll<<min(f.failures, 10)))
	f.failures, f.failure = f.failures+1, err
}

// succeeded ends a row of failures. mu is held.
func (f *boardTask) succeeded() {
	if f.failures > 0 {
		f.deriver.log.Info("a derived board follows its sources again", "board", f.board, "was", f.failure)
	}
	f.failures, f.failure, f.notBefore = 0, nil, time.Time{}
}

// step takes a step once there is a permit for it. A rollover pauses for most of its time, for minutes: it has separate
// permits, so that other boards continue. While it waits for a permit it holds nothing, and then it starts over: a step
// that waited in the middle would keep a snapshot and a connection open. When too many wait, a later round wakes it
// again: a board that waits counts as awake, and would keep others from being woken.
func (f *boardTask) step(ctx context.Context) error {
	long, err := f.stepWith(ctx, f.deriver.short, false)
	if err != nil || !long || !f.deriver.queue.TryAcquire(1) {
		return err
	}
	defer f.deriver.queue.Release(1)
	_, err = f.stepWith(ctx, f.deriver.long, true)
	return err
}

// stepWith takes a step with a permit of the kind given, and reports whether nothing was done because it takes long.
func (f *boardTask) stepWith(ctx context.Context, kind *semaphore.Weighted, mayBeLong bool) (long bool, err error) {
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
	d.observer.StepEnded(step, took, err)
	if err != nil {
		return false, err
	}
	f.stepped(lastStep{behind: step.Behind, began: start})
	if step.State != leaderboard.DerivationStateFollowing {
		d.log.Info("a derived board has new sources", "board", f.board, "state", string(step.State), "members", step.Members,
			"rows", step.Rows, "seq", step.ToSeq, "took", took.Round(time.Millisecond).String())
	}
	return false, nil
}
