package derived

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"leaderboard/api"
	"leaderboard/cache"
	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

const (
	// poll is the time between two looks at the derived boards and their sources.
	poll = time.Second
	// stepGap is the least time between two steps of a board.
	stepGap = 50 * time.Millisecond
	// stepTimeout bounds one step, in which a board may be computed from scratch.
	stepTimeout = 30 * time.Minute
	// atOnce is how many short steps are under way at once, and as many long ones.
	atOnce = 2
	// yieldTimeout bounds giving up the lead at the end of run.
	yieldTimeout = time.Second
	// passPolls is the number of polls for which this process leaves boards to others after a rule that it does not know:
	// each of them tries once.
	passPolls = 3
	// maxAwake is how many boards take steps at once, or rest between two. Other boards come in a later round.
	maxAwake = 1000
	// maxLong is the number of boards that take a long step, or wait for a permit for a long step.
	maxLong = 100
	// listPage is how many derived boards are read at once. Only their ids, names and sources are.
	listPage = 5000
)

// steps takes the steps of derived boards, see Stepper. Its methods block until MySQL has answered or ctx ends, and may be
// called concurrently.
type steps interface {
	list(ctx context.Context, after int64, limit int) ([]*followedBoard, error)
	lead(ctx context.Context, boardIDs []int64) ([]bool, error)
	yield(ctx context.Context) error
	moved(ctx context.Context, boardIDs []int64) ([]bool, error)
	FollowSources(ctx context.Context, board string, long bool) (Step, error)
	Recompute(ctx context.Context, board string) (Step, error)
}

// followedBoard is the part of a derived board that its follower needs. It is shared and immutable.
type followedBoard struct {
	id      int64
	name    string
	sources []string // names of boards, as the rule lists them
}

// followedBoards are the derived boards in the order of their ids.
type followedBoards []*followedBoard

// follower follows the sources of all derived boards. Once in a while it asks about all of them together (a round), and
// wakes the boards that have work; the others sleep and cost nothing. A commit of this process wakes the boards that
// follow its board at once.
type follower struct {
	steps   steps
	log     *slog.Logger
	metrics *metrics

	short, long *semaphore.Weighted // of steps under way, and of the long steps among them
	queue       *semaphore.Weighted // of steps that wait for a permit in long, or hold one

	boards     *cache.Table[*followedBoards]
	followed   *followedBoards      // the tasks follow these; run's goroutine alone, as the next three
	listed     []*boardTask         // in the order of their ids
	tasks      map[int64]*boardTask // by board id
	firstWoken int                  // of the board that is woken first
	foreign    atomic.Bool          // a step met a rule that this server does not know
	crowded    atomic.Bool          // more boards have moved than may be awake: only rounds wake, and a board that is woken takes one step
	bySource   atomic.Pointer[map[string][]*boardTask]

	mu         sync.Mutex      // guards the fields below
	ctx        context.Context // of the tasks; nil before run and after it
	awake      int             // tasks that take steps
	recomputed map[string]int  // boards that are computed from scratch, or wait for it
	following  sync.WaitGroup  // the goroutines of steps
}

// newFollower returns a follower that reads the list of boards again when the feed shows that boards have changed; without
// a feed, nil, it reads the list each time.
func newFollower(s steps, f *feed.Feed, log *slog.Logger) *follower {
	d := &follower{
		steps: s, log: log, metrics: newMetrics(),
		short: semaphore.NewWeighted(atOnce), long: semaphore.NewWeighted(atOnce), queue: semaphore.NewWeighted(maxLong),
		tasks: map[int64]*boardTask{}, recomputed: map[string]int{},
		boards: cache.NewTable("derived boards", leaderboard.BoardsPeriod, func(ctx context.Context) (*followedBoards, error) {
			var listed followedBoards
			return &listed, cache.ReadPages(ctx, listPage, s.list, func(b **followedBoard) int64 {
				listed = append(listed, *b)
				return (*b).id
			})
		}, f, cache.TableOptions{Log: log}),
	}
	d.bySource.Store(&map[string][]*boardTask{})
	return d
}

