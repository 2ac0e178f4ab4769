// Package keyring knows the API keys that are used here, so that a request with one costs no round trip. What is known
// was true at the revision of the table of keys that the watch showed last: when it shows another one, everything known
// is read again, so a change counts within a second of its commit on every server that can ask the database. While the
// database is away, keys that are known go on for Options.Grace.
package keyring

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

// Source is the table of keys.
type Source interface {
	// HashedKeys returns those of at most 500 keys that exist, in any order.
	HashedKeys(ctx context.Context, ids []string) ([]leaderboard.HashedKey, error)
	// KeysUsed notes when at most 500 keys were last used.
	KeysUsed(ctx context.Context, at leaderboard.Micros, ids []string) error
}

// Watch asks for the revision of the table under leaderboard.KeysPeriod, while Ring.InUse says so, and tells Ring.Shown.
type Watch interface {
	// Wait returns when a statement that was sent after the call has been answered, and Shown was told.
	Wait(ctx context.Context, id int64) error
	// Away says that the database does not answer.
	Away() bool
}

// Options adjust a Ring; the zero value is fit for production.
type Options struct {
	// Fresh is how long what the watch showed is good for; it asks several times in it. 500 ms.
	Fresh time.Duration
	Grace time.Duration // how long keys that are known go on while the database is away, 10 min
	Idle  time.Duration // how long after a request with a key the table is watched, 10 s
	Note  time.Duration // how often it is written down when keys were last used, 30 s
	Log   *slog.Logger
}

const (
	// together is how many keys one statement is about.
	together = 500
	// maxKnown bounds the keys in memory, each less than 1 KiB.
	maxKnown = 20_000
	// maxAbsent bounds the ids that are known to be of no key.
	maxAbsent = 10_000
	// maxWaiting bounds the ids that wait to be looked up together, beyond: ErrOverloaded.
	maxWaiting = 1000
	// askFor bounds a statement, and the wait for it.
	askFor = time.Second
	// confirmations is how often in Options.Grace the watch is asked while no key is used: when the database goes away then,
	// most of the grace is left.
	confirmations = 20
)

// Ring is the keys that are known. All methods may be called concurrently; nothing is looked up unless Run runs.
type Ring struct {
	source Source
	watch  Watch
	opts   Options

	known     atomic.Pointer[known]
	began     time.Time    // when the Ring was made
	confirmed atomic.Int64 // when the watch last sent what showed the revision of known, ns since began; at first never
	used      atomic.Int64 // when a key was last asked for, ns since began; at first never
	failing   bool         // what changed could not be read; belongs to Run

	mu    sync.Mutex
	next  *lookUp // what Run does next, nil when nobody waits for anything
	shown shown   // what the watch showed last
	wake  chan struct{}
}

