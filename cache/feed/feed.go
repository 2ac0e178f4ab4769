package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

// Source is the database.
type Source interface {
	// Revisions returns the revisions of those of the periods that exist, and the clock as that of leaderboard.ClockPeriod.
	// periods has at most Options.Chunk ids.
	Revisions(ctx context.Context, periods []int64) (map[int64]leaderboard.Revision, error)
}

// Options adjust a Feed; the zero value is fit for production.
type Options struct {
	MaxAge   time.Duration // of an answer that does not say that it is stale, 200 ms
	Interval time.Duration // between two statements, a quarter of MaxAge, 50 ms; while one takes longer, up to half of MaxAge
	Idle     time.Duration // how long after it was read a period is asked about, 1 s
	Wait     time.Duration // how long a reader waits for a statement, 250 ms
	Deadline time.Duration // of a statement: one whose connection hangs is given up. Four times MaxAge, 1 s at least
	Chunk    int           // periods of one statement, 500
	// OnRound is told how long all statements of a round took, and their errors. It must not block; may be nil.
	OnRound func(periods int, took time.Duration, err error)
	// OnShown is told what a statement showed, before those that waited for it go on. It must not block; may be nil.
	OnShown func(shown map[int64]leaderboard.Revision, sent time.Time)
	// KeysInUse reports whether the table of API keys is asked about now, as leaderboard.KeysPeriod, though it is not read. It
	// must not block; nil: never.
	KeysInUse func(now time.Time) bool
}

func (o Options) withDefaults() Options {
	o.MaxAge = cmp.Or(o.MaxAge, 200*time.Millisecond)
	o.Interval = cmp.Or(o.Interval, o.MaxAge/4)
	o.Idle = cmp.Or(o.Idle, time.Second)
	o.Wait = cmp.Or(o.Wait, 250*time.Millisecond)
	o.Deadline = cmp.Or(o.Deadline, max(time.Second, 4*o.MaxAge))
	o.Chunk = cmp.Or(o.Chunk, 500)
	if o.OnRound == nil {
		o.OnRound = func(int, time.Duration, error) {}
	}
	if o.OnShown == nil {
		o.OnShown = func(map[int64]leaderboard.Revision, time.Time) {}
	}
	if o.KeysInUse == nil {
		o.KeysInUse = func(time.Time) bool { return false }
	}
	return o
}

// Verdict is what the feed says of an answer.
type Verdict int

const (
	// VerdictUnknown: no statement showed the period for MaxAge. Wait may help; otherwise the answer is stale.
	VerdictUnknown Verdict = iota
	// VerdictFresh: the answer is not older than MaxAge, nor than one that was fresh before it.
	VerdictFresh
	// VerdictOld: there was something newer MaxAge ago, or in an answer that was fresh.
	VerdictOld
	// VerdictDiverged: the database had never got as far when it was asked after that, or it took another way, or there is
	// no such period. It was restored from a backup, or the period was deleted: the copy that answered so is of no use.
	VerdictDiverged
)

// Feed tells what was committed: to the periods that are read, to the table of boards and to that of API keys. All methods
// may be called concurrently; nothing is asked unless Run runs.
type Feed struct {
	Tail *Tail // what this process has committed

	source  Source
	opts    Options
	now     func() time.Time // time.Now
	began   time.Time        // when the Feed was made
	periods sync.Map         // int64 → *period

	mu     sync.Mutex
	next   *round        // the next statement for those that wait, nil when none do
	joined chan struct{} // holds a value while next is not nil

	lastSent atomic.Pointer[time.Time] // of the last round without an error about periods that are read, nil before it
	failed   atomic.Pointer[time.Time] // when the first round was sent that failed since, nil when the last did not
	asking   atomic.Pointer[time.Time] // when the round under way was sent, nil when none is
	clock    atomic.Pointer[sample]    // of leaderboard.ClockPeriod, nil before the first
}

