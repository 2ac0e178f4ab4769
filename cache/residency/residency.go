package residency

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/cache/feed"
	"leaderboard/cache/resident"
	"leaderboard/rank"
)

// Source is the database.
type Source interface {
	// Snapshot reads all entries of a period in one state: begin gets it, rows gets the sort keys in order.
	Snapshot(ctx context.Context, p leaderboard.PeriodRef, limit int, begin func(leaderboard.State) error, rows func([]rank.Key) error) error
	// CommitsSince reads the change logs of many periods after the revisions that they are at, of each at most so many
	// changes.
	CommitsSince(ctx context.Context, from []leaderboard.PeriodRevision, changes int) (map[int64]leaderboard.LogPart, error)
}

// Options adjust Periods.
type Options struct {
	Memory int64         // bytes that all periods may take together; 0: none is ever loaded
	Round  time.Duration // between two choices, 500 ms
	Wait   time.Duration // how long a reader waits for what a period lacks, 100 ms
	Tail   *feed.Tail    // where own commits are found, which Committed adds to it; a new one when nil
	Logger *slog.Logger

	// OnLoad is told of each attempt to load a period, OnLeave of each that leaves the memory. They must not block; may be
	// nil.
	OnLoad  func(entries int64, took time.Duration, err error)
	OnLeave func()
	// OnHeld is told once a round how many periods are in memory, and how many bytes they take.
	OnHeld func(periods int, bytes int64)
}

func (o Options) withDefaults() Options {
	o.Round = cmp.Or(o.Round, 500*time.Millisecond)
	o.Wait = cmp.Or(o.Wait, 100*time.Millisecond)
	if o.Tail == nil {
		o.Tail = feed.NewTail(0)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnLoad == nil {
		o.OnLoad = func(int64, time.Duration, error) {}
	}
	if o.OnLeave == nil {
		o.OnLeave = func() {}
	}
	if o.OnHeld == nil {
		o.OnHeld = func(int, int64) {}
	}
	return o
}

// Weights of reads: what is shared by many readers is cheap without being resident.
const (
	WeightPage = 1 // of the top
	WeightDeep = 8 // of anything else
)

// Periods are the periods kept whole in memory, and those that may come to be. All methods may be called concurrently;
// nothing is loaded or kept up to date unless Run runs.
type Periods struct {
	source  Source
	opts    Options
	tenants sync.Map     // int64 → *tenant
	reads   atomic.Int64 // of all of them

	dirty, behind queue

	mu    sync.Mutex
	held  int // periods in memory when they were last counted
	bytes int64
}

// queue is a set of tenants that something is to be done for.
type queue struct {
	mu   sync.Mutex
	set  map[*tenant]bool
	some chan struct{} // holds a value while the set is not empty
}

func newQueue() queue { return queue{set: map[*tenant]bool{}, some: make(chan struct{}, 1)} }

func (q *queue) put(t *tenant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set[t] = true
	select {
	case q.some <- struct{}{}:
	default:
	}
}

func (q *queue) take() []*tenant {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]*tenant, 0, len(q.set))
	for t := range q.set {
		all = append(all, t)
	}
	clear(q.set)
	return all
}

// New returns Periods of a database, none of them in memory.
func New(source Source, opts Options) *Periods {
	return &Periods{source: source, opts: opts.withDefaults(), dirty: newQueue(), behind: newQueue()}
}

// Get returns a period that is in memory, nil when it is not, and counts as a read of the given weight.
func (r *Periods) Get(ref *leaderboard.PeriodRef, weight int64) *resident.Period {
	if r.opts.Memory == 0 {
		return nil
	}
	r.reads.Add(1)
	t := r.tenant(ref)
	t.reads.Add(weight)
	p := t.period.Load()
	if p != nil && p.Incarnation() != ref.Incarnation {
		return nil // one of the two was lost with a restore: the feed knows which
	}
	if p != nil && !p.Fits(ref.Rules) {
		r.leave(t, p)
		return nil
	}
	return p
}