// known is what is in memory at one revision. Nobody writes to it.
type known struct {
	revision leaderboard.Revision
	keys     map[string]*entry
	absent   map[string]struct{} // ids that are of no key
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

// shown is what a statement of the watch showed.
type shown struct {
	revision leaderboard.Revision
	sent     time.Time
	reread   bool // what is known is out of date, whatever the revision
}

// lookUp is ids that are looked up together, for those who wait.
type lookUp struct {
	ids  map[string]struct{}
	done chan struct{} // closed when it is done
	err  error         // then
}

// never is long before any Ring was made.
const never = math.MinInt64 / 2

// New returns a Ring without keys.
func New(source Source, watch Watch, opts Options) *Ring {
	opts.Fresh = cmp.Or(opts.Fresh, 500*time.Millisecond)
	opts.Grace = cmp.Or(opts.Grace, 10*time.Minute)
	opts.Idle = cmp.Or(opts.Idle, 10*time.Second)
	opts.Note = cmp.Or(opts.Note, 30*time.Second)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	r := &Ring{source: source, watch: watch, opts: opts, wake: make(chan struct{}, 1), began: time.Now()}
	r.confirmed.Store(never)
	r.used.Store(never)
	r.known.Store(&known{keys: map[string]*entry{}, absent: map[string]struct{}{}})
	return r
}

// InUse says whether requests with keys come, so that the table is to be watched.
func (r *Ring) InUse(now time.Time) bool {
	return r.since(now)-r.used.Load() <= int64(r.opts.Idle)
}

// Shown hears what the watch showed of the table. It does not block.
func (r *Ring) Shown(revision leaderboard.Revision, sent time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if sent.Before(r.shown.sent) {
		return
	}
	r.shown.revision, r.shown.sent = revision, sent
	if revision == r.known.Load().revision && !r.shown.reread && r.confirmed.Load() != never {
		r.confirmed.Store(r.since(sent))
		return
	}
	r.tell()
}

// tell wakes Run. The caller holds the lock.
func (r *Ring) tell() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Find returns the key with an id whose secret, or the one before within its overlap, has a hash. For a key that is known
// it asks nobody, unless no key was used of late: then it waits for the watch. Errors: ErrKeyNotFound, also for another
// secret; ErrKeyRevoked, ErrKeyExpired, ErrUnavailable, ErrOverloaded.
func (r *Ring) Find(ctx context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	r.touch(now)
	fresh := r.age(now) <= r.opts.Fresh || r.confirm(ctx) == nil
	k := r.known.Load()
	e := k.keys[id]
	if e == nil {
		if _, absent := k.absent[id]; absent && fresh {
			return nil, leaderboard.ErrKeyNotFound
		}
		var err error
		if e, err = r.lookUp(ctx, id); err != nil {
			return nil, err
		}
	} else if !fresh && r.age(now) > r.opts.Grace {
		return nil, fmt.Errorf("%w: the keys were not confirmed for %v", leaderboard.ErrUnavailable, r.opts.Grace)
	}
	return e.check(&hash, now)
}

// Knows says whether Find needs nobody for a key with an id.
func (r *Ring) Knows(id string) bool { return r.known.Load().keys[id] != nil }

// age returns how long ago the database was last asked whether what is known still holds.
func (r *Ring) age(now time.Time) time.Duration {
	return time.Duration(r.since(now) - r.confirmed.Load())
}

// since returns a moment in nanoseconds since the Ring was made, whatever the machine's clock says.
func (r *Ring) since(now time.Time) int64 { return int64(now.Sub(r.began)) }

// touch notes that keys are used. Those who ask do not fight over the cache line.
func (r *Ring) touch(now time.Time) {
	if at := r.since(now); at-r.used.Load() > int64(100*time.Millisecond) {
		r.used.Store(at)
	}
}

// check holds a secret against a key that is there, in constant time.
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

// Renew returns when what was committed before the call is known here.
func (r *Ring) Renew(ctx context.Context) error {
	r.mu.Lock()
	r.shown.reread = true
	r.mu.Unlock()
	return r.wait(ctx, "")
}

// confirm returns when the watch has shown that what is known holds, or what it showed instead was read.
func (r *Ring) confirm(ctx context.Context) error {
	if r.watch.Away() {
		return leaderboard.ErrUnavailable
	}
	if err := r.watch.Wait(ctx, leaderboard.KeysPeriod); err != nil {
		return err
	}
	if r.age(time.Now()) <= r.opts.Fresh {
		return nil
	}
	return r.wait(ctx, "")
}

// lookUp asks the database for a key, together with all who ask now. Errors: ErrKeyNotFound, ErrUnavailable,
// ErrOverloaded.
func (r *Ring) lookUp(ctx context.Context, id string) (*entry, error) {
	if r.watch.Away() {
		return nil, fmt.Errorf("%w: the key is not known here", leaderboard.ErrUnavailable)
	}
	if err := r.wait(ctx, id); err != nil {
		return nil, err
	}
	if e := r.known.Load().keys[id]; e != nil {
		return e, nil
	}
	return nil, leaderboard.ErrKeyNotFound
}

// wait returns when Run has read what was to be read at the call, and with it the key with an id, unless that is "".
func (r *Ring) wait(ctx context.Context, id string) error {
	one, err := r.join(id)
	if err != nil {
		return err
	}
	timer := time.NewTimer(askFor)
	defer timer.Stop()
	select {
	case <-one.done:
		return one.err
	case <-timer.C:
		return fmt.Errorf("%w: the keys could not be looked up in %v", leaderboard.ErrUnavailable, askFor)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Ring) join(id string) (*lookUp, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &lookUp{ids: map[string]struct{}{}, done: make(chan struct{})}
	}
	if id != "" {
		if len(r.next.ids) >= maxWaiting {
			return nil, &leaderboard.OverloadError{Wait: askFor, Detail: "as many keys are looked up as may be at once"}
		}
		r.next.ids[id] = struct{}{}
	}
	r.tell()
	return r.next, nil
}

// Run reads what is asked for until ctx ends, one statement at a time, writes down when keys were used, and now and then has
// what is known confirmed while no key is used.
func (r *Ring) Run(ctx context.Context) {
	var confirming sync.WaitGroup
	confirming.Go(func() { r.confirmIdle(ctx) })
	defer confirming.Wait()
	ticker := time.NewTicker(r.opts.Note)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), askFor)
			r.note(ending)
			cancel()
			return
		case <-r.wake:
			r.read(ctx)
		case <-ticker.C:
			r.note(ctx)
		}
	}
}

