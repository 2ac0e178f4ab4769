package httpapi

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

// stalledAfter is how long nothing of a body has moved when it may give way to another.
const stalledAfter = 250 * time.Millisecond

// transit bounds the bodies that are on their way, in bytes of the process: those of requests that are not decoded yet, or those
// of answers that are not sent yet. What a body counts for grows with what has come of it: one that is announced and not sent
// takes nothing that another needs. Without room the body of which nothing has moved for the longest time gives way. All methods
// may be called concurrently.
type transit struct {
	most  int64
	full  string    // what is said when there is no room
	began time.Time // when it was made

	mu       sync.Mutex
	bytes    int64
	underWay map[*passage]struct{}
}

// passage is one body on its way.
type passage struct {
	stop  func()       // ends a read or a write of it at once; must not block
	moved atomic.Int64 // when something of it did, ns since transit.began

	bytes   int64 // what it counts for; guarded by transit.mu
	evicted bool  // it gave way; guarded by transit.mu
}

// errEvicted is the end of a body that gave way.
var errEvicted = errors.New("the body gave way to others")

func newTransit(most int64, full string) *transit {
	return &transit{most: most, full: full, began: time.Now(), underWay: map[*passage]struct{}{}}
}

// move notes that something of a body has come or gone; nil is one that does not count.
func (in *transit) move(a *passage) {
	if a != nil {
		a.moved.Store(int64(time.Since(in.began)))
	}
}

// goOn is move for a body that gets more time by more, unless it has given way.
func (in *transit) goOn(a *passage, more func()) {
	if a == nil {
		return
	}
	in.move(a)
	in.mu.Lock()
	defer in.mu.Unlock()
	if !a.evicted {
		more()
	}
}

func (in *transit) begin(a *passage) {
	in.move(a)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.underWay[a] = struct{}{}
}

// grow makes a body count for so many bytes. Errors: ErrOverloaded, errEvicted.
func (in *transit) grow(a *passage, to int64) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if a.evicted {
		return errEvicted
	}
	for in.bytes-a.bytes+to > in.most {
		slowest := in.slowest(a)
		if slowest == nil {
			return &leaderboard.OverloadError{Wait: bodyDelay, Detail: in.full}
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

// slowest returns the other body that has been stalled for the longest time and counts for something, nil if there is none.
func (in *transit) slowest(but *passage) *passage {
	var found *passage
	oldest := int64(time.Since(in.began) - stalledAfter)
	for a := range in.underWay {
		if moved := a.moved.Load(); a != but && a.bytes > 0 && moved <= oldest {
			found, oldest = a, moved
		}
	}
	return found
}

// arrived says that the whole body is there, and cannot give way any more. Error: errEvicted.
func (in *transit) arrived(a *passage) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.underWay, a)
	if a.evicted {
		return errEvicted
	}
	return nil
}

// end forgets a body; nil is one that does not count.
func (in *transit) end(a *passage) {
	if a == nil {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.underWay, a)
	in.bytes -= a.bytes
	a.bytes = 0
}
