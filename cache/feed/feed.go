package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
)

// Source is the database.
type Source interface {
	// Revisions returns the revisions of the periods, without periods that do not exist, and the clock as the revision
	// of leaderboard.ClockPeriod. periods has at most Options.Chunk ids.
	Revisions(ctx context.Context, periods []int64) (map[int64]leaderboard.Revision, error)
}

// Options adjust a Feed; the zero value is fit for production.
type Options struct {
	MaxAge   time.Duration // of an answer that is not marked stale, 200 ms
	Interval time.Duration // between two statements, a quarter of MaxAge, 50 ms; while one takes longer, up to half of MaxAge
	Idle     time.Duration // how long a period is asked about after it was read last, 1 s
	Wait     time.Duration // how long a reader waits for a statement, 250 ms
	Deadline time.Duration // Deadline of a statement, so that a hanging connection is given up. Four times MaxAge, at least 1 s
	Chunk    int           // periods of one statement, 500
	// receives rounds, for metrics; may be nil
	Observer Observer
	// OnShown is called with the revisions that a statement showed, before the callers that waited for it continue. It
	// must not block; may be nil.
	OnShown func(shown map[int64]leaderboard.Revision)
}

const (
	// tableAge and tableIdle are Options.MaxAge and Options.Idle of the tables of API keys and of players' tokens: a revoked
	// key ends within a second, and a client that sends one request a few seconds waits for no statement.
	tableAge  = 500 * time.Millisecond
	tableIdle = 10 * time.Second
	// nextApart is the least time between two statements for callers of Next.
	nextApart = 50 * time.Millisecond
)

// Observer receives events for metrics. Its method must not block.
type Observer interface {
	// RoundEnded is called after each round with how long its statements took, and their errors.
	RoundEnded(periods int, took time.Duration, err error)
}

// unobserved is for nobody.
type unobserved struct{}

// RoundEnded implements Observer.
func (unobserved) RoundEnded(int, time.Duration, error) {}

func (o Options) withDefaults() Options {
	o.MaxAge = cmp.Or(o.MaxAge, 200*time.Millisecond)
	o.Interval = cmp.Or(o.Interval, o.MaxAge/4)
	o.Idle = cmp.Or(o.Idle, time.Second)
	o.Wait = cmp.Or(o.Wait, 250*time.Millisecond)
	o.Deadline = cmp.Or(o.Deadline, max(time.Second, 4*o.MaxAge))
	o.Chunk = cmp.Or(o.Chunk, 500)
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	if o.OnShown == nil {
		o.OnShown = func(map[int64]leaderboard.Revision) {}
	}
	return o
}

// Verdict is the result of judging an answer.
type Verdict int

const (
	// VerdictUnknown: no statement showed the period for MaxAge. Wait may help; otherwise the answer is stale.
	VerdictUnknown Verdict = iota
	// VerdictFresh: the answer is not older than MaxAge, and not older than an earlier fresh answer.
	VerdictFresh
	// VerdictOld: MaxAge ago the period had a newer revision already, or an answer that was fresh had one.
	VerdictOld
	// VerdictDiverged: the database, asked after the answer came, had not reached its revision, or has another incarnation
	// of the period, or has no such period. It was restored from a backup, or the period was deleted: the copy must be dropped.
	VerdictDiverged
)

// Feed finds the commits to the periods that are read, and to the tables of boards and of API keys. All methods may be
// called concurrently; the database is asked only while Run runs.
type Feed struct {
	Tail *Tail // the commits of this process

	source  Source
	opts    Options
	now     func() time.Time // time.Now
	began   time.Time        // when the Feed was made
	periods sync.Map         // int64 → *period

	mu     sync.Mutex
	next   *round        // the next statement for callers that wait, nil when no caller waits
	joined chan struct{} // holds a value when Run is to look at next

	lastSent atomic.Pointer[time.Time] // when the last round without an error about periods that are read was sent, nil before it
	failed   atomic.Pointer[time.Time] // when the first of the latest rounds that failed was sent, nil when the last succeeded
	querying atomic.Pointer[time.Time] // when the round under way was sent, nil between two
	clock    atomic.Pointer[sample]    // of leaderboard.ClockPeriod, nil before the first
}