func (r *Periods) tenant(ref *leaderboard.PeriodRef) *tenant {
	found, ok := r.tenants.Load(ref.ID)
	if !ok {
		t := &tenant{id: ref.ID, read: time.Now()}
		own := *ref
		t.ref.Store(&own)
		found, _ = r.tenants.LoadOrStore(ref.ID, t)
	}
	t := found.(*tenant)
	if known := t.ref.Load(); known.Rules != ref.Rules || known.Incarnation != ref.Incarnation || known.Closed != ref.Closed {
		own := *ref
		t.ref.Store(&own)
	}
	return t
}

// Committed takes a commit of this process. It does not block.
func (r *Periods) Committed(id int64, commit leaderboard.Commit) {
	r.opts.Tail.Add(commit)
	found, ok := r.tenants.Load(id)
	if !ok {
		return
	}
	t := found.(*tenant)
	if p := t.period.Load(); p != nil && p.Incarnation() != commit.Incarnation {
		r.leave(t, p) // the database was restored
	}
	if t.hear(commit.To()) {
		r.dirty.put(t)
	}
}

// Shown takes what the feed showed of periods. It does not block.
func (r *Periods) Shown(revisions map[int64]leaderboard.Revision) {
	for id, revision := range revisions {
		if t, ok := r.tenants.Load(id); ok && t.(*tenant).shown(revision) {
			r.dirty.put(t.(*tenant))
		}
	}
}

// Await waits until a period has moved on from a state, Options.Wait at most, and says whether it has.
func (r *Periods) Await(ctx context.Context, id int64, p *resident.Period, from leaderboard.Revision) bool {
	found, ok := r.tenants.Load(id)
	if !ok {
		return false
	}
	t := found.(*tenant)
	timer := time.NewTimer(r.opts.Wait)
	defer timer.Stop()
	r.behind.put(t) // what was not read from the log because of a failure is tried again
	for {
		next := t.next()
		if p.At().Revision != from || t.period.Load() != p {
			return true
		}
		select {
		case <-next:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// Drop gives a period up that the database has denied.
func (r *Periods) Drop(id int64, p *resident.Period) {
	r.opts.Tail.Forget(id)
	if t, ok := r.tenants.Load(id); ok {
		r.leave(t.(*tenant), p)
	}
}

func (r *Periods) leave(t *tenant, p *resident.Period) {
	if t.leave(p) {
		r.opts.OnLeave()
	}
}

// Held returns how many periods are in memory, and the bytes that they take.
func (r *Periods) Held() (periods int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held, r.bytes
}

// Run chooses, loads, folds and catches up until ctx ends.
func (r *Periods) Run(ctx context.Context) {
	if r.opts.Memory == 0 {
		return
	}
	var work sync.WaitGroup
	work.Go(func() { r.drain(ctx, &r.dirty, r.fold) })
	work.Go(func() { r.drain(ctx, &r.behind, func(all []*tenant) { r.catchUp(ctx, all) }) })
	r.chooseUntil(ctx)
	work.Wait()
}

// drain does work for all tenants of a queue whenever there are some.
func (r *Periods) drain(ctx context.Context, q *queue, work func([]*tenant)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.some:
			work(q.take())
		}
	}
}

// fold folds what the tail has. What it does not have is read from the log.
func (r *Periods) fold(all []*tenant) {
	for _, t := range all {
		if p := t.period.Load(); p != nil && r.foldInto(t, p, r.opts.Tail.After(t.id, p.At().Revision, logChanges)) {
			r.behind.put(t)
		}
	}
}

// foldInto folds commits into a period in memory, and reports whether it lacks more. One that is of no more use leaves.
func (r *Periods) foldInto(t *tenant, p *resident.Period, commits []leaderboard.Commit) (lacks bool) {
	lacks, err := t.fold(p, commits)
	if err != nil {
		r.opts.Logger.Warn("a period in memory is of no more use and is given up", "period", t.id, "error", err)
		r.leave(t, p)
	}
	return lacks && err == nil
}

const (
	// logChanges is how many changes of a period are read at once.
	logChanges = 10_000
	// logTimeout bounds one reading of the log.
	logTimeout = 5 * time.Second
)

// catchUp reads what tenants lack from the log, in one statement for all of them.
func (r *Periods) catchUp(ctx context.Context, all []*tenant) {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	periods := make([]*resident.Period, len(all))
	from := make([]leaderboard.PeriodRevision, 0, len(all))
	for i, t := range all {
		if periods[i] = t.period.Load(); periods[i] != nil {
			from = append(from, leaderboard.PeriodRevision{PeriodID: t.id, Revision: periods[i].At().Revision})
		}
	}
	parts, err := r.source.CommitsSince(ctx, from, logChanges)
	if err != nil {
		return // the next reader, or the feed, asks again
	}
	for i, t := range all {
		part, ok := parts[t.id]
		switch {
		case !ok:
		case part.Err != nil:
			r.opts.Logger.Info("a period in memory cannot follow the log and is given up", "board", t.ref.Load().Board, "period", t.id, "error", part.Err)
			r.leave(t, periods[i])
		case len(part.Commits) > 0 && r.foldInto(t, periods[i], part.Commits):
			r.dirty.put(t)
		}
	}
}

// chooseUntil chooses once a round which periods are in memory, and loads one after the other, until ctx ends.
func (r *Periods) chooseUntil(ctx context.Context) {
	ticker := time.NewTicker(r.opts.Round)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		load := r.choose(now, now.Sub(last))
		last = now
		if load != nil {
			r.bring(ctx, load)
		}
	}
}

