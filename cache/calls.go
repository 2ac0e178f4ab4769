package cache

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// future is a value that a call will bring.
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

// calls lets callers that want the same thing share one call. The work continues when the caller that began it has
// left.
type calls[K comparable, V any] struct {
	timeout time.Duration // of the work

	mu      sync.Mutex
	running map[K]*future[V]
}

// start joins the call of key, or begins a call in a new goroutine. At its end, before any waiter continues, then runs,
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

// end takes a call off the list. The key cannot be forgotten while then runs.
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

// forget makes the next start begin a new call; the result of the present call is not kept.
func (c *calls[K, V]) forget(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, key)
}

// guarded turns a panic of work into an error: in its own goroutine no caller would recover it.
func guarded[V any](ctx context.Context, work func(context.Context) (V, error)) (value V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cache: panic: %v\n%s", p, debug.Stack())
		}
	}()
	return work(ctx)
}
