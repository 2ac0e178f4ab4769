package topn

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

const (
	// followChanges is how many changes of one period are written at once, about.
	followChanges = 5000
	// followTimeout bounds one application or catch-up.
	followTimeout = 5 * time.Second
	followBackoff = 100 * time.Millisecond // after the first failure, doubled up to followBackoffMax
	// followBackoffMax is short enough to be back soon, and long enough to be no load on a server in trouble.
	followBackoffMax = 5 * time.Second
	// catchUpEvery is the least time between two catch-ups of a copy that readers find old, by all processes together.
	// catchUpsKnown is for how many copies a process remembers the last one.
	catchUpEvery  = time.Second
	catchUpsKnown = 10_000
	// catchUpOld is catchUpEvery if nothing else keeps copies current.
	catchUpOld = 20 * time.Millisecond
)

// WriteThroughOptions adjust a WriteThrough; the zero value works.
type WriteThroughOptions struct {
	Demand   func(leaderboard.PeriodRef) // a copy that exists needs a full rebuild; must not block; may be nil
	Observer Observer                    // receives failures; may be nil
	// OnlyOld writes to a copy when a reader has found it old, at most every catchUpOld, and not after each commit. For measurements.
	OnlyOld bool
	// onApply is called after each write-through. For tests.
	onApply func(Applied)
	// Tail has the commits; Notify adds them to it. A new one when nil.
	Tail   *feed.Tail
	Logger *slog.Logger
}

// Applied is the report of one write-through.
type Applied struct {
	Ref     leaderboard.PeriodRef
	Seq     int64         // the copy is at it, unless Effect is EffectMissing
	Changes int           // in the commits applied; 0 for a catch-up
	Lag     time.Duration // since the oldest of the commits was notified
	Effect  Effect        // EffectGap: brought up to date from the log
}

// WriteThrough writes committed changes through to the copies. It applies the commits of one period in order, and many at a
// time when they come fast; after a failure it reads the change log. A copy that does not exist is not created: boards have
// no copy until they are read. A copy that cannot be written to is not read either, see Copies.IsBehind, until it is up to date
// again. When a server does not answer that holds for all of its copies, with one attempt a second for all.
type WriteThrough struct {
	copies  *Copies
	opts    WriteThroughOptions
	every   time.Duration                 // between two catch-ups of a copy
	servers *Servers[*semaphore.Weighted] // and how many periods each is written at once
	ctx     context.Context               // ends when Stop gives up
	cancel  context.CancelFunc
	wg      sync.WaitGroup // one per backlog

	mu       sync.Mutex
	backlogs map[copyID]*backlog
	caughtUp map[copyID]time.Time // when the last CatchUp was
	stopped  bool
	stop     chan struct{}
}

// backlog is the missing commits of one period's copy; a goroutine works on it. All fields are guarded by WriteThrough.mu.
type backlog struct {
	ref     leaderboard.PeriodRef
	from    leaderboard.Revision // of the copy, as far as known here
	to      leaderboard.Revision // of the last commit notified
	since   time.Time            // when the oldest commit that waits was notified
	fromLog bool                 // from is not known: read the log
	onTurn  bool                 // only because readers found the copy old, so another process may do it as well
}

// batch is the commits that are written through at once.
type batch struct {
	backlog
	commits []leaderboard.Commit // none: read the log
}

