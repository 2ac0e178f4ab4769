package commit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// boardMutexes let one writer of this process at a time work on a board, from before it locks the board's row until it has
// reported its commits. So commits are reported in the order in which they were made, though a board is written to by its
// own queue and by the queue for several boards; and writers of one process do not wait for each other in the database,
// where each would hold a connection.
//
// They also know which boards are blocked: the boards whose lock in the database another session,
// perhaps a frozen server's, did not release in time. Batches that wait for it must not take all connections from other
// boards. So a batch waits for a second at first. When that is not enough, the board counts as blocked, and the batch
// waits on one of the few connections for that. A batch for several boards would hold its other mutexes: it is given up,
// and begun again without the requests that name the board. When the second wait is not enough either, the board is stuck:
// new requests for it are refused until a batch has written to it.
type boardMutexes struct {
	term time.Duration // the time for which a board counts as blocked, unless a writer gets its lock

	mu      sync.Mutex             // guards the fields below
	held    map[string]*boardMutex // mutexes that are locked or waited for
	blocked map[string]blockage
	changed chan struct{} // closed when a board is added to blocked; nil while nothing waits for that
}

type boardMutex struct {
	locked chan struct{} // holds a value while it is locked; waiting writers get it in the order of their arrival
	users  int           // guarded by boardMutexes.mu
}

// blockage is the state of a board that another session keeps locked.
type blockage struct {
	until time.Time
	stuck bool
}

func newBoardMutexes(term time.Duration) *boardMutexes {
	return &boardMutexes{term: term, held: map[string]*boardMutex{}, blocked: map[string]blockage{}}
}

// lock waits until no other writer works on the board, and returns the function that lets the next writer in. A goroutine
// that holds a mutex must not lock another alone, and none may lock one with a row of the database locked: its holder may
// wait for that row, and neither the database nor the mutexes would see the circle.
func (m *boardMutexes) lock(board string) (unlock func()) {
	_ = m.enter(context.Background(), board, true)
	return func() { m.unlock(board) }
}

// enter is lock, bounded by ctx, whose error it returns. Without wait it also fails, with an ErrUnavailable, when the
// board is blocked, or becomes so meanwhile.
func (m *boardMutexes) enter(ctx context.Context, board string, wait bool) error {
	one := m.use(board)
	for {
		blocked, news := m.watch(board)
		if wait {
			blocked, news = false, nil
		}
		if blocked {
			m.leave(board)
			return errLocked(board)
		}
		select {
		case one.locked <- struct{}{}:
			return nil
		case <-news:
		case <-ctx.Done():
			m.leave(board)
			return ctx.Err()
		}
	}
}

// lockAll is lock for several boards, in the order of their names, so that writers never wait in a circle. When one of
// them is blocked, or becomes so meanwhile, it returns its name and locks nothing.
func (m *boardMutexes) lockAll(boards []string) (unlock func(), blocked string) {
	boards = slices.Compact(slices.Sorted(slices.Values(boards)))
	for i, b := range boards {
		if m.enter(context.Background(), b, false) != nil {
			m.unlock(boards[:i]...)
			return nil, b
		}
	}
	return func() { m.unlock(boards...) }, ""
}

// use finds or makes the mutex of a board, which is kept until it is left.
func (m *boardMutexes) use(board string) *boardMutex {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.held[board]
	if one == nil {
		one = &boardMutex{locked: make(chan struct{}, 1)}
		m.held[board] = one
	}
	one.users++
	return one
}

func (m *boardMutexes) leave(board string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.held[board]; one.users == 1 {
		delete(m.held, board)
	} else {
		one.users--
	}
}

func (m *boardMutexes) unlock(boards ...string) {
	for _, b := range boards {
		m.mu.Lock()
		<-m.held[b].locked
		m.mu.Unlock()
		m.leave(b)
	}
}

// waiting returns how many writers hold the mutex of a board or wait for it.
func (m *boardMutexes) waiting(board string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.held[board]; one != nil {
		return one.users
	}
	return 0
}

// block records that another session keeps a board locked, and, with stuck, that even the long wait for it was in vain.
func (m *boardMutexes) block(board string, stuck bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocked[board] = blockage{time.Now().Add(m.term), stuck || m.blockage(board).stuck}
	if m.changed != nil {
		close(m.changed)
		m.changed = nil
	}
}

// unblock notes that a writer got the locks of boards.
func (m *boardMutexes) unblock(boards ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range boards {
		delete(m.blocked, b)
	}
}

// watch reports whether a board is blocked, and returns a channel that is closed when the next board is.
func (m *boardMutexes) watch(board string) (blocked bool, news <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changed == nil {
		m.changed = make(chan struct{})
	}
	return m.blockage(board) != blockage{}, m.changed
}

func (m *boardMutexes) isBlocked(board string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.blockage(board) != blockage{}
}

func (m *boardMutexes) isStuck(board string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.blockage(board).stuck
}

// blockage returns the zero value for a board that is not blocked. mu is held.
func (m *boardMutexes) blockage(board string) blockage {
	state, ok := m.blocked[board]
	if ok && time.Now().After(state.until) {
		delete(m.blocked, board)
		return blockage{}
	}
	return state
}
