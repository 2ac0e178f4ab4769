package guard

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
)

// stalledAfter is for how long a body has not moved when it may be evicted.
const stalledAfter = 250 * time.Millisecond

// BodyBudget bounds the memory of the bodies that are on their way: of requests that are not decoded yet, or of answers that
// are not sent yet. A body counts for more as more of it comes: an announced body that is not sent takes no memory from
// others. When the memory is full, the body that has not moved for the longest time is evicted. All methods may be called
// concurrently.
type BodyBudget struct {
	most  int64
	full  string    // the detail of the refusal
	began time.Time // when it was made

	mu       sync.Mutex
	bytes    int64
	underWay map[*Reservation]struct{}
}

// Reservation is the memory of a body on its way.
type Reservation struct {
	stop  func()       // ends a read or a write of it at once; must not block
	moved atomic.Int64 // when it moved last, ns since BodyBudget.began

	bytes   int64 // its counted size; guarded by BodyBudget.mu
	evicted bool  // guarded by BodyBudget.mu
}

// NewReservation returns a body. stop ends a read or a write of it at once, and must not block.
func NewReservation(stop func()) *Reservation { return &Reservation{stop: stop} }

var errEvicted = errors.New("the body was evicted")

// NewBodyBudget bounds bodies to a number of bytes. full is the detail of the refusal of more.
func NewBodyBudget(most int64, full string) *BodyBudget {
	return &BodyBudget{most: most, full: full, began: time.Now(), underWay: map[*Reservation]struct{}{}}
}

// Move records that a part of a body has arrived or was sent; nil is a body that does not count.
func (in *BodyBudget) Move(a *Reservation) {
	if a != nil {
		a.moved.Store(int64(time.Since(in.began)))
	}
}

// GoOn is Move for a body that gets more time by calling more, unless it is evicted.
func (in *BodyBudget) GoOn(a *Reservation, more func()) {
	if a == nil {
		return
	}
	in.Move(a)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !a.evicted {
		more()
	}
}

// Begin counts a body as on its way, with no bytes yet.
func (in *BodyBudget) Begin(a *Reservation) {
	in.Move(a)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.underWay[a] = struct{}{}
}

// Grow makes a body count for a number of bytes. Errors: ErrOverloaded, errEvicted.
func (in *BodyBudget) Grow(a *Reservation, to int64) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if a.evicted {
		return errEvicted
	}
	for in.bytes-a.bytes+to > in.most {
		slowest := in.slowest(a)
		if slowest == nil {
			return &leaderboard.OverloadError{Wait: BodyDelay, Detail: in.full}
		}
		in.bytes -= slowest.bytes
		slowest.bytes, slowest.evicted = 0, true
		delete(in.underWay, slowest)
		slowest.stop()
	}
	in.bytes += to - a.bytes
	a.bytes = to
	return nil
}

// slowest returns the other body with memory that has been stalled for the longest time, nil if no body is stalled.
func (in *BodyBudget) slowest(but *Reservation) *Reservation {
	var found *Reservation
	oldest := int64(time.Since(in.began) - stalledAfter)
	for a := range in.underWay {
		if moved := a.moved.Load(); a != but && a.bytes > 0 && moved <= oldest {
			found, oldest = a, moved
		}
	}
	return found
}

// Arrived records that the whole body is there, and can no longer be evicted. Error: errEvicted.
func (in *BodyBudget) Arrived(a *Reservation) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.underWay, a)
	if a.evicted {
		return errEvicted
	}
	return nil
}

// End forgets a body; nil is a body that does not count.
func (in *BodyBudget) End(a *Reservation) {
	if a == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.underWay, a)
	in.bytes -= a.bytes
	a.bytes = 0
}

// Now returns the number of bodies that may be evicted, and the counted size of all bodies.
func (in *BodyBudget) Now() (bodies int, bytes int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.underWay), in.bytes
}
