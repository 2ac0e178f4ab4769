package topn

import (
	"sync"
	"time"
)

const (
	// BreakerFailures in a row open the breaker: one slow answer is no outage.
	BreakerFailures = 3
	// BreakerPause is how long it stays open before one request tries again.
	BreakerPause = time.Second
)

// Breaker keeps requests from waiting, one after another, for a server that does not answer.
type Breaker struct {
	now      func() time.Time
	onChange func(open bool) // called under mu: must not block

	mu       sync.Mutex
	failures int // in a row
	open     bool
	retryAt  time.Time // when open: the next probe
	asked    time.Time // the last Allow while it was open
}

// NewBreaker makes a closed breaker. onChange is called whenever it opens or closes, and must not block.
func NewBreaker(now func() time.Time, onChange func(open bool)) *Breaker {
	return &Breaker{now: now, onChange: onChange}
}

// Allow reports whether to try. After true the caller calls Done once, unless the try showed nothing about the server.
func (b *Breaker) Allow() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.open {
		return true
	}
	b.asked = b.now()
	if b.asked.Before(b.retryAt) {
		return false
	}
	b.retryAt = b.asked.Add(BreakerPause) // no other call probes meanwhile
	return true
}

// Done notes how a try ended.
func (b *Breaker) Done(ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		b.failures = 0
		b.set(false)
		return
	}
	b.failures++
	if b.failures >= BreakerFailures {
		b.asked = b.now()
		b.retryAt = b.asked.Add(BreakerPause)
		b.set(true)
	}
}

// probe pings the server when the breaker is open and Allow was not called for a BreakerPause.
func (b *Breaker) probe(ask func() error) {
	b.mu.Lock()
	unasked := b.open && b.now().Sub(b.asked) >= BreakerPause
	b.mu.Unlock()
	if unasked && b.Allow() {
		b.Done(ask() == nil)
	}
}

// rest closes a breaker whose Allow was not called for a time.
func (b *Breaker) rest(idle time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open && b.now().Sub(b.asked) > idle {
		b.failures = 0
		b.set(false)
	}
}

func (b *Breaker) set(open bool) {
	if b.open != open {
		b.open = open
		b.onChange(open)
	}
}
