package app

import (
	"context"
	"math/rand/v2"
	"time"
)

// ends reports whether wait returns before ctx ends.
func ends(ctx context.Context, wait func()) bool {
	ended := make(chan struct{})
	go func() { wait(); close(ended) }()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// every calls work again and again until ctx ends, with period, give or take jitter, between an end and the next start.
func every(ctx context.Context, period, jitter time.Duration, work func()) {
	for {
		pause(ctx, period-jitter+rand.N(2*jitter))
		if ctx.Err() != nil {
			return
		}
		work()
	}
}
