package commit

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound what waits and what is committed together.
type Limits struct {
	Wait   time.Duration // until a request is sent; what has to be expected to take longer, or does, is an *OverloadError
	Memory int64         // bytes that requests take that wait, over all boards; beyond: an *OverloadError
	Batch  int           // entries that one transaction takes at most, unless a single request has more
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

// backlog is what waits in a queue, and how fast that becomes less. It is guarded by the lock of the queue's shard.
type backlog struct {
	load  load      // of what waits
	busy  load      // of the batch under way
	since time.Time // when its turn began, which may be before it could; zero between batches
	pace  pace      // of its batches
}

// admission decides whether a request may wait, and otherwise why not. It may not when MySQL does not answer, when its
// board has been locked in the database for too long, when it is to be expected that it could not be sent in time, by
// what waits and by how long batches took lately, and when too much memory is taken by what waits.
type admission struct {
	away   func() error  // why nothing is sent to the database now, nil when it is
	wait   time.Duration // until a request is sent
	memory int64         // bytes of all that waits in the process
	rows   int           // how many entries one batch takes at most, unless a single request has more
	bytes  atomic.Int64  // of what waits or is under way
	line   line
	barred barredBoards

	mu    sync.Mutex
	paces [2]pace // of batches for one board, and for several
}

func newAdmission(limits Limits) admission {
	return admission{
		away: func() error { return nil }, wait: limits.Wait, memory: limits.Memory, rows: limits.Batch, paces: [2]pace{startPace(), startPace()},
	}
}

// mayWait returns why one more request of so many bytes may not wait in a queue, nil when it may. one is nil for a queue
// in which nothing waits: there time is no reason to refuse, but for the batches of other boards that wait for a
// connection. While nothing can be written to a board, one batch tries, and nobody waits behind it. Of the memory a queue
// may take as much as it leaves free, so that there is some for other boards whatever waits for this one. It is called
// with the lock of the queue's shard.
func (a *admission) mayWait(id queueID, one *backlog, bytes int64) error {
	if err := a.away(); err != nil {
		return err
	}
	if one != nil && a.barred.isStuck(id.board) {
		return errLocked(id.board)
	}
	expected := a.line.expected()
	if expected > a.wait {
		return errNoConnection(expected)
	}
	var waits load
	if one != nil {
		waits = one.load
	}
	if waits.requests > 0 {
		if expected = a.expected(one); expected > a.wait {
			return errBusy(expected)
		}
	}
	if waits.bytes+bytes > a.memory-a.bytes.Load() && a.bytes.Load() > 0 {
		return errMemory(max(expected, a.wait/4))
	}
	return nil
}

// expected returns how long it takes until all that waits in a queue is sent.
func (a *admission) expected(one *backlog) time.Duration {
	rest := time.Duration(0)
	if !one.since.IsZero() {
		rest = max(0, one.pace.of(one.busy, a.rows)-time.Since(one.since))
	}
	return rest + one.pace.of(one.load, a.rows)
}

// usual returns how long batches of a new queue are likely to take.
func (a *admission) usual(id queueID) pace {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.paces[kindOf(id)]
}

// learn takes a batch that went well for what others are likely to take.
func (a *admission) learn(id queueID, l load, took time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paces[kindOf(id)].learn(l, took, a.rows)
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

// barredBoards knows which boards are barred: those whose lock in the database somebody else, perhaps a server that is
// frozen, did not give up in time. Its zero value has none.
//
// Such a holder must not take all connections from the boards that it does not hold. So a batch waits for a second at
// first; when that is not enough its board is barred, and it waits on in one of the few connections for that. A batch
// for several boards would hold those that it has already: it is given up, and begun again without the requests that
// name the board.
type barredBoards struct {
	mu     sync.Mutex
	byName map[string]barring
	news   chan struct{} // closed when a board is barred; nil while nobody waits for that
}

// barring is that a board is barred.
type barring struct {
	until time.Time
	stuck bool // a patient wait was in vain too: until one batch can write to it, others are refused
}

// add bars a board for a time, or until remove.
func (b *barredBoards) add(board string, d time.Duration, stuck bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byName == nil {
		b.byName = map[string]barring{}
	}
	b.byName[board] = barring{time.Now().Add(d), stuck || b.byName[board].stuck}
	if b.news != nil {
		close(b.news)
		b.news = nil
	}
}

// remove says that the lock of a board was got.
func (b *barredBoards) remove(board string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.byName, board)
}

func (b *barredBoards) has(board string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of(board) != barring{}
}

// isStuck reports whether it is known that nothing can be written to a board.
func (b *barredBoards) isStuck(board string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of(board).stuck
}

// next returns what is closed when a board is barred.
func (b *barredBoards) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.news == nil {
		b.news = make(chan struct{})
	}
	return b.news
}

// of returns the zero value for a board that is not barred. The lock is held.
func (b *barredBoards) of(board string) barring {
	state, ok := b.byName[board]
	if ok && time.Now().After(state.until) {
		delete(b.byName, board)
		return barring{}
	}
	return state
}
