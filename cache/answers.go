package cache

import (
	"context"
	"errors"
	"sync"
	"time"

	"leaderboard"
)

// answerCache keeps answers in the process. Where the watch judges, an answer is served as long as it is fresh by that, and
// renewed in the background when it is older than grace; one that is not fresh is waited for, as below. Otherwise its age
// decides:
//
//	fresh                served
//	up to grace          served, while one call renews it
//	older                waited for; when what is behind fails, or does not answer within wait, served marked stale
//	beyond the limit     gone
//
// The age counts from when the answer came, or from when its period was last seen in the state of the answer.
//
// While rules.away says so, every answer is marked stale, wherever it comes from.
//
// After a failure the next renewals are tried at most once per retry, in the background, so that a dependency that
// hangs delays one reader, not all. Errors are never kept.
type answerCache[K comparable, V any] struct {
	rules   answerRules
	ops     answerOps[V]
	kept    *lru[K, *held[V]]
	calls   calls[callKey[K], V]
	timeout time.Duration // of a loadFunc

	judge  func(K, V) bool // whether an answer is fresh by the watch; nil: age decides
	seen   *lastSeen       // nil: there are no periods
	period func(K) int64   // the id of the period that a key is about
}

type answerRules struct {
	fresh, grace, limit time.Duration
	wait, retry         time.Duration
	now                 func() time.Time
	away                func() bool // the database does not answer; may be nil
}

// answerOps is what an answerCache must know about its values.
type answerOps[V any] struct {
	seq   func(V) int64
	state func(V) leaderboard.State // used where there are periods
	local func(V) V                 // the form in which later callers get it
	stale func(V) V                 // the same, when nothing behind it answers
	bytes func(V) int
}

// loadFunc gets an answer at least as new as minSeq from the next layer.
type loadFunc[V any] func(ctx context.Context, minSeq int64) (V, error)

// askFunc does the same without blocking: whoever finds the answer calls finish.
type askFunc[V any] func(minSeq int64, finish func(V, error))

// callKey keeps a caller who needs a newer state out of a call that may bring an older one.
type callKey[K comparable] struct {
	key    K
	minSeq int64
}

// held is one kept answer.
type held[V any] struct {
	value V
	seq   int64
	at    time.Time

	mu       sync.Mutex
	stale    V
	hasStale bool
	failed   time.Time // the last renewal
}

func newAnswerCache[K comparable, V any](rules answerRules, ops answerOps[V], timeout time.Duration, maxEntries, maxBytes int) *answerCache[K, V] {
	return &answerCache[K, V]{
		rules: rules, ops: ops, kept: newLRU[K, *held[V]](maxEntries, maxBytes),
		timeout: timeout,
	}
}

// fresh returns an answer that needs no renewal; most reads go this way.
func (k *answerCache[K, V]) fresh(key K, minSeq int64) (V, bool) {
	h, ok := k.kept.get(key)
	if ok && h.seq >= minSeq && !k.away() {
		if k.judge != nil {
			return h.value, k.rules.now().Sub(h.at) <= k.rules.grace && k.judge(key, h.value)
		}
		if now := k.rules.now(); now.Sub(h.at) <= k.rules.fresh || now.Sub(k.current(key, h)) <= k.rules.fresh {
			return h.value, true
		}
	}
	var none V
	return none, false
}

// current returns the last time at which an answer was known to be true.
func (k *answerCache[K, V]) current(key K, h *held[V]) time.Time {
	if k.seen != nil {
		if last := k.seen.last(k.period(key), k.ops.state(h.value)); last.After(h.at) {
			return last
		}
	}
	return h.at
}

func (k *answerCache[K, V]) away() bool { return k.rules.away != nil && k.rules.away() }

// get returns an answer from the cache or from load, which runs in a goroutine of its own.
func (k *answerCache[K, V]) get(ctx context.Context, key K, minSeq int64, load loadFunc[V]) (V, error) {
	return k.ask(ctx, key, minSeq, func(minSeq int64, finish func(V, error)) {
		detach(ctx, k.timeout, func(ctx context.Context) (V, error) { return load(ctx, minSeq) }, finish)
	})
}

// ask does what get does for a layer that calls finish by itself.
func (k *answerCache[K, V]) ask(ctx context.Context, key K, minSeq int64, ask askFunc[V]) (V, error) {
	v, err := k.find(ctx, key, minSeq, ask)
	if err != nil || !k.away() {
		return v, err
	}
	if h, ok := k.kept.get(key); ok && h.seq == k.ops.seq(v) {
		return h.marked(k.ops), nil
	}
	return k.ops.stale(v), nil
}