// NewWriteThrough starts nothing before the first Notify.
func NewWriteThrough(copies *Copies, opts WriteThroughOptions) *WriteThrough {
	if opts.Demand == nil {
		opts.Demand = func(leaderboard.PeriodRef) {}
	}
	if opts.onApply == nil {
		opts.onApply = func(Applied) {}
	}
	if opts.Observer == nil {
		opts.Observer = unobserved{}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.Tail == nil {
		opts.Tail = feed.NewTail(0)
	}
	f := &WriteThrough{copies: copies, opts: opts, backlogs: map[copyID]*backlog{}, caughtUp: map[copyID]time.Time{}, stop: make(chan struct{})}
	f.every = catchUpEvery
	if opts.OnlyOld {
		f.every = catchUpOld
	}
	f.servers = NewServers(copies.background, time.Now, func(string, bool) {}, func() *semaphore.Weighted { return semaphore.NewWeighted(followers) })
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Notify takes a commit, after it happened and in the order of seq per period. It never blocks.
func (f *WriteThrough) Notify(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
	f.opts.Tail.Add(commit)
	if f.opts.OnlyOld {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	b, running := f.backlogs[idOf(ref)]
	if !running {
		b = &backlog{from: commit.From()}
		f.backlogs[idOf(ref)] = b
	}
	b.notify(ref, commit)
	if !running {
		f.wg.Go(func() { f.follow(b) })
	}
}

// CatchUp brings a copy up to date that a reader has found too old: the process that wrote its last commits has died,
// or a failover has lost writes to Redis. It never blocks. All processes together catch up at most once in
// catchUpEvery, because after a failover all of them find the same copies old at once.
func (f *WriteThrough) CatchUp(ref leaderboard.PeriodRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, now := idOf(ref), time.Now()
	if _, running := f.backlogs[id]; running || f.stopped || now.Sub(f.caughtUp[id]) < f.every {
		return
	}
	if len(f.caughtUp) >= catchUpsKnown {
		clear(f.caughtUp)
	}
	f.caughtUp[id] = now
	b := &backlog{ref: ref, fromLog: true, since: now, onTurn: true}
	f.backlogs[id] = b
	f.wg.Go(func() { f.follow(b) })
}

// notify is called with mu held.
func (b *backlog) notify(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
	if b.since.IsZero() {
		b.since = time.Now()
	}
	switch from := commit.From(); {
	case b.to == (leaderboard.Revision{}): // so far only a CatchUp
		b.from = from
	case from.Seq < b.to.Seq: // the database was restored, or this is old news
		b.fromLog = true
	}
	b.ref, b.to, b.onTurn = ref, commit.To(), false
}

// Lag returns how far the copies are behind the notified commits: the most changes in any period, and the age of the
// oldest.
func (f *WriteThrough) Lag() (changes int64, age time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.backlogs {
		changes = max(changes, b.to.Seq-b.from.Seq)
		if !b.since.IsZero() {
			age = max(age, time.Since(b.since))
		}
	}
	return changes, age
}

// Stop takes no more commits and waits until the commits that it has are applied, or ctx ends. The next catch-up of any
// process brings the rest.
func (f *WriteThrough) Stop(ctx context.Context) error {
	f.mu.Lock()
	if !f.stopped {
		f.stopped = true
		close(f.stop)
	}
	f.mu.Unlock()
	drained := make(chan struct{})
	go func() {
		f.wg.Wait()
		close(drained)
	}()
	defer f.cancel()
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		f.cancel()
		<-drained
		return ctx.Err()
	}
}

// follow writes one backlog through until nothing is left.
func (f *WriteThrough) follow(b *backlog) {
	backoff, failures := time.Duration(0), 0
	for {
		next, ok := f.dequeue(b)
		if !ok {
			return
		}
		err := f.write(next)
		if err == nil {
			backoff, failures = 0, 0
			f.applied(b, next)
			f.copies.behind.Delete(idOf(next.ref))
			continue
		}
		// When MySQL fails the copy is not marked: it is all that can be read while MySQL is away.
		if failures++; (failures >= BreakerFailures || errors.Is(err, errLeftAlone)) && !errors.Is(err, leaderboard.ErrUnavailable) {
			f.copies.behind.Store(idOf(next.ref), true)
		}
		if !errors.Is(err, errLeftAlone) {
			f.opts.Observer.ApplyFailed()
			f.opts.Logger.Warn("copy is not kept up to date for now", "board", next.ref.Board, "period", next.ref.ID, "error", err)
		}
		f.putBack(b, next)
		backoff = min(max(2*backoff, followBackoff), longestBackoff(err))
		if !f.pause(backoff) {
			return
		}
	}
}

// longestBackoff is followBackoffMax, and shorter for a server that does not answer: its breaker keeps the load away, and
// its replacement should be written to soon.
func longestBackoff(err error) time.Duration {
	if answers(err) {
		return followBackoffMax
	}
	return BreakerPause
}

// pause waits, and reports whether to continue. Once the WriteThrough is stopped it returns false.
func (f *WriteThrough) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.stop:
		return false
	}
}