// period is what is known of one period, or of one table.
type period struct {
	read atomic.Int64 // when it was last judged or waited for, ns since Feed.began

	mu      sync.Mutex
	samples []sample // ascending by sent, each of another revision; the latest is always there
	seen    []seen   // in answers, since a statement was last sent
	// denied is what the database turned out not to have come to: no answer up to it is true, unless a statement shows it.
	denied leaderboard.Revision
	floor  leaderboard.Revision // the highest of the answers that were fresh
	raised time.Time            // when it became that

	changed chan struct{} // closed when a statement shows something else; nil when nothing waits for that
}

// seen is the revision of an answer.
type seen struct {
	leaderboard.Revision
	first time.Time
}

// sample is what statements showed.
type sample struct {
	leaderboard.Revision
	exists bool
	sent   time.Time // of the last statement that showed this
}

// round is one statement to come, for those that wait.
type round struct {
	periods map[int64]bool
	done    chan struct{}                  // closed when it has been answered
	shown   map[int64]leaderboard.Revision // then
	err     error                          // then
}

// New returns a Feed on a database.
func New(source Source, opts Options) *Feed {
	return &Feed{Tail: NewTail(0), source: source, opts: opts.withDefaults(), now: time.Now, began: time.Now(), joined: make(chan struct{}, 1)}
}

// Judge says what is known now of an answer at a revision of a period, and counts as reading the period. An answer ahead of
// what was last shown is normal: it was committed since. It is fresh until a statement that was sent after the answer was
// first seen shows less.
func (f *Feed) Judge(id int64, r leaderboard.Revision) Verdict {
	now := f.now()
	p := f.period(id, now)
	verdict := p.judge(r, now, f.opts.MaxAge)
	if verdict == VerdictUnknown {
		f.join(id) // it is asked about, whether the caller waits or not
	}
	return verdict
}

func (p *period) judge(r leaderboard.Revision, now time.Time, maxAge time.Duration) Verdict {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.see(r, now)
	if len(p.samples) == 0 {
		return VerdictUnknown
	}
	latest := &p.samples[len(p.samples)-1]
	if now.Sub(latest.sent) > maxAge {
		return VerdictUnknown
	}
	denied := covers(p.denied, r)
	if denied && latest.denies(r) {
		return VerdictDiverged
	}
	if latest.exists && latest.Incarnation != r.Incarnation {
		return VerdictUnknown // which one is of before a restore, the next statement shows
	}
	if r.Incarnation == p.floor.Incarnation && r.Seq < p.floor.Seq {
		return VerdictOld
	}
	for _, s := range slices.Backward(p.samples) {
		if now.Sub(s.sent) > maxAge {
			break
		}
		if s.exists && s.Revision == r || !denied && s.isBehind(r) {
			if r != p.floor {
				p.floor, p.raised = r, now
			}
			return VerdictFresh
		}
	}
	return VerdictOld
}

// Check is Judge, but when no statement showed the period of late it waits for the next one, unless the last ones failed.
func (f *Feed) Check(ctx context.Context, id int64, r leaderboard.Revision) Verdict {
	verdict := f.Judge(id, r)
	if verdict == VerdictUnknown && !f.Away() && f.Wait(ctx, id) == nil {
		return f.Judge(id, r)
	}
	return verdict
}

// isBehind reports whether the database may have come to a revision since the sample: it had not then.
func (s *sample) isBehind(r leaderboard.Revision) bool {
	return !s.exists || s.Incarnation == r.Incarnation && (s.Seq < r.Seq || s.Seq == r.Seq && s.AsOf != r.AsOf)
}

// denies reports whether the database had not come to a revision at the time of the sample.
func (s *sample) denies(r leaderboard.Revision) bool {
	return s.isBehind(r) || s.Incarnation != r.Incarnation
}

// maxSeen is how many revisions of answers are remembered until the next statement; answers differ in two or three.
const maxSeen = 16

// see notes that there was an answer at a revision.
func (p *period) see(r leaderboard.Revision, now time.Time) {
	known := func(s seen) bool { return covers(s.Revision, r) }
	if len(p.seen) < maxSeen && !slices.ContainsFunc(p.seen, known) {
		p.seen = append(p.seen, seen{r, now})
	}
}

