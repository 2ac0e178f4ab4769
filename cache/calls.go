package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// calls lets callers that want the same thing share one call. The work does not end with the caller who
// happened to be first.
type calls[K comparable, V any] struct {
	mu      sync.Mutex
	running map[K]*call[V]
}

type call[V any] struct {
	done     chan struct{}
	finished bool // mu of the calls
	value    V    // value and err: read after done
	err      error
}

// start joins the call of key or begins one: work is called at once and has to see to it that finish is called, once,
// by whoever has the value. At the end of the call, before any waiter goes on, then runs, unless the key was forgotten
// in the meantime.
func (f *calls[K, V]) start(key K, work func(finish func(V, error)), then func(V, error)) *call[V] {
	f.mu.Lock()
	if fl, ok := f.running[key]; ok {
		f.mu.Unlock()
		return fl
	}
	if f.running == nil {
		f.running = map[K]*call[V]{}
	}
	fl := &call[V]{done: make(chan struct{})}
	f.running[key] = fl
	f.mu.Unlock()
	work(func(value V, err error) { f.finish(key, fl, value, err, then) })
	return fl
}

// finish ends a call; the first call counts.
func (f *calls[K, V]) finish(key K, fl *call[V], value V, err error, then func(V, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if fl.finished {
		return
	}
	fl.finished, fl.value, fl.err = true, value, err
	if f.running[key] == fl {
		delete(f.running, key)
		then(value, err)
	}
	close(fl.done)
}

// detach runs work in a goroutine of its own, on a context of its own, and gives finish what it brings.
func detach[V any](ctx context.Context, timeout time.Duration, work func(context.Context) (V, error), finish func(V, error)) {
	ctx = context.WithoutCancel(ctx)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		finish(guarded(ctx, work))
	}()
}

// forget makes the next start begin a new call; what the present one brings is no longer kept.
func (f *calls[K, V]) forget(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.running, key)
}

// wait blocks until the call has ended or ctx has.
func (fl *call[V]) wait(ctx context.Context) (V, error) {
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