// choose lets periods leave and returns the one to load, nil for none. Who was not read for long is forgotten.
func (r *Periods) choose(now time.Time, passed time.Duration) *tenant {
	var all []candidate
	byID := map[int64]*tenant{}
	r.tenants.Range(func(_, value any) bool {
		t := value.(*tenant)
		c := t.candidate(now, passed)
		if !c.resident && c.heat < 0.5 && now.Sub(c.read) > halfLife {
			r.tenants.Delete(t.id)
			return true
		}
		byID[t.id] = t
		all = append(all, c)
		return true
	})
	leave, load := choose(now, r.opts.Memory, all)
	for _, id := range leave {
		r.leave(byID[id], byID[id].period.Load())
	}
	r.count(all, leave)
	r.opts.OnHeld(r.Held())
	return byID[load]
}

// count notes what is in memory.
func (r *Periods) count(all []candidate, left []int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held, r.bytes = 0, 0
	for _, c := range all {
		if c.resident && !slices.Contains(left, c.id) {
			r.held, r.bytes = r.held+1, r.bytes+c.bytes
		}
	}
}

// bring loads a period.
func (r *Periods) bring(ctx context.Context, t *tenant) {
	_, held := r.Held()
	began := time.Now()
	err := r.load(ctx, t, t.heat, r.opts.Memory-held)
	switch p := t.period.Load(); {
	case err == nil && p != nil:
		t.loaded = time.Now()
		r.opts.OnLoad(p.At().Total, time.Since(began), nil)
		r.dirty.put(t)
	case errors.Is(err, errNoRoom): // its size is known now
	case ctx.Err() == nil:
		t.failed = time.Now()
		r.opts.OnLoad(0, time.Since(began), err)
		r.opts.Logger.Warn("a period was not loaded into memory", "board", t.ref.Load().Board, "period", t.id, "error", err)
	}
}

// Holds says whether a period is in memory. It counts as no read.
func (r *Periods) Holds(id int64) bool {
	t, ok := r.tenants.Load(id)
	return ok && t.(*tenant).period.Load() != nil
}
