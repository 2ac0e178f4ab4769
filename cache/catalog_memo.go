package cache

import (
	"context"
	"sync/atomic"
	"time"

	"leaderboard/internal/bounded"
	"leaderboard/leaderboard"
)

// reading is when, and at which revision, something was read of boards.
type reading struct {
	confirmation
	err    error                 // the board does not exist, or not the period
	of     int64                 // whose revision: leaderboard.BoardPeriod of a board that was found, otherwise BoardsPeriod
	at     *leaderboard.Revision // the revision; nil: not known
	also   []int64               // the periods that its readers will ask about next, so that one statement of the feed shows all
	until  time.Time             // limit of use of a result that another process read; else zero
	failed atomic.Int64          // when reading it again last failed, ns since read
}

func (r *reading) usable(now time.Time) bool {
	return r.err == nil && r.age(now) <= catalogLimit && (r.until.IsZero() || now.Before(r.until))
}

// stale reports whether an answer by this reading must say that it may be old. unread: it cannot be read again now.
func (r *reading) stale(now time.Time, unread bool) bool {
	limit := catalogStale
	if unread || r.failed.Load() > r.good.Load() {
		limit = catalogApart
	}
	return !r.until.IsZero() || r.age(now) > limit
}

// failing reports whether reading again has failed since the last moment at which it was good, and whether it is time for another
// attempt, which then counts as made.
func (r *reading) failing(now time.Time) (failing, due bool) {
	failed, since := r.failed.Load(), int64(now.Sub(r.read))
	if failed <= r.good.Load() {
		return false, true
	}
	return true, since-failed >= int64(catalogApart) && r.failed.CompareAndSwap(failed, since)
}

func (r *reading) fail(now time.Time) { r.failed.Store(int64(now.Sub(r.read))) }

// cached is something that was read of boards. It is shared, and its value is never written to.
type cached[V any] struct {
	reading
	value V
}

// newCached returns an answer that is to be read now.
func newCached[V any](ctx context.Context, c *Catalog) *cached[V] {
	k := &cached[V]{}
	k.of, k.at = leaderboard.BoardsPeriod, c.before(ctx)
	k.read = c.now()
	return k
}

// take makes k the same answer as another, of the same moment, unless there is an error.
func (k *cached[V]) take(other *cached[V], err error) error {
	if err != nil {
		return err
	}
	k.value, k.read, k.of, k.at, k.also = other.value, other.read, other.of, other.at, other.also
	return other.err
}

// memo keeps answers about boards, also that something does not exist, as long as they hold. While an answer cannot be read
// again, the old one is served.
type memo[K comparable, V any] struct {
	c     *Catalog
	holds func(context.Context, *reading) bool
	bytes func(V) int
	kept  *bounded.Map[K, *cached[V]]
	none  *bounded.Map[K, *cached[V]] // names that do not exist, apart, so that invented names push out nothing else
	calls calls[K, *cached[V]]
}

// noneBytes is the memory for a name that no board has.
const noneBytes = 300

func newMemo[K comparable, V any](c *Catalog, holds func(context.Context, *reading) bool, bytes func(V) int) *memo[K, V] {
	return &memo[K, V]{
		c: c, holds: holds, bytes: bytes, calls: calls[K, *cached[V]]{timeout: catalogTimeout},
		kept: bounded.New[K, *cached[V]](catalogBoards, catalogBytes), none: bounded.New[K, *cached[V]](catalogBoards, catalogBoards*noneBytes),
	}
}

// loader reads the answer into k. The error may be the answer.
type loader[V any] func(ctx context.Context, k *cached[V]) error

// find returns the kept answer, whether it holds or not.
func (m *memo[K, V]) find(key K) (*cached[V], bool) {
	if k, ok := m.kept.Get(key); ok {
		return k, true
	}
	return m.none.Get(key)
}

// get returns the kept answer if it holds, otherwise the result of load; if load fails, the kept answer while it is usable.
func (m *memo[K, V]) get(ctx context.Context, key K, load loader[V]) (*cached[V], error) {
	if k, ok := m.fresh(ctx, key); ok {
		return k, k.err
	}
	return m.again(ctx, key, load)
}

// fresh returns the kept answer, and whether it holds, like for most reads.
func (m *memo[K, V]) fresh(ctx context.Context, key K) (*cached[V], bool) {
	k, ok := m.find(key)
	return k, ok && m.holds(ctx, &k.reading)
}

// again is get for an answer that no longer holds.
func (m *memo[K, V]) again(ctx context.Context, key K, load loader[V]) (*cached[V], error) {
	k, ok := m.find(key)
	now := m.c.now()
	if !ok || !k.usable(now) {
		return m.renew(ctx, key, load)
	}
	failing, due := k.failing(now)
	switch {
	case m.c.away() || failing && !due:
		return k, nil
	case failing:
		m.start(ctx, key, load)
		return k, nil
	}
	soon, cancel := context.WithTimeout(ctx, catalogWait)
	defer cancel()
	next, err := m.renew(soon, key, load)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil || isAnswer(err):
		return next, err
	}
	k.fail(m.c.now())
	return k, nil
}

// renew returns the result of load; callers that want it at the same time share it. A result that was read before the call
// must hold like a kept one.
func (m *memo[K, V]) renew(ctx context.Context, key K, load loader[V]) (*cached[V], error) {
	for called := m.c.now(); ; {
		k, err := m.start(ctx, key, load).wait(ctx)
		switch {
		case err != nil:
			return nil, err
		case !k.until.IsZero(), k.err != nil && !isAnswer(k.err), !k.read.Before(called), m.holds(ctx, &k.reading):
			return k, k.err
		}
	}
}

func (m *memo[K, V]) start(ctx context.Context, key K, load loader[V]) *future[*cached[V]] {
	return m.calls.start(ctx, key, func(ctx context.Context) (*cached[V], error) {
		k := newCached[V](ctx, m.c)
		k.err = load(ctx, k)
		return k, nil
	}, func(k *cached[V], err error) {
		if err == nil {
			m.keep(key, k)
		}
	})
}

func (m *memo[K, V]) keep(key K, k *cached[V]) {
	switch {
	case k.err == nil:
		m.none.Delete(key)
		m.kept.Put(key, m.bytes(k.value), k)
	case isAnswer(k.err):
		m.kept.Delete(key)
		m.none.Put(key, noneBytes, k)
	default:
		if last, ok := m.kept.Get(key); ok {
			last.fail(m.c.now())
		}
	}
}

// forget drops the kept answer, and the result of a call under way.
func (m *memo[K, V]) forget(key K) {
	m.calls.forget(key)
	m.kept.Delete(key)
	m.none.Delete(key)
}