// covers reports whether a is b or was committed after it: neither number is less, on whatever branch of a history.
func covers(a, b leaderboard.Revision) bool {
	return a.Incarnation == b.Incarnation && a.Seq >= b.Seq && a.AsOf >= b.AsOf
}

// Wait returns when a statement that was sent after the call has been answered: the next one, at once when none is under
// way. It counts as reading the period. Errors: leaderboard.ErrUnavailable when it failed or Options.Wait is over, that of
// ctx.
func (f *Feed) Wait(ctx context.Context, id int64) error {
	f.period(id, f.now())
	return f.await(ctx, f.join(id))
}

// Ask returns the revision of a period that a statement sent after the call has shown; ok is false when the database has no
// such period, or does not answer. It does not count as reading the period.
func (f *Feed) Ask(ctx context.Context, id int64) (r leaderboard.Revision, ok bool) {
	if f.Away() {
		return r, false
	}
	next := f.join(id)
	if f.await(ctx, next) == nil {
		r, ok = next.shown[id]
	}
	return r, ok
}

// await returns when a round has been answered. Errors as of Wait.
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

// Changed blocks until a statement has shown something newer of a period than a revision, another history, or that the
// period is gone. It counts as reading the period. The error is that of ctx.
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

// shows returns nil when the latest statement showed something else than a revision or what came before it; otherwise what
// is closed when one shows something else than the latest. known: there was a statement.
func (p *period) shows(than leaderboard.Revision) (changed <-chan struct{}, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.samples) > 0 {
		known = true
		if latest := &p.samples[len(p.samples)-1]; !latest.exists || !covers(than, latest.Revision) {
			return nil, known
		}
	}
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed, known
}

// Latest returns the revision of a period that was shown last, however long ago; ok is false when none was. It does not
// count as reading the period.
func (f *Feed) Latest(id int64) (r leaderboard.Revision, ok bool) {
	known, ok := f.periods.Load(id)
	if !ok {
		return r, false
	}
	p := known.(*period)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.samples) == 0 {
		return r, false
	}
	latest := &p.samples[len(p.samples)-1]
	return latest.Revision, latest.exists
}

// Clock returns what the database clock said when a statement read it last, and when that was sent; ok is false when none
// has read it.
func (f *Feed) Clock() (clock leaderboard.Micros, sent time.Time, ok bool) {
	if last := f.clock.Load(); last != nil {
		return last.AsOf, last.sent, true
	}
	return 0, sent, false
}

// Away reports whether the database has not answered for MaxAge, though it was asked: it refuses, or it hangs.
func (f *Feed) Away() bool {
	now := f.now()
	for _, since := range []*time.Time{f.failed.Load(), f.asking.Load()} {
		if since != nil && now.Sub(*since) > f.opts.MaxAge {
			return true
		}
	}
	return false
}

// Age returns how long ago the last round about periods that are read was sent, of those without an error, 0 when there
// was none.
func (f *Feed) Age() time.Duration {
	if sent := f.lastSent.Load(); sent != nil {
		return f.now().Sub(*sent)
	}
	return 0
}

// period returns what is known of a period, and notes that it was read.
func (f *Feed) period(id int64, now time.Time) *period {
	p, ok := f.periods.Load(id)
	if !ok {
		p, _ = f.periods.LoadOrStore(id, &period{})
	}
	one := p.(*period)
	if at := now.Sub(f.began); at-time.Duration(one.read.Load()) > time.Millisecond { // readers do not fight over the cache line
		one.read.Store(int64(at))
	}
	return one
}

func (f *Feed) join(id int64) *round {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil {
		f.next = &round{periods: map[int64]bool{}, shown: map[int64]leaderboard.Revision{}, done: make(chan struct{})}
		f.joined <- struct{}{}
	}
	f.next.periods[id] = true
	return f.next
}

