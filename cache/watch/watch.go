// Package watch tells how old an answer can be at most, by the database alone: whoever feeds a copy, whatever the clocks
// of other machines say. One statement every few milliseconds asks for the revisions of all periods that are being read.
// What it showed is true of the moment at which it was sent, so an answer whose revision is not older is not older than
// that (design promise P5).
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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

// Options adjust a Watch; the zero value is fit for production.
type Options struct {
	MaxAge   time.Duration // of an answer that does not say that it is stale, 200 ms
	Interval time.Duration // between two statements, a quarter of MaxAge, 50 ms; while one takes longer, up to half of MaxAge
	Idle     time.Duration // how long after it was read a period is asked about, 1 s
	Wait     time.Duration // how long a reader waits for a statement, 250 ms
	Deadline time.Duration // of a statement: one whose connection hangs is given up. Four times MaxAge, 1 s at least
	Chunk    int           // periods of one statement, 500
	// OnRound is told how long all statements of a round took, and their errors. It must not block; may be nil.
	OnRound func(periods int, took time.Duration, err error)
	// OnShown is told what a statement showed, before those who waited for it go on. It must not block; may be nil.
	OnShown func(shown map[int64]leaderboard.Revision, sent time.Time)
	// KeysInUse says whether the table of API keys is watched now, as leaderboard.KeysPeriod, whether anybody reads or not.
	// It must not block; nil: never.
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

// Verdict is what the watch says of an answer.
type Verdict int

const (
	// VerdictUnknown: nothing was heard of the period for MaxAge. Wait may help; otherwise the answer is stale.
	VerdictUnknown Verdict = iota
	// VerdictFresh: the answer is not older than MaxAge, nor than one that was fresh before it.
	VerdictFresh
	// VerdictOld: there was something newer MaxAge ago, or in an answer that was fresh.
	VerdictOld
	// VerdictDiverged: the database had never got as far when it was asked after that, or it took another way, or there is
	// no such period. It was restored from a backup, or the period was deleted: who answered so has nothing to say.
	VerdictDiverged
)

// Watch follows the revisions of the periods that are read. All methods may be called concurrently; nothing is asked
// unless Run runs.
type Watch struct {
	source  Source
	opts    Options
	now     func() time.Time // time.Now
	began   time.Time        // when the Watch was made
	periods sync.Map         // int64 → *period

	mu     sync.Mutex
	next   *round        // what the next statement is joined by, nil when nobody has
	joined chan struct{} // holds a value while next is not nil

	lastSent atomic.Pointer[time.Time] // of the last round without an error, nil before it
	failed   atomic.Pointer[time.Time] // when the first round was sent that failed since, nil when the last did not
	asking   atomic.Pointer[time.Time] // when the round under way was sent, nil when none is
	clock    atomic.Pointer[sample]    // of leaderboard.ClockPeriod, nil before the first
}

// period is what is known of one period.
type period struct {
	read atomic.Int64 // when it was last judged or waited for, ns since Watch.began

	mu      sync.Mutex
	samples []sample // ascending by sent, each of another revision; the latest is always there
	seen    []seen   // in answers, since a statement was last sent
	// denied is what the database turned out not to have come to: no answer up to it is true, unless a statement shows it.
	denied leaderboard.Revision
	floor  leaderboard.Revision // the highest of the answers that were fresh
	raised time.Time            // when it became that

	changed chan struct{} // closed when a statement shows something else; nil when nobody waits for that
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

// round is one statement to come, for those who wait.
type round struct {
	periods map[int64]bool
	done    chan struct{} // closed when it has been answered
	err     error         // then
}

// New returns a Watch on a database.
func New(source Source, opts Options) *Watch {
	return &Watch{source: source, opts: opts.withDefaults(), now: time.Now, began: time.Now(), joined: make(chan struct{}, 1)}
}

// Judge says what is known now of an answer at a revision of a period, and counts as reading the period. An answer ahead of
// what was last shown is normal: it was committed since. It is fresh until a statement that was sent after the answer was
// first seen shows less.
func (w *Watch) Judge(id int64, r leaderboard.Revision) Verdict {
	now := w.now()
	p := w.period(id, now)
	verdict := p.judge(r, now, w.opts.MaxAge)
	if verdict == VerdictUnknown {
		w.join(id) // it is asked about, whether anybody waits or not
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

// Check is Judge, but when nothing was heard of the period it waits for the next statement, unless the last ones failed.
func (w *Watch) Check(ctx context.Context, id int64, r leaderboard.Revision) Verdict {
	verdict := w.Judge(id, r)
	if verdict == VerdictUnknown && !w.Away() && w.Wait(ctx, id) == nil {
		return w.Judge(id, r)
	}
	return verdict
}

// isBehind says whether the database may have come to a revision since the sample: it had not then.
func (s *sample) isBehind(r leaderboard.Revision) bool {
	return !s.exists || s.Incarnation == r.Incarnation && (s.Seq < r.Seq || s.Seq == r.Seq && s.AsOf != r.AsOf)
}

// denies says whether the database has not come to a revision, at the time of the sample.
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

// covers says whether a was committed after b, or is it: on whatever branch of a history, neither number is less.
func covers(a, b leaderboard.Revision) bool {
	return a.Incarnation == b.Incarnation && a.Seq >= b.Seq && a.AsOf >= b.AsOf
}

// Wait returns when a statement that was sent after the call has been answered: the next one, at once when none is under
// way. Errors: leaderboard.ErrUnavailable when it failed or Options.Wait is over, that of ctx.
func (w *Watch) Wait(ctx context.Context, id int64) error {
	w.period(id, w.now())
	next := w.join(id)
	timer := time.NewTimer(w.opts.Wait)
	defer timer.Stop()
	select {
	case <-next.done:
		return next.err
	case <-timer.C:
		return fmt.Errorf("%w: the watch was not answered in %v", leaderboard.ErrUnavailable, w.opts.Wait)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Changed blocks until a statement has shown something newer of a period than a revision, another history, or that the
// period is gone. It counts as reading the period. The error is that of ctx.
func (w *Watch) Changed(ctx context.Context, id int64, than leaderboard.Revision) error {
	read := time.NewTicker(w.opts.Idle / 2)
	defer read.Stop()
	for {
		p := w.period(id, time.Now())
		changed, known := p.shows(than)
		if changed == nil {
			return nil
		}
		if !known {
			w.join(id)
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

// Latest returns the revision of a period that was shown last, however long ago; ok is false when none was. To ask is not to
// read: it does not make the watch ask about the period any longer.
func (w *Watch) Latest(id int64) (r leaderboard.Revision, ok bool) {
	known, ok := w.periods.Load(id)
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
func (w *Watch) Clock() (clock leaderboard.Micros, sent time.Time, ok bool) {
	if last := w.clock.Load(); last != nil {
		return last.AsOf, last.sent, true
	}
	return 0, sent, false
}

// Away says that the database has not answered for MaxAge, though it was asked: it refuses, or it hangs.
func (w *Watch) Away() bool {
	now := w.now()
	for _, since := range []*time.Time{w.failed.Load(), w.asking.Load()} {
		if since != nil && now.Sub(*since) > w.opts.MaxAge {
			return true
		}
	}
	return false
}

// Age returns how long ago the last round without an error was sent, 0 when there was none.
func (w *Watch) Age() time.Duration {
	if sent := w.lastSent.Load(); sent != nil {
		return w.now().Sub(*sent)
	}
	return 0
}

// period returns what is known of a period, and notes that it was read.
func (w *Watch) period(id int64, now time.Time) *period {
	p, ok := w.periods.Load(id)
	if !ok {
		p, _ = w.periods.LoadOrStore(id, &period{})
	}
	one := p.(*period)
	if at := now.Sub(w.began); at-time.Duration(one.read.Load()) > time.Millisecond { // readers do not fight over the cache line
		one.read.Store(int64(at))
	}
	return one
}

func (w *Watch) join(id int64) *round {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next == nil {
		w.next = &round{periods: map[int64]bool{}, done: make(chan struct{})}
		w.joined <- struct{}{}
	}
	w.next.periods[id] = true
	return w.next
}

// Run asks until ctx ends. While nobody reads, nothing is asked; after a failure, not before the interval is over.
func (w *Watch) Run(ctx context.Context) {
	timer := time.NewTimer(w.opts.Interval)
	defer timer.Stop()
	ticking := true
	for ctx.Err() == nil {
		began := w.now()
		var err error
		select {
		case <-ctx.Done():
		case <-w.joined:
			began = w.now()
			err = w.ask(ctx, nil)
			if !ticking {
				ticking = true
				timer.Reset(w.opts.Interval)
			}
		case <-timer.C:
			began = w.now()
			active := w.active(began)
			if ticking = len(active) > 0; !ticking {
				w.failed.Store(nil) // nobody asks any more, so nobody knows
				continue
			}
			err = w.ask(ctx, active)
			took := w.now().Sub(began)
			timer.Reset(max(w.opts.Interval, min(2*took, w.opts.MaxAge/2)) - took)
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(w.opts.Interval - w.now().Sub(began)):
			}
		}
	}
	w.fail(ctx.Err())
}

// fail tells those who wait that nobody will ask.
func (w *Watch) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.next != nil {
		w.next.err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		close(w.next.done)
		w.next = nil
		<-w.joined
	}
}

// active returns the periods that were read of late, and forgets the others.
func (w *Watch) active(now time.Time) []int64 {
	if w.opts.KeysInUse(now) {
		w.period(leaderboard.KeysPeriod, now)
	}
	var ids []int64
	w.periods.Range(func(id, p any) bool {
		if now.Sub(w.began)-time.Duration(p.(*period).read.Load()) <= w.opts.Idle {
			ids = append(ids, id.(int64))
		} else {
			w.periods.Delete(id)
		}
		return true
	})
	return ids
}

// ask asks about periods and about those that somebody waits for, and lets them go on.
func (w *Watch) ask(ctx context.Context, ids []int64) error {
	w.mu.Lock()
	waiting := w.next
	w.next = nil
	select {
	case <-w.joined:
	default:
	}
	w.mu.Unlock()
	if waiting != nil {
		for _, id := range ids {
			delete(waiting.periods, id)
		}
		for id := range waiting.periods {
			ids = append(ids, id)
		}
		defer close(waiting.done)
	}
	began := w.now()
	w.asking.Store(&began)
	defer w.asking.Store(nil)
	slices.Sort(ids)
	var failures []error
	for chunk := range slices.Chunk(ids, w.opts.Chunk) {
		sent := w.now()
		revisions, err := w.revisions(ctx, chunk)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		for _, id := range chunk {
			r, exists := revisions[id]
			if p, ok := w.periods.Load(id); ok {
				p.(*period).note(sample{r, exists, sent}, w.opts.MaxAge)
			}
		}
		if clock, ok := revisions[leaderboard.ClockPeriod]; ok {
			w.clock.Store(&sample{clock, ok, sent})
		}
		w.opts.OnShown(revisions, sent)
	}
	err := errors.Join(failures...)
	if err == nil {
		w.lastSent.Store(&began)
		w.failed.Store(nil)
	} else {
		w.failed.CompareAndSwap(nil, &began)
	}
	if waiting != nil && err != nil {
		waiting.err = fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
	}
	w.opts.OnRound(len(ids), w.now().Sub(began), err)
	return err
}

// revisions sends one statement.
func (w *Watch) revisions(ctx context.Context, ids []int64) (map[int64]leaderboard.Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, w.opts.Deadline)
	defer cancel()
	return w.source.Revisions(ctx, ids)
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
