// Package keyring holds all API keys in memory, so that a request with one costs no round trip. They are those of a
// revision of the table of keys; when the feed shows another one they are all read again, so a change counts within a
// second of its commit on every server that can ask the database. While the database is away the keys go on for
// Options.Grace.
package keyring

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

// Source is the table of keys.
type Source interface {
	// HashedKeys returns up to limit keys with an id after the given one, in the order of their ids.
	HashedKeys(ctx context.Context, after string, limit int) ([]leaderboard.HashedKey, error)
	// KeysUsed notes when at most 500 keys were last used.
	KeysUsed(ctx context.Context, at leaderboard.Micros, ids []string) error
}

// Feed asks for the revision of the table under leaderboard.KeysPeriod, while Ring.InUse reports true, and calls Ring.Shown.
type Feed interface {
	// Ask returns when a statement that was sent after the call has been answered, and Shown was called with it; ok is false
	// when the database does not answer.
	Ask(ctx context.Context, id int64) (r leaderboard.Revision, ok bool)
}

// Options adjust a Ring; the zero value is fit for production.
type Options struct {
	// Fresh is how long what the feed showed is good for; it asks several times in it. 500 ms.
	Fresh time.Duration
	Grace time.Duration // how long keys go on while the database is away, 10 min
	Idle  time.Duration // how long after a request with a key the table is watched, 10 s
	Note  time.Duration // how often the times of last use of the keys are written, 30 s
	Log   *slog.Logger
}

const (
	// pageSize is how many keys one statement is about.
	pageSize = 500
	// askFor bounds a statement, and the wait for an answer.
	askFor = time.Second
	// confirmations is how often in Options.Grace the feed is asked while no key is used: when the database goes away then,
	// most of the grace is left.
	confirmations = 20
)

// Ring is all keys. All methods may be called concurrently; keys are read only while Run runs.
type Ring struct {
	source Source
	feed   Feed
	opts   Options

	known     atomic.Pointer[known] // nil until the keys were read once
	began     time.Time             // when the Ring was made
	confirmed atomic.Int64          // when the feed last sent what showed the revision of known, ns since began; at first never
	used      atomic.Int64          // when a key was last asked for, ns since began; at first never

	mu    sync.Mutex
	shown shown // what the feed showed last
	next  *news // for the waiters, nil when there are no waiters
	wake  chan struct{}
}

// known is the keys at one revision of their table. Nothing writes to it.
type known struct {
	revision leaderboard.Revision
	keys     map[string]*entry
}

// entry is a key. Its uses go on when it is read again.
type entry struct {
	leaderboard.HashedKey
	uses *uses
}

type uses struct {
	last  atomic.Int64 // minute, since 1970
	noted int64        // the last one written down; belongs to Run
}

// shown is what a statement of the feed showed.
type shown struct {
	revision leaderboard.Revision
	sent     time.Time
}

// news is the end of a wait: the keys were confirmed or read again, or could not be read.
type news struct {
	told chan struct{} // closed then
	err  error         // then
}

// never is long before any Ring was made.
const never = math.MinInt64 / 2

// New returns a Ring that has read no keys yet.
func New(source Source, feed Feed, opts Options) *Ring {
	opts.Fresh = cmp.Or(opts.Fresh, 500*time.Millisecond)
	opts.Grace = cmp.Or(opts.Grace, 10*time.Minute)
	opts.Idle = cmp.Or(opts.Idle, 10*time.Second)
	opts.Note = cmp.Or(opts.Note, 30*time.Second)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	r := &Ring{source: source, feed: feed, opts: opts, wake: make(chan struct{}, 1), began: time.Now()}
	r.confirmed.Store(never)
	r.used.Store(never)
	return r
}

// InUse reports whether requests with keys come, so that the feed must ask about the table.
func (r *Ring) InUse(now time.Time) bool {
	return r.since(now)-r.used.Load() <= int64(r.opts.Idle)
}