// period is the knowledge about one period, or about one table.
type period struct {
	maxAge time.Duration // of an answer about it that is fresh
	idle   time.Duration // how long it is asked about after it was read

	read  atomic.Int64          // when it was last judged or waited for, ns since Feed.began
	good  atomic.Pointer[proof] // of the answers at floor, so that most are judged without the lock; nil: none
	table *sample               // of a board: the table of boards when the board was shown last; of Run's goroutine

	mu      sync.Mutex
	samples []sample   // ascending by sent, each of another revision; the latest is always there
	seen    []sighting // in answers, since a statement was last sent
	// notReached is the highest revision that the database turned out not to have: no answer up to it is true, unless a statement shows it.
	notReached    leaderboard.Revision
	minFresh      leaderboard.Revision // the highest of the answers that were fresh
	minFreshSince time.Time            // when it became that

	changed chan struct{} // closed when a statement shows a change; nil without a waiting caller
}

// proof is until when answers at a revision are fresh, unless a statement shows another.
type proof struct {
	leaderboard.Revision
	until time.Time
}

// sighting is the revision of an answer.
type sighting struct {
	leaderboard.Revision
	first time.Time
}

// sample is the result of statements.
type sample struct {
	leaderboard.Revision
	exists bool
	sent   time.Time // of the last statement that showed this
}

// round is the next statements, for the callers that wait for them.
type round struct {
	soon    bool // a caller waits that wants it at once
	periods map[int64]bool
	done    chan struct{}                  // closed when it has been answered
	shown   map[int64]leaderboard.Revision // then
	err     error                          // then
}

// New returns a Feed on a database.
func New(source Source, opts Options) *Feed {
	return &Feed{Tail: NewTail(0), source: source, opts: opts.withDefaults(), now: time.Now, began: time.Now(), joined: make(chan struct{}, 1)}
}

// Judge judges an answer at a revision of a period by the present knowledge, and counts as reading the period. An
// answer newer than the last statement is normal: it was committed since. It is fresh until a statement that was sent
// after the answer was first seen shows an older revision.
func (f *Feed) Judge(id int64, r leaderboard.Revision) Verdict {
	now := f.now()
	p := f.period(id, now)
	if good := p.good.Load(); good != nil && good.Revision == r && !now.After(good.until) {
		return VerdictFresh
	}
	verdict := p.judge(r, now)
	if verdict == VerdictUnknown {
		f.join(id) // the next round asks about it, whether the caller waits or not
	}
	return verdict
}

// Fresh reports whether an answer at a revision of a period is fresh.
func (f *Feed) Fresh(id int64, r leaderboard.Revision) bool { return f.Judge(id, r) == VerdictFresh }

func (p *period) judge(r leaderboard.Revision, now time.Time) Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.see(r, now)
	if len(p.samples) == 0 {
		return VerdictUnknown
	}
	latest := &p.samples[len(p.samples)-1]
	if now.Sub(latest.sent) > p.maxAge {
		return VerdictUnknown
	}
	denied := p.notReached.Covers(r)
	if denied && latest.lacks(r) {
		return VerdictDiverged
	}
	if latest.exists && latest.Incarnation != r.Incarnation {
		return VerdictUnknown // the next statement shows which of the two is of before a restore
	}
	if r.Incarnation == p.minFresh.Incarnation && r.Seq < p.minFresh.Seq {
		return VerdictOld
	}
	for _, s := range slices.Backward(p.samples) {
		if now.Sub(s.sent) > p.maxAge {
			break
		}
		if s.exists && s.Revision == r || !denied && s.isBehind(r) {
			if r != p.minFresh {
				p.minFresh, p.minFreshSince = r, now
				p.good.Store(nil)
			}
			if latest.exists && latest.Revision == r {
				p.good.Store(&proof{r, latest.sent.Add(p.maxAge)})
			}
			return VerdictFresh
		}
	}
	return VerdictOld
}

// Check is Judge, but waits for the next statement when none showed the period lately, unless the last ones failed. That
// statement shows other periods also, for which Check counts as reading them.
func (f *Feed) Check(ctx context.Context, id int64, r leaderboard.Revision, also ...int64) Verdict {
	verdict := f.Judge(id, r)
	if verdict == VerdictUnknown && !f.Away() && f.Wait(ctx, id, also...) == nil {
		return f.Judge(id, r)
	}
	return verdict
}

// isBehind reports whether the database had not reached a revision at the time of the sample, but may have since.
func (s *sample) isBehind(r leaderboard.Revision) bool {
	return !s.exists || s.Incarnation == r.Incarnation && (s.Seq < r.Seq || s.Seq == r.Seq && s.AsOf != r.AsOf)
}

// lacks reports whether the database had not reached a revision at the time of the sample.
func (s *sample) lacks(r leaderboard.Revision) bool {
	return s.isBehind(r) || s.Incarnation != r.Incarnation
}

// maxSeen is how many revisions of answers are remembered until the next statement. Usually there are two or three.
const maxSeen = 16

