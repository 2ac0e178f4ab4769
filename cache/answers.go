package cache

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

// answers keeps what was answered in the process, and renews it while it is served (stale-while-revalidate, RFC 5861):
//
//	fresh          served
//	aging          served, while one call renews it
//	old            waited for; when what is behind fails, or does not answer within wait while the database does not
//	               either, served marked stale
//	beyond limit   gone: nobody knows it to be good for so long
//
// After a failure the next renewals are tried at most once per retry, in the background, so that a dependency that
// hangs delays one reader, not all. Errors are never kept.
type answers[K comparable, V any] struct {
	rules answerRules
	ops   answerOps[K, V]
	kept  *lru[K, *answer[V]]
	calls calls[callKey[K], V]
}

type answerRules struct {
	limit       time.Duration // age beyond which an answer is gone
	wait, retry time.Duration
	well        func() bool   // the database answers: what takes longer than wait is waited for; nil: nobody knows
	timeout     time.Duration // of a load
	now         func() time.Time
}

// freshness says what an answer is good for.
type freshness int

const (
	freshnessOld freshness = iota
	freshnessAging
	freshnessFresh
)

// answerOps is what answers must know of its values.
type answerOps[K comparable, V any] struct {
	judge func(key K, v V, age time.Duration) freshness
	seq   func(V) int64
	local func(V) V // the form in which later callers get it
	stale func(V) V // the same, when nothing behind it answers
	bytes func(V) int
}

// byAge judges by the time since the answer came.
func byAge[K comparable, V any](freshFor, agingFor time.Duration) func(K, V, time.Duration) freshness {
	return func(_ K, _ V, age time.Duration) freshness {
		switch {
		case age <= freshFor:
			return freshnessFresh
		case age <= agingFor:
			return freshnessAging
		}
		return freshnessOld
	}
}

// load gets an answer at least as new as minSeq from the next layer.
type load[V any] func(ctx context.Context, minSeq int64) (V, error)

// callKey keeps a caller who needs a newer state out of a call that may bring an older one.
type callKey[K comparable] struct {
	key    K
	minSeq int64
}

// answer is one kept answer.
type answer[V any] struct {
	value V
	seq   int64
	at    time.Time
	good  atomic.Int64 // when it was last found fresh, ns since at

	mu       sync.Mutex
	stale    V
	hasStale bool
	failed   time.Time // the last renewal
}

func newAnswers[K comparable, V any](rules answerRules, ops answerOps[K, V], maxEntries, maxBytes int) *answers[K, V] {
	a := &answers[K, V]{rules: rules, ops: ops, kept: newLRU[K, *answer[V]](maxEntries, maxBytes)}
	a.calls.timeout = rules.timeout
	return a
}

// fresh returns an answer that needs no renewal; most reads go this way.
func (a *answers[K, V]) fresh(key K, minSeq int64) (V, bool) {
	if h, ok := a.kept.get(key); ok && h.seq >= minSeq && a.judge(key, h) == freshnessFresh {
		return h.value, true
	}
	var none V
	return none, false
}

func (a *answers[K, V]) judge(key K, h *answer[V]) freshness {
	age := a.rules.now().Sub(h.at)
	judged := a.ops.judge(key, h.value, age)
	if judged == freshnessFresh && age-time.Duration(h.good.Load()) > time.Second { // readers do not fight over it
		h.good.Store(int64(age))
	}
	return judged
}

// age returns how long it is since an answer was last known to be good.
func (h *answer[V]) age(now time.Time) time.Duration {
	return now.Sub(h.at) - time.Duration(h.good.Load())
}

