package resident

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

const (
	// halfLife is the time after which the reads of a period count half.
	halfLife = 10 * time.Second
	// enough reads make a small period worth loading; each entriesPerRead entries need one read more: loading
	// pays once it costs less than the reads that it saves.
	enough         = 20
	entriesPerRead = 2000
	// entryBytes is the expected size of an entry before it is known.
	entryBytes = 72
	// failedRest is how long a period is not tried again after it could not be loaded.
	failedRest = 15 * time.Second
)

// candidate is a period that is read: it is in memory, or may be loaded.
type candidate struct {
	id      int64
	ref     atomic.Pointer[leaderboard.PeriodRef] // of the last read
	newly   atomic.Int64                          // reads by weight since they were counted
	period  atomic.Pointer[Period]                // nil while it is not in memory
	pays    atomic.Int64                          // from how many reads by weight on it is worth loading at once
	loading atomic.Bool                           // it is being loaded

	// The fields of the goroutine that chooses.
	reads    float64 // each halved in a half-life
	lastRead time.Time
	bytes    int64 // that it takes, or was found to need; 0 when nothing is known of its size
	loaded   time.Time
	failed   time.Time // when it could not be loaded
	resident bool      // it is in memory
	pinned   bool      // the rules of its board keep it there
	unfit    bool      // not to be loaded now: the last attempt failed, or its rules keep it out of memory

	mu     sync.Mutex
	latest leaderboard.Revision // the newest that a commit or the feed has shown
	moved  chan struct{}        // closed when the period has changed, nil while no reader waits for that
}

// count counts reads, and records the other inputs of a choice.
func (c *candidate) count(now time.Time, passed time.Duration) {
	newly := c.newly.Swap(0)
	if c.reads = halved(c.reads, passed) + float64(newly); newly > 0 {
		c.lastRead = now
	}
	ref, p := c.ref.Load(), c.period.Load()
	if c.resident = p != nil; c.resident {
		c.bytes = p.Bytes()
	}
	c.pinned = ref.Rules.Resident == leaderboard.ResidentAlways && !ref.Closed
	c.unfit = ref.Rules.Resident == leaderboard.ResidentNever || !c.resident && now.Sub(c.failed) < failedRest
}

// halved returns how much reads count after some time.
func halved(reads float64, passed time.Duration) float64 {
	return reads * math.Exp2(-float64(passed)/float64(halfLife))
}

// worth reports whether a period is read enough to be loaded.
func (c *candidate) worth() bool {
	return c.pinned || c.reads >= c.needed()
}

// needed returns how many reads make the period worth loading.
func (c *candidate) needed() float64 {
	return enough + float64(c.bytes)/(entryBytes*entriesPerRead)
}

// learn records that the period has reached a revision, and reports whether the period in memory lacks commits.
func (c *candidate) learn(r leaderboard.Revision) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest.Incarnation != r.Incarnation || c.latest.Seq < r.Seq {
		c.latest = r
	}
	return c.lacks()
}

// shown records the revision that the feed has shown, which may be lower after a restore. It has the result of learn.
func (c *candidate) shown(r leaderboard.Revision) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latest = r
	return c.lacks()
}

// lacks reports whether the period in memory lacks commits. It is called with mu held.
func (c *candidate) lacks() bool {
	p := c.period.Load()
	if p == nil || c.latest == (leaderboard.Revision{}) {
		return false
	}
	at := p.At().Revision
	return c.latest.Incarnation != at.Incarnation || c.latest.Seq > at.Seq
}

// fold folds commits, in order, as far as they follow the state in memory, and reports whether commits are still missing.
// After an error the period must no longer be used.
func (c *candidate) fold(p *Period, commits []leaderboard.Commit) (lacks bool, err error) {
	for i := range commits {
		if err = p.Fold(&commits[i]); err != nil {
			break
		}
	}
	if errors.Is(err, rank.ErrGap) {
		err = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(commits) > 0 {
		c.wake()
	}
	return c.lacks(), err
}

// next returns a channel that is closed when the period has changed.
func (c *candidate) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	return c.moved
}

// wake ends the waiting for a change. It is called with mu held.
func (c *candidate) wake() {
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// leave drops the period from memory, if it is still this one.
func (c *candidate) leave(p *Period) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p == nil || !c.period.CompareAndSwap(p, nil) {
		return false
	}
	c.wake()
	return true
}
