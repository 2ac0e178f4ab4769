package cache

import (
	"sync"
	"time"
)

const (
	// breakerFailures in a row open the breaker: one slow answer is no outage.
	breakerFailures = 3
	// breakerPause is how long it stays open before one request tries again.
	breakerPause = time.Second
)

// breaker keeps requests from waiting, one after another, for a server that does not answer.
type breaker struct {
	now      func() time.Time
	onChange func(open bool) // called under mu: must not block

	mu       sync.Mutex
	failures int // in a row
	open     bool
	retryAt  time.Time // when open: the next probe
}

// allow says whether to try. Every allow that says yes is followed by one done.
func (b *breaker) allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	if b.now().Before(b.retryAt) {
		return false
	}
	b.retryAt = b.now().Add(breakerPause) // nobody else probes until this one has ended
	return true
}

// done reports how a try ended.
func (b *breaker) done(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		b.failures = 0
		b.set(false)
		return
	}
	b.failures++
	if b.failures >= breakerFailures {
		b.retryAt = b.now().Add(breakerPause)
		b.set(true)
	}
}

func (b *breaker) set(open bool) {
	if b.open != open {
		b.open = open
		b.onChange(open)
	}
}