// get returns an answer that is kept, or what load brings.
func (a *answers[K, V]) get(ctx context.Context, key K, minSeq int64, load load[V]) (V, error) {
	h, ok := a.kept.get(key)
	now := a.rules.now()
	if !ok || h.seq < minSeq || h.age(now) > a.rules.limit {
		return a.renew(ctx, key, minSeq, load).wait(ctx)
	}
	judged := a.judge(key, h)
	if judged == freshnessFresh {
		return h.value, nil
	}
	failing, due := h.failing(now, a.rules.retry)
	if failing && !due {
		return h.marked(a.ops.stale), nil
	}
	renewed := a.renew(ctx, key, 0, load)
	switch {
	case failing:
		return h.marked(a.ops.stale), nil
	case judged == freshnessAging:
		return h.value, nil
	}
	v, err := a.await(ctx, renewed)
	if err == nil && a.ops.seq(v) < minSeq { // from a copy that is behind what the caller has seen
		v, err = a.await(ctx, a.renew(ctx, key, minSeq, load))
	}
	switch {
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err == nil || isAnswer(err):
		return v, err
	}
	h.fail(a.rules.now())
	return h.marked(a.ops.stale), nil
}

// await waits for a renewal, and longer than rules.wait only while the database answers.
func (a *answers[K, V]) await(ctx context.Context, renewed *future[V]) (V, error) {
	for {
		bounded, cancel := context.WithTimeout(ctx, a.rules.wait)
		v, err := renewed.wait(bounded)
		late := bounded.Err() != nil
		cancel()
		if !late || ctx.Err() != nil || a.rules.well == nil || !a.rules.well() {
			return v, err
		}
	}
}

func (a *answers[K, V]) renew(ctx context.Context, key K, minSeq int64, load load[V]) *future[V] {
	work := func(ctx context.Context) (V, error) { return load(ctx, minSeq) }
	return a.calls.start(ctx, callKey[K]{key, minSeq}, work, func(v V, err error) {
		switch {
		case err == nil:
			a.put(key, v)
		case errors.Is(err, leaderboard.ErrSeqAhead): // says nothing about what is kept
		case isAnswer(err):
			a.kept.delete(key)
		default:
			if h, ok := a.kept.get(key); ok {
				h.fail(a.rules.now())
			}
		}
	})
}

// put keeps an answer, unless the one in place is newer and good.
func (a *answers[K, V]) put(key K, v V) {
	next := &answer[V]{value: a.ops.local(v), seq: a.ops.seq(v), at: a.rules.now()}
	a.kept.update(key, a.ops.bytes(v), func(last *answer[V], ok bool) *answer[V] {
		if ok && last.seq > next.seq && a.judge(key, last) == freshnessFresh {
			return last
		}
		return next
	})
}

// forget drops what is kept, and what a call under way will bring.
func (a *answers[K, V]) forget(key K) {
	a.calls.forget(callKey[K]{key, 0})
	a.kept.delete(key)
}

// failing says whether a renewal has failed since the answer was last good, and whether it is time to try again, which it then
// counts as tried.
func (h *answer[V]) failing(now time.Time, retry time.Duration) (failing, due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed.IsZero() || h.failed.Sub(h.at) < time.Duration(h.good.Load()) {
		return false, true
	}
	if now.Sub(h.failed) < retry {
		return true, false
	}
	h.failed = now
	return true, true
}

func (h *answer[V]) fail(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = now
}

// marked returns the answer marked stale, one object for all who get it.
func (h *answer[V]) marked(stale func(V) V) V {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasStale {
		h.stale, h.hasStale = stale(h.value), true
	}
	return h.stale
}

// isAnswer says whether an error answers what was asked for, so that no other layer is to be tried.
func isAnswer(err error) bool {
	if isRule(err) {
		return true
	}
	for _, answer := range []error{
		leaderboard.ErrNotRanked, leaderboard.ErrPeriodNotFound, leaderboard.ErrBoardNotFound, leaderboard.ErrSeqAhead,
	} {
		if errors.Is(err, answer) {
			return true
		}
	}
	return false
}

// isRule says whether an error is about the query itself, such as a mode that is not available so deep.
func isRule(err error) bool {
	var rule *leaderboard.RuleError
	return errors.As(err, &rule)
}

// future is a value that somebody is at work on.
type future[V any] struct {
	began time.Time
	done  chan struct{}
	value V // value and err: read after done
	err   error
}

