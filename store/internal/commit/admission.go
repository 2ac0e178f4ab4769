package commit

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard"
)

// load is what requests put on a queue.
type load struct {
	requests, rows int
	cost           int   // in entries of a submission
	bytes          int64 // of memory, roughly
}

func (l load) plus(o load) load {
	return load{l.requests + o.requests, l.rows + o.rows, l.cost + o.cost, l.bytes + o.bytes}
}

func (l load) minus(o load) load {
	return load{l.requests - o.requests, l.rows - o.rows, l.cost - o.cost, l.bytes - o.bytes}
}

// pace is how long batches take: so long each, and so long more for a full one. Both are moving averages.
type pace struct{ each, full time.Duration }

// startPace is assumed until batches were timed. It is a quick server's: who is let in too early is refused later.
func startPace() pace { return pace{2 * time.Millisecond, 20 * time.Millisecond} }

// learn corrects the averages by a share of what they were wrong by, each as far as it is concerned (normalized least
// mean squares).
func (p *pace) learn(l load, took time.Duration, rows int) {
	const share = 1.0 / 8
	size := float64(l.cost) / float64(rows)
	miss := float64(took-p.each) - size*float64(p.full)
	miss *= share / (1 + size*size)
	p.each = max(0, p.each+time.Duration(miss))
	p.full = max(0, p.full+time.Duration(miss*size))
}

// of returns how long it takes to commit a load, in batches of so many rows.
func (p pace) of(l load, rows int) time.Duration {
	full := float64(l.cost) / float64(rows)
	batches := min(float64(l.requests), math.Ceil(full))
	return time.Duration(batches*float64(p.each) + full*float64(p.full))
}

// admission decides whether a request may wait: not when it is to be expected that it could not be sent in time, by
// what waits and by how long batches took lately, and not when too much memory is taken by what waits.
type admission struct {
	wait     time.Duration // until a request is sent
	memory   int64         // bytes of all that waits in the process
	rowsFull int           // entries of a full batch
	bytes    atomic.Int64  // of what waits or is under way
	line     line

	mu    sync.Mutex
	paces [2]pace // of batches for one board, and for several
}

func newAdmission(limits Limits) admission {
	return admission{wait: limits.Wait, memory: limits.Memory, rowsFull: limits.Batch, paces: [2]pace{startPace(), startPace()}}
}

// check says whether one more request of so many bytes may wait in a queue, nil for one in which nothing waits. When
// nothing waits there, time is no reason to refuse, but for the batches of other boards that wait for a connection. Of
// the memory a queue may take as much as it leaves free, so that there is some for other boards whatever waits for this
// one. It is called with the lock of the queue's shard.
func (a *admission) check(one *queue, bytes int64) error {
	var waits load
	if one != nil {
		waits = one.load
	}
	expected := a.line.expected()
	if expected > a.wait {
		return &leaderboard.OverloadError{Wait: expected, Detail: "too many boards wait for a connection"}
	}
	if waits.requests > 0 {
		if expected = a.expected(one); expected > a.wait {
			return &leaderboard.OverloadError{Wait: expected, Detail: "too many entries wait for the board"}
		}
	}
	if waits.bytes+bytes > a.memory-a.bytes.Load() && a.bytes.Load() > 0 {
		return &leaderboard.OverloadError{Wait: max(expected, a.wait/4), Detail: "requests that wait take too much memory"}
	}
	return nil
}

// expected returns how long it takes until all that waits in a queue is sent.
func (a *admission) expected(one *queue) time.Duration {
	rest := time.Duration(0)
	if !one.since.IsZero() {
		rest = max(0, one.pace.of(one.busy, a.rowsFull)-time.Since(one.since))
	}
	return rest + one.pace.of(one.load, a.rowsFull)
}

// enter and leave keep count of what waits.
func (a *admission) enter(one *queue, h *header) {
	one.load = one.load.plus(h.load)
	a.bytes.Add(h.load.bytes)
}

func (a *admission) leave(one *queue, h *header) {
	one.load = one.load.minus(h.load)
	a.bytes.Add(-h.load.bytes)
}

// usual returns how long batches of a new queue are likely to take.
func (a *admission) usual(id queueID) pace {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.paces[kindOf(id)]
}

// learn takes a batch that went well for what others are likely to take.
func (a *admission) learn(id queueID, l load, took time.Duration, rows int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paces[kindOf(id)].learn(l, took, rows)
}

func kindOf(id queueID) int {
	if id.several {
		return 1
	}
	return 0
}

// line is the batches that wait for one of so many connections.
type line struct {
	conns   int
	waiting atomic.Int64
	turn    atomic.Int64 // moving average of how long a batch has one, in nanoseconds
}

// expected returns how long one more batch would wait.
func (l *line) expected() time.Duration {
	return time.Duration(l.waiting.Load() * l.turn.Load() / int64(max(1, l.conns)))
}

// learn is told how long a batch had a connection. Of two at once one may go unheard.
func (l *line) learn(took time.Duration) {
	const share = 8
	before := l.turn.Load()
	l.turn.Store(before + (int64(took)-before)/share)
}