func (k *answerCache[K, V]) find(ctx context.Context, key K, minSeq int64, ask askFunc[V]) (V, error) {
	h, ok := k.kept.get(key)
	var current time.Time
	age, now := time.Duration(0), k.rules.now()
	if ok {
		current = k.current(key, h)
		age = now.Sub(current)
		ok = h.seq >= minSeq && age <= k.rules.limit
	}
	if !ok {
		return k.renew(key, minSeq, ask).wait(ctx)
	}
	switch {
	case k.judge != nil && k.judge(key, h.value):
		k.revisit(key, h, now, ask)
		return h.value, nil
	case k.judge == nil && age <= k.rules.fresh:
		return h.value, nil
	}
	failing, due := h.failing(now, current, k.rules.retry)
	if failing && !due {
		return h.marked(k.ops), nil
	}
	fl := k.renew(key, 0, ask)
	switch {
	case failing:
		return h.marked(k.ops), nil
	case k.judge == nil && age <= k.rules.grace:
		return h.value, nil
	}
	return k.await(ctx, fl, h, callKey[K]{key, minSeq}, ask)
}

// revisit renews an answer that is still true now and then: a copy that nobody asks expires, and nobody would notice that one
// is gone.
func (k *answerCache[K, V]) revisit(key K, h *held[V], now time.Time, ask askFunc[V]) {
	if now.Sub(h.at) <= k.rules.grace {
		return
	}
	if failing, due := h.failing(now, h.at, k.rules.retry); !failing || due {
		k.renew(key, 0, ask)
	}
}

// await waits for a renewal while there is an old answer to fall back on.
func (k *answerCache[K, V]) await(ctx context.Context, fl *call[V], h *held[V], need callKey[K], ask askFunc[V]) (V, error) {
	bounded, cancel := context.WithTimeout(ctx, k.rules.wait)
	defer cancel()
	v, err := fl.wait(bounded)
	if err == nil && k.ops.seq(v) < need.minSeq { // from a copy that is behind what the caller has seen
		v, err = k.renew(need.key, need.minSeq, ask).wait(bounded)
	}
	switch {
	case ctx.Err() != nil:
		return v, ctx.Err()
	case err == nil:
		return v, nil
	case err != nil && isAnswer(err):
		return v, err
	}
	if err != nil {
		h.fail(k.rules.now())
	}
	return h.marked(k.ops), nil
}

func (k *answerCache[K, V]) renew(key K, minSeq int64, ask askFunc[V]) *call[V] {
	work := func(finish func(V, error)) { ask(minSeq, finish) }
	return k.calls.start(callKey[K]{key, minSeq}, work, func(v V, err error) {
		switch {
		case err == nil:
			k.put(key, v)
		case errors.Is(err, leaderboard.ErrSeqAhead): // says nothing about what is kept
		case isAnswer(err):
			k.kept.delete(key)
		default:
			if h, ok := k.kept.get(key); ok {
				h.fail(k.rules.now())
			}
		}
	})
}

// put keeps an answer, unless the one in place is newer and not old.
func (k *answerCache[K, V]) put(key K, v V) {
	now := k.rules.now()
	next := &held[V]{value: k.ops.local(v), seq: k.ops.seq(v), at: now}
	if k.judge != nil {
		k.judge(key, v) // it has been sent, so nothing older may be from now on
	}
	if k.seen != nil {
		k.seen.note(k.period(key), k.ops.state(v), now)
	}
	k.kept.update(key, k.ops.bytes(v), func(old *held[V], ok bool) *held[V] {
		if ok && old.seq > next.seq && now.Sub(k.current(key, old)) <= k.rules.fresh {
			return old
		}
		return next
	})
}

// forget drops what is kept, and what a call under way will bring.
func (k *answerCache[K, V]) forget(key K) {
	k.calls.forget(callKey[K]{key, 0})
	k.kept.delete(key)
}

// failing says whether a renewal has failed since the answer was last known to be true, and whether it is time to try
// again, which it then counts as tried.
func (h *held[V]) failing(now, current time.Time, retry time.Duration) (failing, due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed.Before(current) {
		return false, true
	}
	if now.Sub(h.failed) < retry {
		return true, false
	}
	h.failed = now
	return true, true
}

func (h *held[V]) fail(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failed = now
}

// marked returns the answer marked stale, one object for all who get it.
func (h *held[V]) marked(ops answerOps[V]) V {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasStale {
		h.stale, h.hasStale = ops.stale(h.value), true
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
