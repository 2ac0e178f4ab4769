package resident

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// Options adjust Periods.
type Options struct {
	Memory int64         // bytes that all periods may take together; 0: no period is loaded
	Round  time.Duration // between two choices, 500 ms
	Wait   time.Duration // the time that a reader waits for missing commits or a load, 100 ms
	Tail   *feed.Tail    // has the commits of this process; Committed adds them to it. A new one when nil
	Logger *slog.Logger
	// Folding is called with commits of a period in memory before answers show them, usually in order, and without
	// commits when the period leaves, since its next state may be from another incarnation. It must not block; may be
	// nil.
	Folding func(period int64, commits []leaderboard.Commit)

	Observer Observer // may be nil
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
	if o.Folding == nil {
		o.Folding = func(int64, []leaderboard.Commit) {}
	}
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	return o
}

// Weights of reads: pages that many readers share are cheap without being in memory.
const (
	WeightPage = 1 // of the top
	WeightDeep = 8 // of other questions
)

// Periods are the periods kept whole in memory, and the periods that may be loaded. All methods may be called
// concurrently; periods are loaded and kept up to date only while Run runs.
type Periods struct {
	source     Source
	opts       Options
	candidates sync.Map      // int64 → *candidate
	reads      atomic.Int64  // of periods in memory
	wanted     chan struct{} // holds a value when a period has become worth loading

	dirty, behind queue

	mu      sync.Mutex
	held    int // periods in memory when they were last counted
	bytes   int64
	hottest []leaderboard.HotPeriod
	idle    int // how many choices have found nothing to load
}

// queue is a set of candidates that wait for some work.
type queue struct {
	mu   sync.Mutex
	set  map[*candidate]bool
	some chan struct{} // holds a value while the set is not empty
}

func newQueue() queue { return queue{set: map[*candidate]bool{}, some: make(chan struct{}, 1)} }

func (q *queue) put(c *candidate) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.set[c] = true
	signal(q.some)
}

// signal puts a value into a channel with room for one.
func signal(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

func (q *queue) dequeue() []*candidate {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]*candidate, 0, len(q.set))
	for c := range q.set {
		all = append(all, c)
	}
	clear(q.set)
	return all
}

// NewPeriods returns Periods of a database, without any in memory.
func NewPeriods(source Source, opts Options) *Periods {
	return &Periods{source: source, opts: opts.withDefaults(), wanted: make(chan struct{}, 1), dirty: newQueue(), behind: newQueue()}
}

// Get returns a period that is in memory, nil when it is not, and counts as a read of the given weight.
func (r *Periods) Get(ref *leaderboard.PeriodRef, weight int64) *Period {
	if r.opts.Memory == 0 {
		return nil
	}
	c := r.candidate(ref)
	read := c.newly.Add(weight)
	p := c.period.Load()
	if p == nil {
		if pays := c.pays.Load(); read >= pays && read-weight < pays {
			signal(r.wanted)
		}
		return nil
	}
	r.reads.Add(1)
	if p.Incarnation() != ref.Incarnation {
		return nil // one of the two was lost with a restore: the feed knows which
	}
	if !p.Fits(ref.Rules) {
		r.leave(c, p)
		return nil
	}
	return p
}

func (r *Periods) candidate(ref *leaderboard.PeriodRef) *candidate {
	found, ok := r.candidates.Load(ref.ID)
	if !ok {
		first := &candidate{id: ref.ID, lastRead: time.Now()}
		first.pays.Store(enough)
		own := *ref
		first.ref.Store(&own)
		found, _ = r.candidates.LoadOrStore(ref.ID, first)
	}
	c := found.(*candidate)
	if known := c.ref.Load(); known.Rules != ref.Rules || known.Incarnation != ref.Incarnation || known.Closed != ref.Closed {
		own := *ref
		c.ref.Store(&own)
	}
	return c
}

// Committed takes a commit of this process. It does not block.
func (r *Periods) Committed(id int64, commit leaderboard.Commit) {
	r.opts.Tail.Add(commit)
	found, ok := r.candidates.Load(id)
	if !ok {
		return
	}
	c := found.(*candidate)
	if p := c.period.Load(); p != nil && p.Incarnation() != commit.Incarnation {
		r.leave(c, p) // the database was restored
	}
	if c.learn(commit.To()) {
		r.dirty.put(c)
	}
}

// Shown takes the revisions of periods that the feed showed. It does not block.
func (r *Periods) Shown(revisions map[int64]leaderboard.Revision) {
	for id, revision := range revisions {
		if c, ok := r.candidates.Load(id); ok && c.(*candidate).shown(revision) {
			r.dirty.put(c.(*candidate))
		}
	}
}