// Recompute computes all entries of a derived board from scratch, see Stepper.Recompute, once there is a permit for a long
// step. The board takes no other step meanwhile. It is a refresher.Config.Recompute.
func (d *follower) Recompute(ctx context.Context, board string) (leaderboard.Run, error) {
	d.recomputing(board, 1)
	defer d.recomputing(board, -1)
	if err := d.long.Acquire(ctx, 1); err != nil {
		return leaderboard.Run{}, err
	}
	defer d.long.Release(1)
	start := time.Now()
	step, err := d.steps.Recompute(ctx, board)
	d.metrics.stepEnded(&step, time.Since(start), err)
	run := leaderboard.Run{State: leaderboard.RunStateDone, FromSeq: step.FromSeq, ToSeq: step.ToSeq, Rows: step.Rows}
	if step.State != api.DerivationStateComputing {
		run.State = leaderboard.RunStateShared // another step was faster and has written the rows
	}
	return run, err
}

// recomputing counts recomputations of a board that begin (1) or end (-1).
func (d *follower) recomputing(board string, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.recomputed[board] += n; d.recomputed[board] == 0 {
		delete(d.recomputed, board)
	}
}

// isRecomputed reports whether a board is computed from scratch, or about to be.
func (d *follower) isRecomputed(board string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.recomputed[board] > 0
}

// committed takes a commit to a period of a board. It does not block.
func (d *follower) committed(ref leaderboard.PeriodRef) {
	if d.crowded.Load() {
		return
	}
	for _, f := range (*d.bySource.Load())[ref.Board] {
		f.wakeUp()
	}
}

// lag returns how far the derived boards that this process leads are behind their sources: the number of changes that the
// last step of the furthest one found, and the time since the oldest last step began. Commits before that time are
// reflected.
func (d *follower) lag() (changes int64, behind time.Duration) {
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
func (d *follower) run(ctx context.Context) {
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
		pause := max(stepGap, poll-time.Since(start))
		if d.foreign.Swap(false) {
			d.letOthersLead(ctx)
			pause = passPolls * poll
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
func (d *follower) round(ctx context.Context) error {
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
	lead, err := d.steps.lead(ctx, ids)
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
	moved, err := d.steps.moved(ctx, ids[:len(led)])
	if err != nil {
		return err
	}
	d.wake(led, moved, sent)
	return nil
}

// wake wakes the boards that have moved, as many as may be awake: the next round begins with the boards that could not
// be woken. The other boards reflected their sources when the database was asked.
func (d *follower) wake(led []*boardTask, moved []bool, sent time.Time) {
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
func (d *follower) followBoards(boards *followedBoards) {
	var all []*boardTask
	listed, bySource := map[int64]bool{}, map[string][]*boardTask{}
	for _, b := range *boards {
		listed[b.id] = true
		f := d.follow(b)
		all = append(all, f)
		for _, source := range b.sources {
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
func (d *follower) follow(b *followedBoard) *boardTask {
	f := d.tasks[b.id]
	if f == nil {
		f = &boardTask{follower: d, id: b.id, board: b.name}
		d.tasks[b.id] = f
	}
	return f
}

// begin counts one more task that takes steps, and returns the context of its steps; ok is false when there are
// enough of them, or the follower is ending.
func (d *follower) begin() (ctx context.Context, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx == nil || d.awake >= maxAwake {
		return nil, false
	}
	d.awake++
	d.following.Add(1)
	return d.ctx, true
}

func (d *follower) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.awake--
	d.following.Done()
}

// yield leaves the boards to others at once; without it they would wait for the end of the connection.
func (d *follower) yield(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), yieldTimeout)
	defer cancel()
	if err := d.steps.yield(ctx); err != nil {
		d.log.Debug("derived boards are not yielded", "error", err)
	}
}

// letOthersLead yields the boards for a moment, because a server that knows the rule may take the steps that this one
// cannot. After it this process leads the boards again that no other process has taken.
func (d *follower) letOthersLead(ctx context.Context) {
	for _, f := range d.listed {
		f.unsure()
	}
	d.yield(ctx)
}