// see notes that there was an answer at a revision.
func (p *period) see(r leaderboard.Revision, now time.Time) {
	known := func(s sighting) bool { return s.Revision.Covers(r) }
	if len(p.seen) < maxSeen && !slices.ContainsFunc(p.seen, known) {
		p.seen = append(p.seen, sighting{r, now})
	}
}

// Wait returns when a statement that was sent after the call has been answered. It is sent at once, or when the
// statement under way has been answered. Wait counts as reading the period, and the others that the statement is to show
// also. Errors: leaderboard.ErrUnavailable when the statement failed or took longer than Options.Wait, and the error of ctx.
func (f *Feed) Wait(ctx context.Context, id int64, also ...int64) error {
	ids := append([]int64{id}, also...)
	for _, id := range ids {
		f.period(id, f.now())
	}
	return f.await(ctx, f.join(ids...))
}

// Next is Wait, but leaves time between statements: callers whose questions nobody bounds cost one in nextApart.
func (f *Feed) Next(ctx context.Context, id int64) error {
	f.period(id, f.now())
	return f.await(ctx, f.joinNext(false, id))
}

// Query returns the revision of a period as a statement that was sent after the call has shown it; ok is false when the
// database has no such period, or does not answer. It does not count as reading the period.
func (f *Feed) Query(ctx context.Context, id int64) (r leaderboard.Revision, ok bool) {
	if f.Away() {
		return r, false
	}
	next := f.join(id)
	if f.await(ctx, next) != nil {
		return r, false
	}
	r, ok = next.shown[id]
	return r, ok
}