// wait blocks until the value is there or ctx has ended.
func (f *future[V]) wait(ctx context.Context) (V, error) {
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// calls lets callers that want the same thing share one call. The work goes on when the caller who happened to be first
// has left.
type calls[K comparable, V any] struct {
	timeout time.Duration // of the work

	mu      sync.Mutex
	running map[K]*future[V]
}

// start joins the call of key, or begins one in a goroutine of its own. At its end, before any waiter goes on, then runs,
// unless the key was forgotten in the meantime.
func (c *calls[K, V]) start(ctx context.Context, key K, work func(context.Context) (V, error), then func(V, error)) *future[V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.running[key]; ok {
		return f
	}
	if c.running == nil {
		c.running = map[K]*future[V]{}
	}
	f := &future[V]{began: time.Now(), done: make(chan struct{})}
	c.running[key] = f
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(f.done)
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		f.value, f.err = guarded(ctx, work)
		c.end(key, f, then)
	}()
	return f
}

// end takes a call off the list. While it runs then, nobody forgets the key.
func (c *calls[K, V]) end(key K, f *future[V], then func(V, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[key] == f {
		delete(c.running, key)
		if then != nil {
			then(f.value, f.err)
		}
	}
}

// forget makes the next start begin a new call; what the present one brings is not kept.
func (c *calls[K, V]) forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, key)
}

// guarded turns a panic of work into an error: it runs in a goroutine where nobody else would recover it.
func guarded[V any](ctx context.Context, work func(context.Context) (V, error)) (value V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cache: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work(ctx)
}

// lruShards keeps readers on many cores from waiting for one lock.
const lruShards = 8

// lru is a map bounded by the number of its entries and by their size in bytes; who was not read for the longest goes.
type lru[K comparable, V any] struct {
	seed   maphash.Seed
	shards [lruShards]lruShard[K, V]
}

type lruShard[K comparable, V any] struct {
	maxEntries, maxBytes int

	mu    sync.Mutex
	byKey map[K]*list.Element // of *lruEntry[K, V]
	order *list.List          // most recently read first
	bytes int
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	bytes int
}

func newLRU[K comparable, V any](maxEntries, maxBytes int) *lru[K, V] {
	l := &lru[K, V]{seed: maphash.MakeSeed()}
	for i := range l.shards {
		s := &l.shards[i]
		s.maxEntries, s.maxBytes = max(1, maxEntries/lruShards), maxBytes/lruShards
		s.byKey, s.order = map[K]*list.Element{}, list.New()
	}
	return l
}

func (l *lru[K, V]) shard(key K) *lruShard[K, V] {
	return &l.shards[maphash.Comparable(l.seed, key)%lruShards]
}

func (l *lru[K, V]) get(key K) (V, bool) {
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*lruEntry[K, V]).value, true
}

// all returns all values.
func (l *lru[K, V]) all() (out []V) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		for e := s.order.Front(); e != nil; e = e.Next() {
			out = append(out, e.Value.(*lruEntry[K, V]).value)
		}
		s.mu.Unlock()
	}
	return out
}

// update sets the value of key to what change makes of the present one; ok says whether there is one. A value larger
// than the whole bound is not kept.
func (l *lru[K, V]) update(key K, bytes int, change func(old V, ok bool) V) {
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	var old V
	e, ok := s.byKey[key]
	if ok {
		old = e.Value.(*lruEntry[K, V]).value
		s.remove(e)
	}
	value := change(old, ok)
	if bytes > s.maxBytes {
		return
	}
	s.byKey[key] = s.order.PushFront(&lruEntry[K, V]{key, value, bytes})
	s.bytes += bytes
	for s.bytes > s.maxBytes || len(s.byKey) > s.maxEntries {
		s.remove(s.order.Back())
	}
}

func (l *lru[K, V]) delete(key K) {
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.remove(e)
	}
}

func (s *lruShard[K, V]) remove(e *list.Element) {
	entry := s.order.Remove(e).(*lruEntry[K, V])
	delete(s.byKey, entry.key)
	s.bytes -= entry.bytes
}

// size returns the number of entries and their bytes.
func (l *lru[K, V]) size() (entries, bytes int) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		entries, bytes = entries+len(s.byKey), bytes+s.bytes
		s.mu.Unlock()
	}
	return entries, bytes
}
