package quotas

import (
	"time"
)

const (
	// blockShare is the share of a second's tokens that one lease takes ahead.
	blockShare = 0.05
	// lendShare is how much of the burst a process lends itself, at least lendLeast, from a bucket with an unknown
	// state while Redis answers: the bucket may be empty.
	lendShare = 0.05
	lendLeast = 10
	// shortPause is the least time between a lease that gave less than it asked for, and the next lease.
	shortPause = 10 * time.Millisecond
	// longPause is the greatest such time.
	longPause = time.Second
)

// lease is a lease under way.
type lease struct {
	done     chan struct{} // closed at its end
	answered bool          // by Redis; read it after done
}

// bucket is a process's knowledge of one quota of one caller. The mutex of its account guards it. Tokens are fractions:
// rates below one are usual.
type bucket struct {
	rate, burst float64 // of all servers; a rate of 0: unlimited
	servers     float64
	alone       bool // without Redis, or Redis does not answer

	// Of this process alone: the fallback while the shared bucket is unknown.
	level float64
	at    time.Time

	// Of the shared bucket.
	held    float64   // leased and unused; below 0: used and not yet charged
	left    float64   // left in Redis at the last answer; below 0: debt
	seen    time.Time // time of the last answer; zero: none
	node    *node     // server of the last answer; nil: unknown
	epoch   int64     // of that server; the values above hold in it
	leasing *lease    // that is under way
	next    time.Time // no lease before
}

// set fills a new bucket, or changes its rate.
func (b *bucket) set(rate, burst float64, servers int, now time.Time) {
	if b.rate == rate && b.burst == burst {
		return
	}
	fresh := b.rate == 0
	b.rate, b.burst, b.servers = rate, burst, float64(servers)
	if fresh {
		b.level, b.at = burst/b.servers, now
	}
}

// refill adds the tokens until now to the bucket of this process.
func (b *bucket) refill(now time.Time) {
	if d := now.Sub(b.at); d > 0 {
		b.level = min(b.burst/b.servers, b.level+d.Seconds()*b.rate/b.servers)
		b.at = now
	}
}

// forget drops the state of the shared bucket.
func (b *bucket) forget(epoch int64) {
	b.held, b.left, b.seen, b.epoch, b.next = 0, 0, time.Time{}, epoch, time.Time{}
}

// shared reports whether the state of the shared bucket is known.
func (b *bucket) shared() bool { return !b.seen.IsZero() }

// block returns how much is leased ahead at once.
func (b *bucket) block() float64 { return min(max(1, b.rate*blockShare), max(1, b.burst)) }

// inRedis returns the present content of the shared bucket, by the last answer.
func (b *bucket) inRedis(now time.Time) float64 {
	return min(b.burst, b.left+max(0, now.Sub(b.seen).Seconds())*b.rate)
}

// lent returns how much a process lends itself from a bucket with an unknown state. A larger charge is never lent: it
// waits for Redis.
func (b *bucket) lent() float64 { return min(max(lendLeast, b.burst*lendShare), b.burst/2) }

// large reports whether a charge must wait for a lease of the whole.
func (b *bucket) large(n float64) bool {
	return b.rate > 0 && n > b.lent() && (b.shared() || !b.alone)
}

// lacksWhole is lacks for a large charge. ask: Redis may hold enough, and a lease of the whole will show.
func (b *bucket) lacksWhole(n float64, now time.Time) (wait time.Duration, ask bool) {
	if b.refill(now); b.held >= n-epsilon {
		return 0, false
	}
	lacking := min(n, b.burst) - b.held
	if b.shared() { // others only take, so the bucket has no more than this
		lacking -= b.inRedis(now)
	} else {
		lacking -= b.burst
	}
	return max(time.Millisecond, time.Duration(lacking/b.rate*float64(time.Second))), lacking < epsilon
}

// available returns how much may be taken, and the rate at which that grows. Call refill before it.
func (b *bucket) available(now time.Time) (tokens, rate float64) {
	switch {
	case !b.shared() && b.alone || b.held == 0 && !b.shared():
		return b.level, b.rate / b.servers
	case !b.shared():
		return min(b.level, b.held+b.lent()), b.rate / b.servers
	}
	switch left := b.inRedis(now); {
	case left <= 0 && b.held > 0:
		return b.held, b.rate
	case b.held < 0 && left > 0: // some is lent already
		return b.held + left/2, b.rate
	default:
		return b.held + left, b.rate
	}
}

// lacks returns how long until n can be taken, 0 when it can be taken now. For more than fits, it is the time until the
// bucket is full.
func (b *bucket) lacks(n float64, now time.Time) time.Duration {
	if b.rate == 0 || n == 0 {
		return 0
	}
	b.refill(now)
	tokens, rate := b.available(now)
	if !b.shared() {
		n = min(n, b.burst/b.servers)
	}
	if n = min(n, b.burst); tokens >= n-epsilon {
		return 0
	}
	return max(time.Millisecond, time.Duration((n-tokens)/rate*float64(time.Second)))
}

// epsilon is the tolerance for rounding.
const epsilon = 1e-6

// spend takes n, which lacks has allowed. Without Redis the bucket of this process has paid: the shared one is later charged
// only for the part that makes a lease due, which checks whether Redis is back.
func (b *bucket) spend(n float64) {
	b.held -= n
	if b.alone && !b.shared() {
		b.held = max(b.held, -b.block())
	}
	if b.level -= n; b.shared() {
		b.level = max(0, b.level)
	}
}

// due reports whether a lease should begin now. Little use is not worth a lease, unless a charge was refused because
// the shared state is unknown.
func (b *bucket) due(now time.Time, refused bool) bool {
	if b.rate == 0 || b.leasing != nil || now.Before(b.next) {
		return false
	}
	if !b.shared() {
		return b.held < -b.block()/2 || refused
	}
	return b.held < b.block()/2
}

// wants returns the arguments of a lease: the used tokens, and the tokens to take ahead.
func (b *bucket) wants() (used, ahead float64) {
	used = max(0, -b.held)
	return used, b.block() - max(0, b.held)
}

// leased records the answer to a lease: how much of ahead was granted, and the rest in Redis.
func (b *bucket) leased(used, ahead, granted, left float64, now time.Time) {
	b.held += used + granted
	b.left, b.seen = left, now
	if granted < ahead {
		pause := time.Duration(b.block() / b.rate / 2 * float64(time.Second))
		b.next = now.Add(min(max(pause, shortPause), longPause))
	}
}
