package refresher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// Request asks for a run.
type Request struct {
	Ref    leaderboard.PeriodRef
	Kind   leaderboard.RunKind
	Reason leaderboard.RunReason
	Actor  string
	// RequestID is the id of the request that started the run, "" without a request.
	RequestID string
	Span      trace.Span // of that request
	// AskedAt is when the need arose, by the clock of this machine; the zero value is now. A full build that started
	// later, in any process, fulfils it.
	AskedAt time.Time
}

// forced reports whether work that began earlier is not enough. A reader that found no copy can use a copy of any age,
// and a recomputation under way ends with the sources at its end.
func (q *Request) forced() bool {
	return !q.byReader() && q.Kind != leaderboard.RunKindRecompute
}

const (
	// historyTimeout bounds one write to the history.
	historyTimeout = 2 * time.Second
	// maxIdleSlots bounds the number of slots of periods that have no run.
	maxIdleSlots = 1024
)

// byReader reports whether a reader asked: such runs are bounded, and have a record only if they build.
func (q *Request) byReader() bool { return q.Reason == leaderboard.RunReasonDemand }

// result is the result of a run.
type result struct {
	state          leaderboard.RunState
	fromSeq, toSeq int64
	rows           int64
}

// work does a run of one kind. It calls begin once it looks at the database: requests that come later need the next
// run.
type work struct {
	do      func(ctx context.Context, j *job) (result, error)
	timeout time.Duration
}

// runner is the one runner of runs: requests for the same share runs, each run has its record in the history, and a
// panic or a failure ends as a reason that may be shown. All methods may be called concurrently.
type runner struct {
	history  Runs
	log      *slog.Logger
	observer Observer
	keep     time.Duration       // how long the start of the last work is remembered
	demands  *semaphore.Weighted // runs begun for readers
	span     trace.Span          // of runs that no request has asked for
	ctx      context.Context
	cancel   context.CancelFunc
	wg       sync.WaitGroup // one per run

	mu     sync.Mutex
	slots  map[slotKey]*slot
	closed bool
}

