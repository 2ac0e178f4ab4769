// Package turn lets work that has been given one of few slots hand it on: work that turns out to take long, or to wait for
// something, must not keep out what would be quick. The slot travels with the context.
package turn

import (
	"context"
	"time"
)

// key is the key of a Turn in a context.
type key struct{}

// Turn is a slot that some work has.
type Turn struct {
	until time.Time
	leave func()
}

// With returns a context for work that has a slot. until is when its callers want to be refused if it has not begun then; leave
// hands the slot on. It may be called several times.
func With(ctx context.Context, until time.Time, leave func()) context.Context {
	return context.WithValue(ctx, key{}, Turn{until, leave})
}

// Leave hands the slot of the work on, and returns when its callers want to be refused; false when it has no slot.
func Leave(ctx context.Context) (until time.Time, ok bool) {
	t, ok := ctx.Value(key{}).(Turn)
	if !ok {
		return time.Time{}, false
	}
	t.leave()
	return t.until, true
}
