package commit

import (
	"math"
	"time"
)

// Limits bound the requests that wait, and the entries that are committed together.
type Limits struct {
	Wait   time.Duration // until a request is sent; an expected or real wait beyond it is an *OverloadError
	Memory int64         // bytes that requests take that wait, over all boards; beyond: an *OverloadError
	Batch  int           // entries that one transaction takes at most, unless a single request has more
}

// pace is the time that batches take: each for a batch, plus full for a full batch. Both are moving averages.
type pace struct{ each, full time.Duration }

// startPace is assumed until batches were timed. It is a quick server's: a request that is admitted too early is refused
// later.
func startPace() pace { return pace{2 * time.Millisecond, 20 * time.Millisecond} }

// learn corrects the averages by a share of their error, each by its part in it (normalized least mean squares).
func (p *pace) learn(l load, took time.Duration, rows int) {
	const share = 1.0 / 8
	size := float64(l.cost) / float64(rows)
	miss := float64(took-p.each) - size*float64(p.full)
	miss *= share / (1 + size*size)
	p.each = max(0, p.each+time.Duration(miss))
	p.full = max(0, p.full+time.Duration(miss*size))
}

// of returns the time to commit a load, in batches of at most rows.
func (p pace) of(l load, rows int) time.Duration {
	full := float64(l.cost) / float64(rows)
	batches := min(float64(l.requests), math.Ceil(full))
	return time.Duration(batches*float64(p.each) + full*float64(p.full))
}

// backlog is the requests that wait in a queue, and how fast they become fewer.
type backlog struct {
	load  load      // of the requests that wait
	large load      // the large ones among them
	busy  load      // of the batch under way
	since time.Time // when its turn began, which may be before it has its locks; zero between batches
	pace  pace      // of its batches
}

// admission decides whether a request may wait, and otherwise why not. Its fields are guarded by the lock of the queues.
type admission struct {
	limits Limits
	away   func() error  // why nothing is sent to the database now, nil when it is
	boards *boardMutexes // which boards cannot be written to
	bytes  int64         // of the requests that wait or are under way
	line   line
	paces  [2]pace // of batches for one board, and for several
}

func newAdmission(limits Limits, boards *boardMutexes) admission {
	return admission{limits: limits, away: func() error { return nil }, boards: boards, paces: [2]pace{startPace(), startPace()}}
}

// mayWait returns the reason why another request of a size in bytes may not wait in a queue, nil if it may. one is nil for
// a queue without waiting requests. A large request waits for longer. The reasons, in this order:
//
//   - MySQL does not answer.
//   - Its board is stuck: one batch tries, and nothing waits behind it.
//   - Batches of other boards wait for connections, and one more would for too long.
//   - The requests ahead of it take too long, by how long batches took lately.
//   - The requests that wait take too much memory: a queue may take as much as it leaves free, so that there is some for
//     other boards.
func (a *admission) mayWait(id queueID, one *backlog, bytes int64, large bool) error {
	if err := a.away(); err != nil {
		return err
	}
	if one == nil {
		one = &backlog{}
	} else if a.boards.isStuck(id.board) {
		return errLocked(id.board)
	}
	expected := a.line.expected()
	if expected > a.limits.Wait {
		return errNoConnection(expected)
	}
	if one.load.requests > 0 {
		if expected = a.expected(one, large); expected > a.limits.Wait {
			return errBusy(expected)
		}
	}
	if one.load.bytes+bytes > a.limits.Memory-a.bytes && a.bytes > 0 {
		return errMemory(max(expected, a.limits.Wait/4))
	}
	return nil
}

// expected returns the time until a request that enters a queue is sent: until all waiting requests are, except that a
// small request waits for at most one large request.
func (a *admission) expected(one *backlog, large bool) time.Duration {
	ahead := one.load
	if n := one.large.requests; n > 0 && !large {
		ahead = ahead.minus(one.large).plus(load{requests: 1, cost: one.large.cost / n})
	}
	rest := time.Duration(0)
	if !one.since.IsZero() {
		rest = max(0, one.pace.of(one.busy, a.limits.Batch)-time.Since(one.since))
	}
	return rest + one.pace.of(ahead, a.limits.Batch)
}

// usual returns the pace of batches of a kind of queue, which is the likely pace of a new queue.
func (a *admission) usual(id queueID) *pace {
	if id.several {
		return &a.paces[1]
	}
	return &a.paces[0]
}

// line is the batches that wait for one of conns connections.
type line struct {
	conns   int
	waiting int
	turn    time.Duration // moving average of how long a batch has a connection
}

// expected returns how long one more batch would wait.
func (l *line) expected() time.Duration {
	return time.Duration(l.waiting) * l.turn / time.Duration(max(1, l.conns))
}

// learn records how long a batch had a connection.
func (l *line) learn(took time.Duration) {
	const share = 8
	l.turn += (took - l.turn) / share
}
