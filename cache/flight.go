package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// flights let callers that want the same thing share one piece of work. The work does not end with the caller who
// happened to be first.
type flights[K comparable, V any] struct {
	mu    sync.Mutex
	calls map[K]*flight[V]
}

type flight[V any] struct {
	done   chan struct{}
	landed bool // mu of the flights
	value  V    // value and err: read after done
	err    error
}

// start joins the flight of key or begins one: work is called at once and has to see to it that land is called, once,
// by whoever has the value then. settle runs at the end of the flight, before any waiter goes on, unless the key was
// forgotten in the meantime.
func (f *flights[K, V]) start(key K, work func(land func(V, error)), settle func(V, error)) *flight[V] {
	f.mu.Lock()
	if fl, ok := f.calls[key]; ok {
		f.mu.Unlock()
		return fl
	}
	if f.calls == nil {
		f.calls = map[K]*flight[V]{}
	}
	fl := &flight[V]{done: make(chan struct{})}
	f.calls[key] = fl
	f.mu.Unlock()
	work(func(value V, err error) { f.land(key, fl, value, err, settle) })
	return fl
}

// land ends a flight; the first call counts.
func (f *flights[K, V]) land(key K, fl *flight[V], value V, err error, settle func(V, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl.landed {
		return
	}
	fl.landed, fl.value, fl.err = true, value, err
	if f.calls[key] == fl {
		delete(f.calls, key)
		settle(value, err)
	}
	close(fl.done)
}

// fly runs work in a goroutine of its own, on a context of its own, and lands with what it brings.
func fly[V any](ctx context.Context, timeout time.Duration, work func(context.Context) (V, error), land func(V, error)) {
	ctx = context.WithoutCancel(ctx)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		land(guarded(ctx, work))
	}()
}

// forget makes the next start begin a new flight; what the present one brings is no longer kept.
func (f *flights[K, V]) forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.calls, key)
}

// wait blocks until the flight has ended or ctx has.
func (fl *flight[V]) wait(ctx context.Context) (V, error) {
	select {
	case <-fl.done:
		return fl.value, fl.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
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