// Run asks until ctx ends. While nothing is read, nothing is asked; after a failure, not before the interval is over.
func (f *Feed) Run(ctx context.Context) {
	timer := time.NewTimer(f.opts.Interval)
	defer timer.Stop()
	ticking := true
	for ctx.Err() == nil {
		began := f.now()
		var err error
		select {
		case <-ctx.Done():
		case <-f.joined:
			began = f.now()
			err = f.ask(ctx, nil)
			if !ticking {
				ticking = true
				timer.Reset(f.opts.Interval)
			}
		case <-timer.C:
			began = f.now()
			active := f.active(began)
			if ticking = len(active) > 0; !ticking {
				f.failed.Store(nil) // nothing is asked any more, so nothing is known
				continue
			}
			err = f.ask(ctx, active)
			took := f.now().Sub(began)
			timer.Reset(max(f.opts.Interval, min(2*took, f.opts.MaxAge/2)) - took)
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

// fail tells those that wait that no statement will be sent.
func (f *Feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next != nil {
		f.next.err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		close(f.next.done)
		f.next = nil
		<-f.joined
	}
}

// active returns the periods that were read of late, and forgets the others.
func (f *Feed) active(now time.Time) []int64 {
	if f.opts.KeysInUse(now) {
		f.period(leaderboard.KeysPeriod, now)
	}
	var ids []int64
	f.periods.Range(func(id, p any) bool {
		if now.Sub(f.began)-time.Duration(p.(*period).read.Load()) <= f.opts.Idle {
			ids = append(ids, id.(int64))
		} else {
			f.periods.Delete(id)
		}
		return true
	})
	return ids
}

// ask asks about periods and about those that callers wait for, and lets them go on.
func (f *Feed) ask(ctx context.Context, ids []int64) error {
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
	f.asking.Store(&began)
	defer f.asking.Store(nil)
	slices.Sort(ids)
	var failures []error
	read := false // any of the periods
	for chunk := range slices.Chunk(ids, f.opts.Chunk) {
		sent := f.now()
		revisions, err := f.revisions(ctx, chunk)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		for _, id := range chunk {
			r, exists := revisions[id]
			if p, ok := f.periods.Load(id); ok {
				p.(*period).note(sample{r, exists, sent}, f.opts.MaxAge)
				read = true
			}
		}
		if waiting != nil {
			maps.Copy(waiting.shown, revisions)
		}
		if clock, ok := revisions[leaderboard.ClockPeriod]; ok {
			f.clock.Store(&sample{clock, ok, sent})
		}
		f.opts.OnShown(revisions, sent)
	}
	err := errors.Join(failures...)
	if err == nil {
		if read {
			f.lastSent.Store(&began)
		}
		f.failed.Store(nil)
	} else {
		f.failed.CompareAndSwap(nil, &began)
	}
	if waiting != nil && err != nil {
		waiting.err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
	}
	f.opts.OnRound(len(ids), f.now().Sub(began), err)
	return err
}

// revisions sends one statement.
func (f *Feed) revisions(ctx context.Context, ids []int64) (map[int64]leaderboard.Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, f.opts.Deadline)
	defer cancel()
	return f.source.Revisions(ctx, ids)
}

// note adds what a statement showed, and drops what is too old to speak for an answer.
func (p *period) note(s sample, maxAge time.Duration) {
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
	for old < len(p.samples) && s.sent.Sub(p.samples[old].sent) > maxAge {
		old++
	}
	p.samples = append(slices.Delete(p.samples, 0, old), s)
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// check finds out which of the answers that were seen before a statement was sent it denies.
func (p *period) check(s *sample) {
	deny := func(r leaderboard.Revision, first time.Time) {
		if first.Before(s.sent) && s.denies(r) {
			if p.denied.Incarnation != r.Incarnation {
				p.denied = r
			}
			p.denied.Seq, p.denied.AsOf = max(p.denied.Seq, r.Seq), max(p.denied.AsOf, r.AsOf)
		}
	}
	p.seen = slices.DeleteFunc(p.seen, func(a seen) bool {
		deny(a.Revision, a.first)
		return a.first.Before(s.sent)
	})
	if p.floor != (leaderboard.Revision{}) {
		if deny(p.floor, p.raised); covers(p.denied, p.floor) {
			p.floor = leaderboard.Revision{} // answers of the database itself are fresh again
		}
	}
}