// Shown takes the revision of the table that the feed showed. It does not block.
func (r *Ring) Shown(revision leaderboard.Revision, sent time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent.Before(r.shown.sent) {
		return
	}
	r.shown = shown{revision, sent}
	if k := r.known.Load(); k != nil && k.revision == revision {
		r.confirmed.Store(r.since(sent))
		r.tell(nil)
		return
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// tell ends the waiting. The caller holds the lock.
func (r *Ring) tell(err error) {
	if r.next != nil {
		r.next.err = err
		close(r.next.told)
		r.next = nil
	}
}

// Find returns the key with an id, if the hash is that of its secret, or of the one before within the overlap. It answers from
// memory, unless no key was used lately: then it waits for the feed. For an id without a key it waits for the next statement
// of the feed, because the key may just have been made. Errors: ErrKeyNotFound, also for another secret; ErrKeyRevoked,
// ErrKeyExpired, ErrUnavailable.
func (r *Ring) Find(ctx context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	watched := r.InUse(now)
	r.touch(now)
	var err error
	if !watched || r.age(now) > r.opts.Fresh { // the feed may rest, and goes on when it is asked
		err = r.Renew(ctx)
	} else if r.key(id) == nil {
		err = r.await(ctx, now)
	}
	e := r.key(id)
	switch {
	case err != nil && (e == nil || r.age(now) > r.opts.Grace):
		return nil, err
	case e == nil:
		return nil, leaderboard.ErrKeyNotFound
	}
	return e.check(&hash, now)
}

// key returns the key with an id, nil when it is not known.
func (r *Ring) key(id string) *entry {
	if k := r.known.Load(); k != nil {
		return k.keys[id]
	}
	return nil
}

// age returns how long ago the database was last asked whether the keys still hold.
func (r *Ring) age(now time.Time) time.Duration {
	return time.Duration(r.since(now) - r.confirmed.Load())
}

// since returns a moment in nanoseconds since the Ring was made. It does not depend on the machine's clock being set.
func (r *Ring) since(now time.Time) int64 { return int64(now.Sub(r.began)) }

// touch notes that keys are used. It rarely writes, so that requests do not contend for the cache line.
func (r *Ring) touch(now time.Time) {
	if at := r.since(now); at-r.used.Load() > int64(100*time.Millisecond) {
		r.used.Store(at)
	}
}

// check compares a secret with that of a key, in constant time.
func (e *entry) check(hash *leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	at := leaderboard.MicrosOf(now)
	isCurrent := hash.Is(&e.Hash)
	isPrevious := hash.Is(&e.Previous) && e.PreviousUntil != 0
	switch {
	case !isCurrent && !isPrevious:
		return nil, leaderboard.ErrKeyNotFound
	case e.RevokedAt != 0:
		return nil, leaderboard.ErrKeyRevoked
	case e.ExpiresAt != 0 && at >= e.ExpiresAt, !isCurrent && at >= e.PreviousUntil:
		return nil, leaderboard.ErrKeyExpired
	}
	if minute := int64(at) / microsPerMinute; e.uses.last.Load() < minute {
		e.uses.last.Store(minute)
	}
	return &e.Key, nil
}

const microsPerMinute = int64(time.Minute / time.Microsecond)

// Renew returns when everything that was committed before the call is known here.
func (r *Ring) Renew(ctx context.Context) error {
	began := time.Now()
	if _, ok := r.feed.Ask(ctx, leaderboard.KeysPeriod); !ok {
		return cmp.Or(ctx.Err(), fmt.Errorf("%w: the keys cannot be confirmed", leaderboard.ErrUnavailable))
	}
	return r.await(ctx, began)
}

// await returns when the keys are those of a statement of the feed that was sent after a time. It does not make the feed ask.
func (r *Ring) await(ctx context.Context, since time.Time) error {
	timer := time.NewTimer(askFor)
	defer timer.Stop()
	for {
		r.mu.Lock()
		if r.confirmed.Load() > r.since(since) {
			r.mu.Unlock()
			return nil
		}
		r.next = cmp.Or(r.next, &news{told: make(chan struct{})})
		next := r.next
		r.mu.Unlock()
		select {
		case <-next.told:
			if next.err != nil {
				return next.err
			}
		case <-timer.C:
			return fmt.Errorf("%w: the keys were not confirmed in %v", leaderboard.ErrUnavailable, askFor)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Run reads the keys when they have changed, one statement at a time, until ctx ends. It writes the times at which keys were
// used, and confirms the keys from time to time while none is used.
func (r *Ring) Run(ctx context.Context) {
	var confirming sync.WaitGroup
	confirming.Go(func() { r.confirmIdle(ctx) })
	defer confirming.Wait()
	ticker := time.NewTicker(r.opts.Note)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), askFor)
			r.note(ending)
			cancel()
			return
		case <-r.wake:
			err := r.read(ctx)
			if err != nil && !failing {
				r.opts.Log.Warn("changes of API keys are not known yet", "error", err)
			}
			failing = err != nil
		case <-ticker.C:
			r.note(ctx)
		}
	}
}

// confirmIdle asks the feed about the keys when no key was used for a while, until ctx ends.
func (r *Ring) confirmIdle(ctx context.Context) {
	ticker := time.NewTicker(r.opts.Grace / confirmations)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if r.known.Load() != nil && r.age(now) > r.opts.Fresh {
				_ = r.Renew(ctx) // the next time, while the database is away
			}
		}
	}
}