// Await waits until a period has moved on from a state, Options.Wait at most, and reports whether it has.
func (r *Periods) Await(ctx context.Context, id int64, p *Period, from leaderboard.Revision) bool {
	found, ok := r.candidates.Load(id)
	if !ok {
		return false
	}
	c := found.(*candidate)
	timer := time.NewTimer(r.opts.Wait)
	defer timer.Stop()
	r.behind.put(c) // after a failure the log is read again
	for {
		next := c.next()
		if p.At().Revision != from || c.period.Load() != p {
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

// Loads reports whether a period is being loaded.
func (r *Periods) Loads(id int64) bool {
	c, ok := r.candidates.Load(id)
	return ok && c.(*candidate).loading.Load()
}

// Drop drops a period that has diverged from the database.
func (r *Periods) Drop(id int64, p *Period) {
	r.opts.Tail.Forget(id)
	if c, ok := r.candidates.Load(id); ok {
		r.leave(c.(*candidate), p)
	}
}

func (r *Periods) leave(c *candidate, p *Period) {
	r.opts.Folding(c.id, nil) // before the first answer of another incarnation, and after the last of this one
	if c.leave(p) {
		r.opts.Folding(c.id, nil)
		r.opts.Observer.PeriodLeft()
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
	work.Go(func() { r.drain(ctx, &r.behind, func(all []*candidate) { r.catchUp(ctx, all) }) })
	r.chooseUntil(ctx)
	work.Wait()
}

// drain does work for all candidates of a queue whenever there are some.
func (r *Periods) drain(ctx context.Context, q *queue, work func([]*candidate)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-q.some:
			work(q.dequeue())
		}
	}
}

// fold folds the commits that the tail has. Others are read from the log.
func (r *Periods) fold(all []*candidate) {
	for _, c := range all {
		if p := c.period.Load(); p != nil && r.foldInto(c, p, r.opts.Tail.After(c.id, p.At().Revision, logChanges)) {
			r.behind.put(c)
		}
	}
}

// foldInto folds commits into a period in memory, and reports whether more are missing. A period that has become
// unusable leaves.
func (r *Periods) foldInto(c *candidate, p *Period, commits []leaderboard.Commit) (lacks bool) {
	if len(commits) > 0 {
		r.opts.Folding(c.id, commits)
	}
	lacks, err := c.fold(p, commits)
	if err != nil {
		r.opts.Logger.Warn("a period in memory is of no more use and is given up", "period", c.id, "error", err)
		r.leave(c, p)
	}
	return lacks && err == nil
}

const (
	// logChanges is how many changes of a period are read at once.
	logChanges = 10_000
	// logTimeout bounds one reading of the log.
	logTimeout = 5 * time.Second
)

// catchUp reads the missing commits of candidates from the log, in one statement for all of them.
func (r *Periods) catchUp(ctx context.Context, all []*candidate) {
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	periods := make([]*Period, len(all))
	from := make([]leaderboard.PeriodRevision, 0, len(all))
	for i, c := range all {
		if periods[i] = c.period.Load(); periods[i] != nil {
			from = append(from, leaderboard.PeriodRevision{PeriodID: c.id, Revision: periods[i].At().Revision})
		}
	}
	parts, err := r.source.CommitsSince(ctx, from, logChanges)
	if err != nil {
		return // the next reader, or the feed, asks again
	}
	for i, c := range all {
		part, ok := parts[c.id]
		switch {
		case !ok:
		case part.Err != nil:
			r.opts.Logger.Info("a period in memory cannot follow the log and is given up", "board", c.ref.Load().Board, "period", c.id, "error", part.Err)
			r.leave(c, periods[i])
		case len(part.Commits) > 0 && r.foldInto(c, periods[i], part.Commits):
			r.dirty.put(c)
		}
	}
}

// chooseUntil chooses once a round which periods are in memory, and loads them one after another, until ctx ends.
func (r *Periods) chooseUntil(ctx context.Context) {
	ticker := time.NewTicker(r.opts.Round)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wanted:
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

// choose lets periods leave and returns the one to load, or nil. A period that was not read for long is forgotten.
func (r *Periods) choose(now time.Time, passed time.Duration) *candidate {
	var all []*candidate
	r.candidates.Range(func(_, value any) bool {
		c := value.(*candidate)
		if c.count(now, passed); !c.resident && c.reads < 0.5 && now.Sub(c.lastRead) > halfLife {
			r.candidates.Delete(c.id)
		} else {
			all = append(all, c)
		}
		return true
	})
	leave, load := choose(now, r.opts.Memory, all)
	for _, c := range leave {
		r.leave(c, c.period.Load())
		c.resident = false
	}
	r.hold(all, load == nil)
	return load
}

// hold records which periods are in memory.
func (r *Periods) hold(all []*candidate, idle bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held, r.bytes, r.hottest = 0, 0, hottest(all)
	if idle {
		r.idle++
	}
	for _, c := range all {
		if c.resident {
			r.held, r.bytes = r.held+1, r.bytes+c.bytes
		}
	}
	r.opts.Observer.PeriodsHeld(r.held, r.bytes)
}

// bring loads a period.
func (r *Periods) bring(ctx context.Context, c *candidate) {
	_, held := r.Held()
	began := time.Now()
	err := c.load(ctx, r.source, r.opts.Memory-held, &r.reads)
	switch p := c.period.Load(); {
	case err == nil && p != nil:
		c.loaded = time.Now()
		r.opts.Observer.PeriodLoaded(p.At().Total, time.Since(began), nil)
		r.dirty.put(c)
	case errors.Is(err, errNoRoom): // its size is known now
	case ctx.Err() == nil:
		c.failed = time.Now()
		r.opts.Observer.PeriodLoaded(0, time.Since(began), err)
		r.opts.Logger.Warn("a period was not loaded into memory", "board", c.ref.Load().Board, "period", c.id, "error", err)
	}
}

// Holds reports whether a period is in memory. It does not count as a read.
func (r *Periods) Holds(id int64) bool {
	c, ok := r.candidates.Load(id)
	return ok && c.(*candidate).period.Load() != nil
}