// await returns when a round has been answered. Errors: the errors of Wait.
func (f *Feed) await(ctx context.Context, next *round) error {
	timer := time.NewTimer(f.opts.Wait)
	defer timer.Stop()
	select {
	case <-next.done:
		return next.err
	case <-timer.C:
		return fmt.Errorf("%w: the database did not tell in %v what was committed", leaderboard.ErrUnavailable, f.opts.Wait)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Changed blocks until a statement has shown that a period is at a newer revision than the given one, has another
// incarnation, or is gone. It counts as reading the period. The error is the error of ctx.
func (f *Feed) Changed(ctx context.Context, id int64, than leaderboard.Revision) error {
	read := time.NewTicker(f.opts.Idle / 2)
	defer read.Stop()
	for {
		p := f.period(id, time.Now())
		changed, known := p.shows(than)
		if changed == nil {
			return nil
		}
		if !known {
			f.join(id)
		}
		select {
		case <-changed:
		case <-read.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// shows returns nil when the latest statement showed neither the given revision nor an earlier one. Otherwise it
// returns a channel that is closed when a statement shows a change. known: there was a statement.
func (p *period) shows(than leaderboard.Revision) (changed <-chan struct{}, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.samples) > 0 {
		known = true
		if latest := &p.samples[len(p.samples)-1]; !latest.exists || !than.Covers(latest.Revision) {
			return nil, known
		}
	}
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed, known
}

// Latest returns the revision of a period that was shown last, at any time, and when that statement was sent; ok is false
// before the first. It does not count as reading the period.
func (f *Feed) Latest(id int64) (r leaderboard.Revision, sent time.Time, ok bool) {
	known, ok := f.periods.Load(id)
	if !ok {
		return r, sent, false
	}
	p := known.(*period)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.samples) == 0 {
		return r, sent, false
	}
	latest := &p.samples[len(p.samples)-1]
	return latest.Revision, latest.sent, latest.exists
}

// Clock returns the database clock as a statement read it last, and when that statement was sent; ok is false before the
// first.
func (f *Feed) Clock() (clock leaderboard.Micros, sent time.Time, ok bool) {
	if last := f.clock.Load(); last != nil {
		return last.AsOf, last.sent, true
	}
	return 0, sent, false
}

// Away reports whether the database was asked and has not answered for MaxAge: it refuses, or it hangs.
func (f *Feed) Away() bool {
	now := f.now()
	for _, since := range []*time.Time{f.failed.Load(), f.querying.Load()} {
		if since != nil && now.Sub(*since) > f.opts.MaxAge {
			return true
		}
	}
	return false
}

// Age returns how long ago the last round about periods that are read, and without an error, was sent; 0 before the first.
func (f *Feed) Age() time.Duration {
	if sent := f.lastSent.Load(); sent != nil {
		return f.now().Sub(*sent)
	}
	return 0
}

func (f *Feed) newPeriod(id int64) *period {
	if id == leaderboard.KeysPeriod || id == leaderboard.TokensPeriod {
		return &period{maxAge: tableAge, idle: tableIdle}
	}
	return &period{maxAge: f.opts.MaxAge, idle: f.opts.Idle}
}

// period returns the knowledge about a period, and records that it was read.
func (f *Feed) period(id int64, now time.Time) *period {
	p, ok := f.periods.Load(id)
	if !ok {
		p, _ = f.periods.LoadOrStore(id, f.newPeriod(id))
	}
	one := p.(*period)
	if at := now.Sub(f.began); at-time.Duration(one.read.Load()) > time.Millisecond { // readers do not fight over the cache line
		one.read.Store(int64(at))
	}
	return one
}

// join adds periods to the next round, which is sent as soon as possible.
func (f *Feed) join(ids ...int64) *round { return f.joinNext(true, ids...) }

// joinNext adds periods to the next round; soon: it is sent as soon as possible.
func (f *Feed) joinNext(soon bool, ids ...int64) *round {
	f.mu.Lock()
	defer f.mu.Unlock()
	isNew := f.next == nil
	if isNew {
		f.next = &round{periods: map[int64]bool{}, shown: map[int64]leaderboard.Revision{}, done: make(chan struct{})}
	}
	if isNew || soon && !f.next.soon {
		f.next.soon = soon
		select {
		case f.joined <- struct{}{}:
		default:
		}
	}
	for _, id := range ids {
		f.next.periods[id] = true
	}
	return f.next
}

// Run sends statements until ctx ends. While nothing is read it sends none; after a failure it waits for the interval.
func (f *Feed) Run(ctx context.Context) {
	timer := time.NewTimer(f.opts.Interval)
	defer timer.Stop()
	ticking, tick, last := true, f.now().Add(f.opts.Interval), time.Time{}
	reset := func(d time.Duration) { ticking, tick = true, f.now().Add(d); timer.Reset(d) }
	for ctx.Err() == nil {
		began := f.now()
		var err error
		select {
		case <-ctx.Done():
		case <-f.joined:
			began = f.now()
			if rest := nextApart - began.Sub(last); !f.nextIsSoon() && rest > 0 {
				if !ticking || tick.Sub(began) > rest {
					reset(rest)
				}
				continue
			}
			last, err = began, f.query(ctx, nil)
			if !ticking {
				reset(f.opts.Interval)
			}
		case <-timer.C:
			began = f.now()
			active := f.active(began)
			if ticking = len(active) > 0; !ticking {
				f.failed.Store(nil) // no statements are sent now, so a failure is not known
				continue
			}
			last, err = began, f.query(ctx, active)
			took := f.now().Sub(began)
			reset(max(f.opts.Interval, min(2*took, f.opts.MaxAge/2)) - took)
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(f.opts.Interval - f.now().Sub(began)):
			}
		}
	}
	f.fail(ctx.Err())
}

// nextIsSoon reports whether a caller wants the next round at once.
func (f *Feed) nextIsSoon() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next == nil || f.next.soon
}

// fail ends the waiting of all callers, because no statement will be sent.
func (f *Feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != nil {
		f.next.err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		close(f.next.done)
		f.next = nil
	}
}

// active returns the periods that were read recently, and forgets the others.
func (f *Feed) active(now time.Time) []int64 {
	var ids []int64
	f.periods.Range(func(id, p any) bool {
		if p := p.(*period); now.Sub(f.began)-time.Duration(p.read.Load()) <= p.idle {
			ids = append(ids, id.(int64))
		} else {
			f.periods.Delete(id)
		}
		return true
	})
	return ids
}

// query asks about periods, including the periods that callers wait for, and ends their waiting.
func (f *Feed) query(ctx context.Context, ids []int64) error {
	f.mu.Lock()
	waiting := f.next
	f.next = nil
	select {
	case <-f.joined:
	default:
	}
	f.mu.Unlock()
	if waiting != nil {
		for _, id := range ids {
			delete(waiting.periods, id)
		}
		for id := range waiting.periods {
			ids = append(ids, id)
		}
		defer close(waiting.done)
	}
	began := f.now()
	f.querying.Store(&began)
	defer f.querying.Store(nil)
	slices.Sort(ids)
	a := asking{Feed: f, waiting: waiting}
	held, others := f.heldBoards(ids)
	a.ask(ctx, others)
	if a.failures == nil {
		a.ask(ctx, a.changed(held))
	}
	err := errors.Join(a.failures...)
	if err == nil {
		if a.read {
			f.lastSent.Store(&began)
		}
		f.failed.Store(nil)
	} else {
		f.failed.CompareAndSwap(nil, &began)
	}
	if waiting != nil && err != nil {
		waiting.err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
	}
	f.opts.Observer.RoundEnded(len(ids), f.now().Sub(began), err)
	return err
}

// heldBoards divides ids into boards that were shown before and all others. A held board needs no statement while the table of
// boards is unchanged, so that table is among the others, and is read first.
func (f *Feed) heldBoards(ids []int64) (held, others []int64) {
	table := false
	for _, id := range ids {
		_, isBoard := leaderboard.BoardOf(id)
		table = table || isBoard || id == leaderboard.BoardsPeriod
		if p, ok := f.periods.Load(id); ok && p.(*period).table != nil {
			held = append(held, id)
		} else if id != leaderboard.BoardsPeriod {
			others = append(others, id)
		}
	}
	if table {
		others = slices.Insert(others, 0, leaderboard.BoardsPeriod)
	}
	return held, others
}

// asking is a round under way.
type asking struct {
	*Feed
	waiting  *round  // nil without a caller that waits
	table    *sample // of the table of boards; nil: not shown
	read     bool    // a period that is read was shown
	failures []error
}

// ask sends the statements about ids, and notes the answers.
func (a *asking) ask(ctx context.Context, ids []int64) {
	for chunk := range slices.Chunk(ids, a.opts.Chunk) {
		sent := a.now()
		revisions, err := a.revisions(ctx, chunk)
		if err != nil {
			a.failures = append(a.failures, err)
			continue
		}
		if table, ok := revisions[leaderboard.BoardsPeriod]; ok {
			a.table = &sample{table, ok, sent}
		}
		for _, id := range chunk {
			r, exists := revisions[id]
			a.note(id, sample{r, exists, sent})
		}
		if clock, ok := revisions[leaderboard.ClockPeriod]; ok {
			a.clock.Store(&sample{clock, ok, sent})
		}
		a.opts.OnShown(revisions)
	}
}

// note adds a sample of a period, also for the callers that wait.
func (a *asking) note(id int64, s sample) {
	if s.exists && a.waiting != nil {
		a.waiting.shown[id] = s.Revision
	}
	known, ok := a.periods.Load(id)
	if !ok {
		return
	}
	p := known.(*period)
	p.note(s)
	if _, isBoard := leaderboard.BoardOf(id); isBoard {
		p.table = a.table // read no later than the board
	}
	a.read = true
}

// changed returns the held boards that are to be asked about, because the table of boards has changed since they were shown. It
// notes that the others were unchanged when the table was read.
func (a *asking) changed(held []int64) (ids []int64) {
	for _, id := range held {
		p, ok := a.periods.Load(id)
		if !ok || a.table == nil || p.(*period).table.Revision != a.table.Revision {
			ids = append(ids, id)
			continue
		}
		last := p.(*period).latest()
		a.note(id, sample{last.Revision, last.exists, a.table.sent})
	}
	return ids
}

// latest returns the last sample.
func (p *period) latest() sample {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.samples[len(p.samples)-1]
}

// revisions sends one statement.
func (f *Feed) revisions(ctx context.Context, ids []int64) (map[int64]leaderboard.Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, f.opts.Deadline)
	defer cancel()
	return f.source.Revisions(ctx, ids)
}

