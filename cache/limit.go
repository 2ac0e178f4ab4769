package cache

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"leaderboard"
)

// admissionLimit bounds what reaches MySQL: so many at once, so many waiting, none for long. Losing Redis must not become losing
// MySQL.
type admissionLimit struct {
	slots   chan struct{}
	queue   int64
	wait    time.Duration
	waiting atomic.Int64
}

func newAdmissionLimit(concurrent, queue int, wait time.Duration) *admissionLimit {
	return &admissionLimit{slots: make(chan struct{}, concurrent), queue: int64(queue), wait: wait}
}

// enter returns once there is a place, which leave gives back, or ErrOverloaded.
func (g *admissionLimit) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-g.slots }
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if g.waiting.Add(1) > g.queue {
		g.waiting.Add(-1)
		return nil, fmt.Errorf("cache: %d reads wait for MySQL already: %w", g.queue, leaderboard.ErrOverloaded)
	}
	defer g.waiting.Add(-1)
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case g.slots <- struct{}{}:
		return leave, nil
	case <-timer.C:
		return nil, fmt.Errorf("cache: no place to read from MySQL within %s: %w", g.wait, leaderboard.ErrOverloaded)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
