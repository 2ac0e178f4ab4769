package quota

import (
	"time"
)

const (
	// blockShare is how much of a second's tokens is leased at once.
	blockShare = 0.05
	// lendShare of what fits is what a process lends itself, and lendLeast at least, of a bucket of which it knows nothing
	// yet though Redis answers: it may be empty.
	lendShare = 0.05
	lendLeast = 10
	// shortPause is the least time between a lease that gave less than was asked for, and the next.
	shortPause = 10 * time.Millisecond
	// longPause is the most.
	longPause = time.Second
)

// lease is one that is under way.
type lease struct {
	done     chan struct{} // closed at its end
	answered bool          // by Redis; to be read then
}

// bucket is what a process knows of one quota of one caller. It is guarded by the mutex of its account. Tokens are
// fractions: rates below one are usual.
type bucket struct {
	rate, burst float64 // of all servers; a rate of 0: there is no bound
	servers     float64
	alone       bool // Redis does not answer, or there is none

	// Of this process alone: what it goes by when it does not know the shared bucket.
	level float64
	at    time.Time

	// Of the shared bucket.
	held    float64   // leased and not used; below 0: used and not charged
	left    float64   // what was left in it when the last lease was answered; below 0: its debt
	seen    time.Time // when that was; zero: nothing is known of it
	node    *node     // that had it then; nil: not known
	epoch   int64     // of the server, in which all of that holds
	leasing *lease    // that is under way
	next    time.Time // no lease before
}

// set makes a bucket full, or gives one another rate.
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

// refill brings the bucket of this process up to now.
func (b *bucket) refill(now time.Time) {
	if d := now.Sub(b.at); d > 0 {
		b.level = min(b.burst/b.servers, b.level+d.Seconds()*b.rate/b.servers)
		b.at = now
	}
}

// forget drops what is known of the shared bucket.
func (b *bucket) forget(epoch int64) {
	b.held, b.left, b.seen, b.epoch, b.next = 0, 0, time.Time{}, epoch, time.Time{}
}

// shared says whether the shared bucket is known.
func (b *bucket) shared() bool { return !b.seen.IsZero() }

// block returns how much is leased ahead at once.
func (b *bucket) block() float64 { return min(max(1, b.rate*blockShare), max(1, b.burst)) }

// inRedis returns what the shared bucket holds now, as far as it is known.
func (b *bucket) inRedis(now time.Time) float64 {
	return min(b.burst, b.left+max(0, now.Sub(b.seen).Seconds())*b.rate)
}

// lent returns how much a process lends itself of a bucket that it does not know. What is charged at once and is more is
// large: nobody lends it, Redis is asked for it.
func (b *bucket) lent() float64 { return min(max(lendLeast, b.burst*lendShare), b.burst/2) }

// large reports whether a charge has to be held before it is taken.
func (b *bucket) large(n float64) bool {
	return b.rate > 0 && n > b.lent() && (b.shared() || !b.alone)
}

// lacksWhole is lacks for a large charge. ask: there may be enough in Redis, and a lease of the whole says so.
func (b *bucket) lacksWhole(n float64, now time.Time) (wait time.Duration, ask bool) {
	if b.refill(now); b.held >= n-epsilon {
		return 0, false
	}
	lacking := min(n, b.burst) - b.held
	if b.shared() { // others only take: there is no more than this
		lacking -= b.inRedis(now)
	} else {
		lacking -= b.burst
	}
	return max(time.Millisecond, time.Duration(lacking/b.rate*float64(time.Second))), lacking < epsilon
}

// available returns how much may be taken, and the rate at which that grows. refill comes before it.
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
	case b.held < 0 && left > 0: // something is lent already
		return b.held + left/2, b.rate
	default:
		return b.held + left, b.rate
	}
}

// lacks returns how long until n can be taken, 0 when it can. Of more than fits it is until the bucket is full.
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

// epsilon is how much may be missing because of rounding.
const epsilon = 1e-6

// take takes n out, of which lacks has said that it can be. Without Redis the bucket of this process has paid: of what was used
// then no more is charged to the shared one later than makes a lease due, which asks whether Redis is back.
func (b *bucket) take(n float64) {
	b.held -= n
	if b.alone && !b.shared() {
		b.held = max(b.held, -b.block())
	}
	if b.level -= n; b.shared() {
		b.level = max(0, b.level)
	}
}

// due says whether to ask for a lease now. A caller who does little is not worth one, unless that was refused for want of
// knowing better.
func (b *bucket) due(now time.Time, refused bool) bool {
	if b.rate == 0 || b.leasing != nil || now.Before(b.next) {
		return false
	}
	if !b.shared() {
		return b.held < -b.block()/2 || refused
	}
	return b.held < b.block()/2
}

// wants returns what a lease asks for: what was used, and what is to be held then.
func (b *bucket) wants() (used, ahead float64) {
	used = max(0, -b.held)
	return used, b.block() - max(0, b.held)
}

// leased takes down the answer to a lease: how much of ahead was granted, and what is left in Redis.
func (b *bucket) leased(used, ahead, granted, left float64, now time.Time) {
	b.held += used + granted
	b.left, b.seen = left, now
	if granted < ahead {
		pause := time.Duration(b.block() / b.rate / 2 * float64(time.Second))
		b.next = now.Add(min(max(pause, shortPause), longPause))
	}
}