func newRunner(cfg *Config) *runner {
	r := &runner{
		history: cfg.Runs, log: cfg.Logger, observer: cfg.Observer, span: cfg.Span, keep: cfg.MinGap, demands: semaphore.NewWeighted(int64(cfg.Demands)), slots: map[slotKey]*slot{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// slotKey is the key by which requests are coalesced: the period of a copy, the board of a recomputation.
type slotKey struct {
	id   int64
	kind leaderboard.RunKind
}

func keyOf(ref leaderboard.PeriodRef, kind leaderboard.RunKind) slotKey {
	if kind == leaderboard.RunKindRecompute {
		return slotKey{ref.BoardID, kind}
	}
	return slotKey{ref.ID, kind}
}

// slot holds the run at work and the next run. Its fields belong to runner.mu.
type slot struct {
	open   *job // takes more requests: it has not looked at the database yet
	active *job
	began  time.Time // the last work of this process
}

func (s *slot) busy() bool { return s.open != nil || s.active != nil }

// job is one run and the requests that share it.
type job struct {
	slot *slot
	req  Request // the first one

	// Owned by runner.mu.
	asked    time.Time // the latest moment at which a sharer asked
	forced   bool      // a sharer needs work that begins after its request
	recorded bool      // it has a record, or is about to

	announcing sync.Once
	announced  chan struct{}   // closed once first and startErr are set
	first      leaderboard.Run // as it began
	startErr   error

	done chan struct{}   // closed once run and err are set
	run  leaderboard.Run // as it ended
	err  error
}

func (j *job) wait(ctx context.Context) (leaderboard.Run, error) {
	select {
	case <-j.done:
		return j.run, j.err
	case <-ctx.Done():
		return leaderboard.Run{}, ctx.Err()
	}
}

// join finds the job that fulfils a request, or begins one.
func (r *runner) join(req Request, w work) *job {
	if req.AskedAt.IsZero() {
		req.AskedAt = time.Now()
	}
	forced := req.forced()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.slot(keyOf(req.Ref, req.Kind))
	if !forced && s.active != nil {
		return s.active
	}
	if j := s.open; j != nil {
		if forced && (!j.forced || req.AskedAt.After(j.asked)) {
			j.asked, j.forced = req.AskedAt, true
		}
		if !req.byReader() && !j.recorded {
			j.recorded = true
			r.wg.Go(func() { r.announce(r.ctx, j) })
		}
		return j
	}
	j := &job{
		slot: s, req: req, asked: req.AskedAt, forced: forced, recorded: !req.byReader(),
		announced: make(chan struct{}), done: make(chan struct{}),
	}
	switch {
	case r.closed:
		return j.refused(ErrClosed)
	case req.byReader() && !r.demands.TryAcquire(1):
		return j.refused(errBusy)
	}
	s.open = j
	previous := s.active
	r.wg.Go(func() { r.run(j, previous, w) })
	return j
}

// refused ends a job that is not begun.
func (j *job) refused(err error) *job {
	j.startErr, j.err = err, err
	close(j.announced)
	close(j.done)
	return j
}

func (r *runner) slot(key slotKey) *slot {
	s, ok := r.slots[key]
	if ok {
		return s
	}
	if len(r.slots) >= maxIdleSlots {
		for k, old := range r.slots {
			if !old.busy() && time.Since(old.began) > r.keep {
				delete(r.slots, k)
			}
		}
	}
	s = &slot{}
	r.slots[key] = s
	return s
}

// begin closes the job to further sharers, and makes sure that it has a record.
func (r *runner) begin(ctx context.Context, j *job) {
	r.mu.Lock()
	if j.slot.open == j {
		j.slot.open, j.slot.active = nil, j
	}
	j.recorded = true
	r.mu.Unlock()
	r.announce(ctx, j)
}

// close cancels the runs and waits for their ends to be recorded, or for the end of ctx.
func (r *runner) close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	idle := true
	for _, s := range r.slots {
		idle = idle && !s.busy()
	}
	r.mu.Unlock()
	r.cancel()
	if idle {
		return nil
	}
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

// run does a job from its announcement to its record.
func (r *runner) run(j, previous *job, w work) {
	ctx, cancel := context.WithTimeout(r.ctx, w.timeout)
	defer cancel()
	ctx = leaderboard.WithCaller(ctx, j.caller())
	ctx, span := beginSpan(ctx, j.req.Span, r.span, j.req.Kind)
	start := time.Now()
	if !j.req.byReader() {
		r.announce(ctx, j)
	}
	out, err := guarded(ctx, j, previous, w)
	run := r.recordOf(ctx, j)
	run.State, run.FromSeq, run.ToSeq, run.Rows, run.Took = out.state, out.fromSeq, out.toSeq, out.rows, time.Since(start)
	if err != nil {
		run.State, run.Error = leaderboard.RunStateFailed, reasonOf(ctx, err)
	}
	if run = r.record(ctx, run); err == nil && run.State == leaderboard.RunStateFailed {
		err = errEnded
	}
	if err != nil {
		level := slog.LevelError
		if errors.Is(err, leaderboard.ErrPeriodNotFound) { // deleted meanwhile, which is no failure
			level = slog.LevelInfo
		}
		r.log.Log(ctx, level, "run failed", "board", run.Board, "period", run.PeriodID, "kind", run.Kind, "reason", run.Reason, "error", err)
	} else {
		r.log.InfoContext(ctx, "run ended", "board", run.Board, "period", run.PeriodID, "kind", run.Kind, "reason", run.Reason,
			"state", run.State, "from_seq", run.FromSeq, "to_seq", run.ToSeq, "rows", run.Rows, "took", run.Took)
	}
	endSpan(span, &run, err)
	r.observer.RunEnded(run)
	r.end(j, run, err)
}

// caller returns the caller that asked for a job.
func (j *job) caller() leaderboard.Caller {
	return leaderboard.Caller{Key: j.req.Actor, RequestID: j.req.RequestID}
}

// announce gives the run its place in the history and its sharers its id, once.
func (r *runner) announce(ctx context.Context, j *job) {
	j.announcing.Do(func() {
		defer close(j.announced)
		j.first = j.begun()
		started, err := r.enter(leaderboard.WithCaller(ctx, j.caller()), j.first)
		if err != nil {
			j.startErr = fmt.Errorf("refresher: history: %w", err)
			return
		}
		j.first.ID, j.first.StartedAt = started.ID, started.StartedAt
	})
}

// enter gives a run its place in the history.
func (r *runner) enter(ctx context.Context, run leaderboard.Run) (leaderboard.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	started, err := r.history.StartRun(ctx, run)
	if err != nil {
		r.log.WarnContext(ctx, "run is missing in the history", "board", run.Board, "error", err)
	}
	return started, err
}

// refuse records that a copy is not built, and why.
func (r *runner) refuse(ctx context.Context, ref leaderboard.PeriodRef, reason leaderboard.RunReason) {
	run := (&job{req: Request{Ref: ref, Kind: leaderboard.RunKindFull, Reason: reason}}).begun()
	run.State = leaderboard.RunStateRefused
	_, _ = r.enter(ctx, run)
	r.observer.RunEnded(run)
}

// begun returns the run of a job that begins now.
func (j *job) begun() leaderboard.Run {
	ref := j.req.Ref
	return leaderboard.Run{
		BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name, Kind: j.req.Kind,
		Reason: j.req.Reason, Actor: j.req.Actor, State: leaderboard.RunStateRunning, StartedAt: leaderboard.MicrosOf(time.Now()),
	}
}

// conclude closes the job to further sharers, unless one has come since the last check for requests of that kind; then
// it returns false.
func (r *runner) conclude(j *job, asked time.Time, forced bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if j.forced != forced || !j.asked.Equal(asked) {
		return false
	}
	r.leave(j)
	return true
}

// leave closes the job to further sharers.
func (r *runner) leave(j *job) {
	if j.slot.open == j {
		j.slot.open = nil
	}
}

// recordOf returns the run of a job that is about to end, as announced. A run that a reader requested and that built
// nothing has no record.
func (r *runner) recordOf(ctx context.Context, j *job) leaderboard.Run {
	r.mu.Lock()
	r.leave(j)
	recorded := j.recorded
	r.mu.Unlock()
	if recorded {
		r.announce(ctx, j)
		return j.first
	}
	return j.begun()
}

// record writes the end of a run, also when it failed or ctx has ended, and returns the recorded run.
func (r *runner) record(ctx context.Context, run leaderboard.Run) leaderboard.Run {
	if run.ID == 0 {
		return run
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), historyTimeout)
	defer cancel()
	recorded, err := r.history.FinishRun(ctx, run)
	if errors.Is(err, leaderboard.ErrRunNotFound) { // deleted meanwhile with its board
		return run
	}
	if err != nil {
		r.log.WarnContext(ctx, "end of a run is missing in the history", "run", run.ID, "error", err)
		return run
	}
	return recorded
}

// end publishes the outcome of a job.
func (r *runner) end(j *job, run leaderboard.Run, err error) {
	r.mu.Lock()
	r.leave(j)
	if j.slot.active == j {
		j.slot.active = nil
	}
	if j.req.byReader() {
		r.demands.Release(1)
	}
	r.mu.Unlock()
	j.run, j.err = run, err
	close(j.done)
}

// guarded does the work after the previous job has ended, and turns a panic into an error, so that the run ends, is
// recorded and releases its sharers.
func guarded(ctx context.Context, j, previous *job, w work) (out result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	if previous != nil {
		select {
		case <-previous.done:
		case <-ctx.Done():
			return result{}, ctx.Err()
		}
	}
	return w.do(ctx, j)
}

// sleep waits for d, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
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
