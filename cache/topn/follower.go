package topn

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/semaphore"

	"leaderboard"
)

const (
	// followChanges is how many changes of one period wait in memory; beyond, they are read from the log instead.
	followChanges = 5000
	// followTimeout bounds one application or catch-up.
	followTimeout = 5 * time.Second
	followBackoff = 100 * time.Millisecond // after the first failure, doubled up to followBackoffMax
	// followBackoffMax is short enough to be back soon, and long enough to be no load on a server in trouble.
	followBackoffMax = 5 * time.Second
	// catchUpEvery is how often a copy is brought up to date at most because readers find it old, by all processes together, and
	// catchUpsKnown of how many each remembers that.
	catchUpEvery  = time.Second
	catchUpsKnown = 10_000
	// followers is how many periods are applied at once, to each server of Redis.
	followers = 8
	// followBytes is what waits in memory in all periods together; beyond, it is read from the log instead.
	followBytes = 32 << 20
)

// FollowerOptions adjust a Follower; the zero value works.
type FollowerOptions struct {
	Demand  func(leaderboard.PeriodRef) // a copy that exists needs a full rebuild; must not block; may be nil
	OnApply func(Applied)               // metrics; must not block; may be nil
	// OnFailure is told of each failure of Redis or MySQL to bring a copy up to date. It must not block; may be nil.
	OnFailure func()
	Memory    int64 // bytes of changes that wait, 32 MiB
	Logger    *slog.Logger
}

// Applied reports one write-through.
type Applied struct {
	Ref     leaderboard.PeriodRef
	Seq     int64         // the copy is at it, unless Effect is EffectMissing
	Changes int           // in the commits applied; 0 for a catch-up
	Lag     time.Duration // since the oldest of the commits was notified
	Effect  Effect        // EffectGap: brought up to date from the log
}

// Follower writes committed changes through to the copies. Commits of one period are applied in order and many at a
// time when they come fast; what goes wrong is made good from the change log. A copy that does not exist is left
// alone: cold boards stay cold until somebody reads them. One that cannot be written to is not read either, see
// Copies.Left, until it is up to date again: all of a server at once when it does not answer, with one attempt a second
// for all.
type Follower struct {
	copies  *Copies
	opts    FollowerOptions
	servers *Servers[*semaphore.Weighted] // and how many periods each is written at once
	ctx     context.Context               // ends when Stop gives up
	cancel  context.CancelFunc
	wg      sync.WaitGroup // one per backlog

	mu       sync.Mutex
	backlogs map[copyID]*backlog
	caughtUp map[copyID]time.Time // when the last CatchUp was
	bytes    int64                // of the commits that wait or are being applied
	stopped  bool
	stop     chan struct{}
}

// backlog is what one period's copy still lacks; it has a goroutine. All fields belong to Follower.mu.
type backlog struct {
	batch
	changes int
	applied int64 // seq known to be in the copy
}

// batch is what is written through at once.
type batch struct {
	ref     leaderboard.PeriodRef
	commits []leaderboard.Commit
	bytes   int64     // of commits
	fromLog bool      // commits were let go, or do not fit: read the log
	seq     int64     // of the last commit notified
	since   time.Time // when the oldest was
	onTurn  bool      // for readers alone, whom another process may serve as well
}

// NewFollower starts nothing before the first Notify.
func NewFollower(copies *Copies, opts FollowerOptions) *Follower {
	if opts.Demand == nil {
		opts.Demand = func(leaderboard.PeriodRef) {}
	}
	if opts.OnApply == nil {
		opts.OnApply = func(Applied) {}
	}
	if opts.OnFailure == nil {
		opts.OnFailure = func() {}
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts.Memory = cmp.Or(opts.Memory, followBytes)
	f := &Follower{copies: copies, opts: opts, backlogs: map[copyID]*backlog{}, caughtUp: map[copyID]time.Time{}, stop: make(chan struct{})}
	f.servers = NewServers(copies.background, time.Now, func(string, bool) {}, func() *semaphore.Weighted { return semaphore.NewWeighted(followers) })
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Notify takes a commit, after it happened and in the order of seq per period. It never blocks.
func (f *Follower) Notify(ref leaderboard.PeriodRef, commit leaderboard.Commit) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return
	}
	b, running := f.backlogs[idOf(ref)]
	if !running {
		b = &backlog{applied: commit.From().Seq}
		f.backlogs[idOf(ref)] = b
	}
	f.add(b, ref, commit)
	if !running {
		f.wg.Go(func() { f.follow(b) })
	}
}

// CatchUp brings a copy up to date that a reader has found too old: whoever wrote its last commits has died, or a failover
// has lost what was written to Redis. It never blocks, and one process does so once in catchUpEvery at most: after a failover
// all of them find the same copies old at once.
func (f *Follower) CatchUp(ref leaderboard.PeriodRef) {
	f.mu.Lock()
	defer f.mu.Unlock()
	id, now := idOf(ref), time.Now()
	if _, running := f.backlogs[id]; running || f.stopped || now.Sub(f.caughtUp[id]) < catchUpEvery {
		return
	}
	if len(f.caughtUp) >= catchUpsKnown {
		clear(f.caughtUp)
	}
	f.caughtUp[id] = now
	b := &backlog{batch: batch{ref: ref, fromLog: true, since: now, onTurn: true}}
	f.backlogs[id] = b
	f.wg.Go(func() { f.follow(b) })
}