// note adds the result of a statement, and drops samples that are too old to judge an answer by.
func (p *period) note(s sample) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.check(&s)
	if n := len(p.samples); n > 0 {
		if last := &p.samples[n-1]; s.sent.Before(last.sent) {
			return // overtaken
		} else if last.exists == s.exists && last.Revision == s.Revision {
			last.sent = s.sent
			return
		}
	}
	old := 0
	for old < len(p.samples) && s.sent.Sub(p.samples[old].sent) > p.maxAge {
		old++
	}
	p.samples = append(slices.Delete(p.samples, 0, old), s)
	p.good.Store(nil)
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// check finds the answers that were seen before a statement was sent and that the statement denies.
func (p *period) check(s *sample) {
	deny := func(r leaderboard.Revision, first time.Time) {
		if first.Before(s.sent) && s.lacks(r) {
			if p.notReached.Incarnation != r.Incarnation {
				p.notReached = r
			}
			p.notReached.Seq, p.notReached.AsOf = max(p.notReached.Seq, r.Seq), max(p.notReached.AsOf, r.AsOf)
		}
	}
	p.seen = slices.DeleteFunc(p.seen, func(a sighting) bool {
		deny(a.Revision, a.first)
		return a.first.Before(s.sent)
	})
	if p.minFresh != (leaderboard.Revision{}) {
		if deny(p.minFresh, p.minFreshSince); p.notReached.Covers(p.minFresh) {
			p.minFresh = leaderboard.Revision{} // answers of the database itself are fresh again
		}
	}
}
