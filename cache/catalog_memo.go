package cache

import (
	"context"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/internal/bounded"
)

// reading is when and at what revision something was read of boards.
type reading struct {
	err     error                // what was asked for is not there
	boards  leaderboard.Revision // of leaderboard.BoardsPeriod before it was read; watched: it was known
	watched bool
	asked   time.Time    // when it was asked for, or when another process saw it
	until   time.Time    // of what another process saw: when it is good no more; else zero
	good    atomic.Int64 // when it was last known to hold, ns since asked
	failed  atomic.Int64 // when it could not be read again, ns since asked
}

// confirm notes that what was read holds still. Readers do not fight over the cache line.
func (r *reading) confirm(now time.Time) {
	if since := int64(now.Sub(r.asked)); since-r.good.Load() > int64(time.Second) {
		r.good.Store(since)
	}
}

// age returns how long ago what was read was last known to hold.
func (r *reading) age(now time.Time) time.Duration {
	return now.Sub(r.asked) - time.Duration(r.good.Load())
}

func (r *reading) usable(now time.Time) bool {
	return r.err == nil && r.age(now) <= catalogLimit && (r.until.IsZero() || now.Before(r.until))
}

func (r *reading) stale(now time.Time) bool { return !r.until.IsZero() || r.age(now) > catalogStale }

// failing reports whether what was read could not be read again since it was last good, and whether it is time to try,
// which then counts as tried.
func (r *reading) failing(now time.Time) (failing, due bool) {
	failed, since := r.failed.Load(), int64(now.Sub(r.asked))
	if failed <= r.good.Load() {
		return false, true
	}
	return true, since-failed >= int64(catalogApart) && r.failed.CompareAndSwap(failed, since)
}

func (r *reading) fail(now time.Time) { r.failed.Store(int64(now.Sub(r.asked))) }

// known is something that was read of boards. It is shared; nobody writes to the value.
type known[V any] struct {
	reading
	value V
}

// memo keeps what was read of boards, and what is not there, until it does not hold any more. While it cannot be read
// again, it is served as it was.
type memo[K comparable, V any] struct {
	c     *Catalog
	holds func(context.Context, *reading) bool
	bytes func(V) int
	kept  *bounded.Map[K, *known[V]]
	none  *bounded.Map[K, *known[V]] // what is not there: names that somebody makes up push nothing else out
	calls calls[K, *known[V]]
}

// noneBytes is what a name takes that no board has.
const noneBytes = 300

func newMemo[K comparable, V any](c *Catalog, holds func(context.Context, *reading) bool, bytes func(V) int) *memo[K, V] {
	return &memo[K, V]{
		c: c, holds: holds, bytes: bytes, calls: calls[K, *known[V]]{timeout: catalogTimeout},
		kept: bounded.New[K, *known[V]](catalogBoards, catalogBytes), none: bounded.New[K, *known[V]](catalogBoards, catalogBoards*noneBytes),
	}
}

// loader reads what is asked for into k. The error may be the answer.
type loader[V any] func(ctx context.Context, k *known[V]) error

// find returns what is kept.
func (m *memo[K, V]) find(key K) (*known[V], bool) {
	if k, ok := m.kept.Get(key); ok {
		return k, true
	}
	return m.none.Get(key)
}

// get returns what is kept and holds, else what load brings, else what is kept for as long as it is usable.
func (m *memo[K, V]) get(ctx context.Context, key K, load loader[V]) (*known[V], error) {
	if k, ok := m.fresh(ctx, key); ok {
		return k, k.err
	}
	return m.again(ctx, key, load)
}

// fresh returns what is kept and holds; most reads go this way.
func (m *memo[K, V]) fresh(ctx context.Context, key K) (*known[V], bool) {
	k, ok := m.find(key)
	return k, ok && m.holds(ctx, &k.reading)
}

// again is get for what does not hold.
func (m *memo[K, V]) again(ctx context.Context, key K, load loader[V]) (*known[V], error) {
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

// renew returns what load brings, for all who want it together.
func (m *memo[K, V]) renew(ctx context.Context, key K, load loader[V]) (*known[V], error) {
	k, err := m.start(ctx, key, load).wait(ctx)
	if err != nil {
		return nil, err
	}
	return k, k.err
}

func (m *memo[K, V]) start(ctx context.Context, key K, load loader[V]) *future[*known[V]] {
	return m.calls.start(ctx, key, func(ctx context.Context) (*known[V], error) {
		k := &known[V]{}
		k.boards, k.watched = m.c.before(ctx)
		k.asked = m.c.now()
		k.err = load(ctx, k)
		return k, nil
	}, func(k *known[V], err error) {
		if err == nil {
			m.keep(key, k)
		}
	})
}

func (m *memo[K, V]) keep(key K, k *known[V]) {
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

// forget drops what is kept, and what a call under way will bring.
func (m *memo[K, V]) forget(key K) {
	m.calls.forget(key)
	m.kept.Delete(key)
	m.none.Delete(key)
}