// read brings the keys to the revision that was shown. One goroutine calls it, so what was read before a change does not replace
// what was read after it. When it fails, the next statement of the feed wakes Run again.
func (r *Ring) read(ctx context.Context) error {
	r.mu.Lock()
	want := r.shown
	r.mu.Unlock()
	k, err := r.known.Load(), error(nil)
	if k == nil || k.revision != want.revision {
		k, err = r.all(ctx, want.revision)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.known.Store(k)
		r.confirmed.Store(max(r.confirmed.Load(), r.since(want.sent)))
	}
	r.tell(err)
	return err
}

// all reads all keys. They are those of a revision that was shown before, or newer.
func (r *Ring) all(ctx context.Context, revision leaderboard.Revision) (*known, error) {
	k := &known{revision: revision, keys: map[string]*entry{}}
	for after, more := "", true; more; {
		page, err := r.page(ctx, after)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		}
		for i := range page {
			e := &entry{page[i], &uses{}}
			if old := r.key(e.ID); old != nil {
				e.uses = old.uses
			}
			k.keys[e.ID], after = e, e.ID
		}
		more = len(page) == pageSize
	}
	return k, nil
}

func (r *Ring) page(ctx context.Context, after string) ([]leaderboard.HashedKey, error) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	return r.source.HashedKeys(ctx, after, pageSize)
}

// note writes the minutes in which keys were last used. Those that cannot be written are written the next time.
func (r *Ring) note(ctx context.Context) {
	k := r.known.Load()
	if k == nil {
		return
	}
	byMinute := map[int64][]*entry{}
	for _, e := range k.keys {
		if last := e.uses.last.Load(); last > e.uses.noted {
			byMinute[last] = append(byMinute[last], e)
		}
	}
	for minute, entries := range byMinute {
		for chunk := range slices.Chunk(entries, pageSize) {
			ids := make([]string, len(chunk))
			for i, e := range chunk {
				ids[i] = e.ID
			}
			ctx, cancel := context.WithTimeout(ctx, askFor)
			err := r.source.KeysUsed(ctx, leaderboard.Micros(minute*microsPerMinute), ids)
			cancel()
			if err != nil {
				r.opts.Log.Debug("when keys were used is not written down yet", "error", err)
				return
			}
			for _, e := range chunk {
				e.uses.noted = minute
			}
		}
	}
}