// add is called with mu held.
func (f *Follower) add(b *backlog, ref leaderboard.PeriodRef, commit leaderboard.Commit) {
	if b.since.IsZero() {
		b.since = time.Now()
	}
	if b.ref = ref; b.seq == 0 { // so far a CatchUp
		b.applied = commit.From().Seq
	}
	b.onTurn = false
	follows := len(b.commits) == 0 || b.seq == commit.From().Seq
	b.seq = commit.LastSeq
	b.changes += len(commit.Changes)
	size := sizeOf(&commit)
	if b.fromLog || !follows || b.changes > followChanges || f.bytes+size > f.opts.Memory {
		f.bytes -= b.bytes
		b.commits, b.bytes, b.fromLog = nil, 0, true
		return
	}
	b.commits = append(b.commits, commit)
	b.bytes += size
	f.bytes += size
}

// changeBytes is what a change takes besides the ids of its member: itself and two entries.
const changeBytes = 200

func sizeOf(commit *leaderboard.Commit) int64 {
	size := int64(len(commit.Changes)) * changeBytes
	for i := range commit.Changes {
		size += int64(len(commit.Changes[i].Member))
	}
	return size
}

// Lag returns how far the copies are behind what was notified: the most changes in any period, and the age of the
// oldest.
func (f *Follower) Lag() (changes int64, age time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.backlogs {
		changes = max(changes, b.seq-b.applied)
		if !b.since.IsZero() {
			age = max(age, time.Since(b.since))
		}
	}
	return changes, age
}

// Stop takes no more commits and waits until those it has are applied, or ctx ends. What is left then is made good by
// the next catch-up of any process.
func (f *Follower) Stop(ctx context.Context) error {
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
func (f *Follower) follow(b *backlog) {
	backoff, failures := time.Duration(0), 0
	for {
		next, ok := f.take(b)
		if !ok {
			return
		}
		err := f.write(next)
		if err == nil {
			backoff, failures = 0, 0
			f.applied(b, next)
			f.copies.left.Delete(idOf(next.ref))
			continue
		}
		// What MySQL keeps from being caught up is what there is to read while it is away.
		if failures++; (failures >= BreakerFailures || errors.Is(err, errLeftAlone)) && !errors.Is(err, leaderboard.ErrUnavailable) {
			f.copies.left.Store(idOf(next.ref), true)
		}
		if !errors.Is(err, errLeftAlone) {
			f.opts.OnFailure()
			f.opts.Logger.Warn("copy is not kept up to date for now", "board", next.ref.Board, "period", next.ref.ID, "error", err)
		}
		f.putBack(b, next)
		backoff = min(max(2*backoff, followBackoff), longestBackoff(err))
		if !f.pause(backoff) {
			return
		}
	}
}

// longestBackoff is followBackoffMax, but for a server that does not answer: its breaker keeps the load off it, and what takes
// its place is to be written to soon.
func longestBackoff(err error) time.Duration {
	if answers(err) {
		return followBackoffMax
	}
	return BreakerPause
}

// pause waits, and says whether to go on: not once the follower is stopped, another try would be no better.
func (f *Follower) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-f.stop:
		return false
	}
}

// take removes and returns what a backlog holds, and forgets a backlog that is empty.
func (f *Follower) take(b *backlog) (batch, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(b.commits) == 0 && !b.fromLog {
		delete(f.backlogs, idOf(b.ref))
		return batch{}, false
	}
	next := b.batch
	b.commits, b.bytes, b.changes, b.fromLog, b.since, b.onTurn = nil, 0, 0, false, time.Time{}, false
	return next, true
}

// applied takes down that a batch is in the copy.
func (f *Follower) applied(b *backlog, done batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.applied = max(b.applied, done.seq)
	f.bytes -= done.bytes
}

// putBack leaves to the log what could not be written.
func (f *Follower) putBack(b *backlog, failed batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bytes -= failed.bytes + b.bytes
	b.commits, b.bytes, b.fromLog, b.since = nil, 0, true, failed.since
}

// errLeftAlone is that Redis does not answer, and is not asked for now.
var errLeftAlone = errors.New("topn: Redis is left alone for now")

// write writes a batch through once there is a permit. An error is a failure of Redis or MySQL, or errLeftAlone, to be
// tried again.
func (f *Follower) write(b batch) error {
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

// answers says whether Redis does, though with an error, or was not asked because MySQL failed.
func answers(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) || PoolIsBusy(err) || errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOverloaded)
}

// apply brings the copy up to date with a batch.
func (f *Follower) apply(b batch) error {
	ctx, cancel := context.WithTimeout(f.ctx, followTimeout)
	defer cancel()
	if b.onTurn {
		if mine, err := f.turn(ctx, b.ref); err != nil || !mine {
			return err
		}
	}
	report := Applied{Ref: b.ref, Seq: b.seq, Effect: EffectGap}
	if !b.fromLog {
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
	case EffectShort, EffectDiverged:
		f.opts.Demand(b.ref)
	}
	report.Lag = time.Since(b.since)
	f.opts.OnApply(report)
	return nil
}

// turn says whether it is this process's turn to bring a copy up to date that readers have found old: nobody else's was within
// catchUpEvery. It only saves work and nobody waits for it: what fails is tried again without a turn.
func (f *Follower) turn(ctx context.Context, p leaderboard.PeriodRef) (mine bool, err error) {
	token := rand.Text()
	had, err := f.copies.background.SetArgs(ctx, f.copies.base(p)+"turn", token, redis.SetArgs{Mode: "NX", Get: true, TTL: catchUpEvery}).Result()
	if errors.Is(err, redis.Nil) {
		return true, nil
	}
	return had == token, err // which the client has repeated, because the answer was lost
}
