package httpapi

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/internal/trace"
	"leaderboard/leaderboard"
)

// deadline is a context that ends at a time, like one of context.WithDeadline, but starts its timer only when something waits for
// it. Answers from memory do not wait, and save a twentieth of the request. It carries the caller and the span of the request,
// too.
type deadline struct {
	parent context.Context
	caller *leaderboard.Caller
	span   trace.Span
	at     time.Time
	once   sync.Once
	timed  atomic.Pointer[timed]
}

type timed struct {
	context.Context
	cancel context.CancelFunc
}

func (d *deadline) arm() *timed {
	d.once.Do(func() {
		ctx, cancel := context.WithDeadline(d.parent, d.at)
		d.timed.Store(&timed{ctx, cancel})
	})
	return d.timed.Load()
}

// end frees the timer. Nothing may begin to wait after it.
func (d *deadline) end() {
	if t := d.timed.Load(); t != nil {
		t.cancel()
	}
}

// Deadline is the time at which the context ends.
func (d *deadline) Deadline() (time.Time, bool) { return d.arm().Deadline() }

// Done is closed at the deadline, or when the parent ends.
func (d *deadline) Done() <-chan struct{} { return d.arm().Done() }

// Err returns why the context has ended, nil while it has not.
func (d *deadline) Err() error { return d.arm().Err() }

// Value asks the timed context once it is started: package context finds in it the values by which it derives other contexts
// cheaply.
func (d *deadline) Value(key any) any {
	switch key.(type) {
	case leaderboard.CallerKey:
		return d.caller
	case trace.Key:
		return d.span.Recorder()
	}
	if t := d.timed.Load(); t != nil {
		return t.Value(key)
	}
	return d.parent.Value(key)
}