// dequeue returns the commits to write next, and forgets the backlog of a copy that lacks nothing.
func (f *WriteThrough) dequeue(b *backlog) (batch, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !b.fromLog && b.from.Seq >= b.to.Seq {
		delete(f.backlogs, idOf(b.ref))
		f.copies.behind.Delete(idOf(b.ref))
		return batch{}, false
	}
	next := batch{backlog: *b}
	if !b.fromLog {
		next.commits = notified(f.opts.Tail.After(b.ref.ID, b.from, followChanges), b.to)
	}
	b.since, b.onTurn = time.Time{}, false
	return next, true
}

// notified leaves commits out that are in the tail and not yet notified: they would be written again when notified, or
// leave a gap before later commits.
func notified(commits []leaderboard.Commit, to leaderboard.Revision) []leaderboard.Commit {
	for n := len(commits); n > 0 && commits[n-1].LastSeq > to.Seq; n-- {
		commits = commits[:n-1]
	}
	return commits
}

// applied notes that a batch is in the copy.
func (f *WriteThrough) applied(b *backlog, done batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(done.commits); n > 0 {
		b.from = done.commits[n-1].To()
	} else if done.to != (leaderboard.Revision{}) {
		b.from = done.to
	}
	b.fromLog = false
	if b.since.IsZero() && b.from.Seq < b.to.Seq {
		b.since = done.since
	}
}

// putBack notes that a batch could not be written, and still waits.
func (f *WriteThrough) putBack(b *backlog, failed batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.since = failed.since
}

// write writes a batch through once there is a permit. An error is a failure of Redis or MySQL, or errLeftAlone, to be
// tried again.
func (f *WriteThrough) write(b batch) error {
	server := f.servers.Of(f.ctx, b.ref)
	if err := server.Own.Acquire(f.ctx, 1); err != nil {
		return err
	}
	defer server.Own.Release(1)
	if !server.Allow() {
		return errLeftAlone
	}
	err := f.apply(b)
	server.Done(err == nil || answers(err))
	return err
}

// answers reports whether Redis answered, even with an error, or was not asked because MySQL failed.
func answers(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) || PoolIsBusy(err) || errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOverloaded)
}

// apply brings the copy up to date with a batch.
func (f *WriteThrough) apply(b batch) error {
	ctx, cancel := context.WithTimeout(f.ctx, followTimeout)
	defer cancel()
	if b.onTurn {
		if mine, err := f.claim(ctx, b.ref); err != nil || !mine {
			return err
		}
	}
	report := Applied{Ref: b.ref, Seq: b.to.Seq, Effect: EffectGap}
	if n := len(b.commits); n > 0 {
		report.Seq = b.commits[n-1].LastSeq
		effect, err := f.copies.Apply(ctx, b.ref, b.commits)
		if err != nil {
			return err
		}
		report.Effect = effect
		for i := range b.commits {
			report.Changes += len(b.commits[i].Changes)
		}
	}
	switch report.Effect {
	case EffectGap:
		out, err := f.copies.CatchUp(ctx, b.ref)
		switch {
		case errors.Is(err, ErrMissing), errors.Is(err, ErrDamaged), errors.Is(err, leaderboard.ErrPeriodNotFound):
			report.Effect = EffectMissing
		case errors.Is(err, leaderboard.ErrNeedsBuild):
			f.opts.Demand(b.ref)
		case err != nil:
			return err
		}
		report.Seq, report.Changes = out.ToSeq, 0
	case EffectDiverged:
		f.opts.Tail.Forget(b.ref.ID)
		f.opts.Demand(b.ref)
	case EffectShort:
		f.opts.Demand(b.ref)
	}
	report.Lag = time.Since(b.since)
	f.opts.onApply(report)
	return nil
}

// claim reports whether this process must bring a copy up to date that readers have found old: no other process has done
// it within WriteThrough.every. It only saves work: a catch-up that fails is tried again without it.
func (f *WriteThrough) claim(ctx context.Context, p leaderboard.PeriodRef) (mine bool, err error) {
	token := rand.Text()
	had, err := f.copies.background.SetArgs(ctx, f.copies.base(p)+"turn", token, redis.SetArgs{Mode: "NX", Get: true, TTL: f.every}).Result()
	if errors.Is(err, redis.Nil) {
		return true, nil
	}
	return had == token, err // which the client has repeated, because the answer was lost
}