// confirmIdle asks the watch about the keys that are known when none was used for a while, until ctx ends.
func (r *Ring) confirmIdle(ctx context.Context) {
	ticker := time.NewTicker(r.opts.Grace / confirmations)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			if len(r.known.Load().keys) > 0 && r.age(now) > r.opts.Fresh {
				_ = r.confirm(ctx) // the next time, while the database is away
			}
		}
	}
}

// read brings what is known up to what was shown, and looks up the ids that somebody waits for. It is one goroutine's,
// so that nothing that was read before a change is kept after it.
func (r *Ring) read(ctx context.Context) {
	r.mu.Lock()
	one, want := r.next, r.shown
	r.next, r.shown.reread = nil, false
	r.mu.Unlock()
	k := r.known.Load()
	outdated := want.reread || want.revision != k.revision
	err := error(nil)
	if outdated {
		if k, err = r.readAgain(ctx, k, want.revision); err != nil {
			r.failed(err)
		} else {
			r.failing = false
		}
	}
	if err == nil && one != nil && len(one.ids) > 0 {
		k, err = r.add(ctx, k, slices.Collect(maps.Keys(one.ids)))
	}
	r.mu.Lock()
	if err == nil {
		r.known.Store(k)
		if !want.sent.IsZero() {
			r.confirmed.Store(max(r.confirmed.Load(), r.since(want.sent)))
		}
	} else if outdated {
		r.shown.reread = true // when the watch shows anything next
	}
	r.mu.Unlock()
	if one != nil {
		one.err = err
		close(one.done)
	}
}

// failed says once that changes are not known.
func (r *Ring) failed(err error) {
	if !r.failing {
		r.failing = true
		r.opts.Log.Warn("changes of API keys are not known yet", "error", err)
	}
}

// readAgain reads everything that is known, as it is now. Which ids are of no key is forgotten.
func (r *Ring) readAgain(ctx context.Context, old *known, revision leaderboard.Revision) (*known, error) {
	k := &known{revision: revision, keys: make(map[string]*entry, len(old.keys)), absent: map[string]struct{}{}}
	return k, r.fetch(ctx, slices.Collect(maps.Keys(old.keys)), func(key leaderboard.HashedKey) {
		k.keys[key.ID] = &entry{key, old.keys[key.ID].uses}
	})
}

// add looks up ids that are not known. The keys that are known are copied only when there is another one: ids that somebody
// makes up cost a copy of the absent ones, 10,000 at most, for each statement of up to 500.
func (r *Ring) add(ctx context.Context, old *known, ids []string) (*known, error) {
	k := &known{revision: old.revision, keys: old.keys, absent: maps.Clone(old.absent)}
	if len(k.absent) > maxAbsent {
		clear(k.absent)
	}
	for _, id := range ids {
		k.absent[id] = struct{}{}
	}
	copied := false
	return k, r.fetch(ctx, ids, func(key leaderboard.HashedKey) {
		if !copied {
			k.keys, copied = maps.Clone(old.keys), true
		}
		delete(k.absent, key.ID)
		for id := range k.keys { // any other makes room
			if len(k.keys) < maxKnown {
				break
			}
			delete(k.keys, id)
		}
		k.keys[key.ID] = &entry{key, &uses{}}
	})
}

func (r *Ring) fetch(ctx context.Context, ids []string, found func(leaderboard.HashedKey)) error {
	for chunk := range slices.Chunk(ids, together) {
		ctx, cancel := context.WithTimeout(ctx, askFor)
		keys, err := r.source.HashedKeys(ctx, chunk)
		cancel()
		if err != nil {
			return fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
		}
		for i := range keys {
			found(keys[i])
		}
	}
	return nil
}

// note writes down the minutes in which keys were last used. What cannot be written is written the next time.
func (r *Ring) note(ctx context.Context) {
	byMinute := map[int64][]*entry{}
	for _, e := range r.known.Load().keys {
		if last := e.uses.last.Load(); last > e.uses.noted {
			byMinute[last] = append(byMinute[last], e)
		}
	}
	for minute, entries := range byMinute {
		for chunk := range slices.Chunk(entries, together) {
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
