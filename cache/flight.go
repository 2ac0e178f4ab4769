package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// flights let callers that want the same thing share one piece of work. The work runs on a context of its own, so that
// it does not end with the caller who happened to be first.
type flights[K comparable, V any] struct {
	timeout time.Duration

	mu    sync.Mutex
	calls map[K]*flight[V]
}

type flight[V any] struct {
	done  chan struct{}
	value V // value and err: read after done
	err   error
}

// start joins the flight of key or begins one. settle runs at its end, before any waiter goes on, unless the key was
// forgotten in the meantime.
func (f *flights[K, V]) start(ctx context.Context, key K, work func(context.Context) (V, error), settle func(V, error)) *flight[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl, ok := f.calls[key]; ok {
		return fl
	}
	if f.calls == nil {
		f.calls = map[K]*flight[V]{}
	}
	fl := &flight[V]{done: make(chan struct{})}
	f.calls[key] = fl
	go f.fly(context.WithoutCancel(ctx), key, fl, work, settle)
	return fl
}

func (f *flights[K, V]) fly(ctx context.Context, key K, fl *flight[V], work func(context.Context) (V, error), settle func(V, error)) {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	fl.value, fl.err = guarded(ctx, work)
	f.mu.Lock()
	current := f.calls[key] == fl
	if current {
		delete(f.calls, key)
		settle(fl.value, fl.err)
	}
	f.mu.Unlock()
	close(fl.done)
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
