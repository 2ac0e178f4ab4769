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
// They also know from which boards this process is locked out: the boards whose lock in the database another session,
// perhaps a frozen server's, did not release in time. Batches that wait for it must not take all connections from other
// boards. So a batch waits for a second at first. When that is not enough, the board counts as locked out, and the batch
// waits on one of the few connections for that. A batch for several boards would hold its other mutexes: it is given up,
// and begun again without the requests that name the board. When the second wait is not enough either, the board is stuck:
// new requests for it are refused until a batch has written to it.
type boardMutexes struct {
	term time.Duration // the time for which a board counts as locked out, unless a writer gets its lock

	mu        sync.Mutex             // guards the fields below
	held      map[string]*boardMutex // mutexes that are locked or waited for
	lockedOut map[string]lockout
	news      chan struct{} // closed when a board is added to lockedOut; nil while nothing waits for that
}

type boardMutex struct {
	locked chan struct{} // holds a value while it is locked; waiting writers get it in the order of their arrival
	users  int           // guarded by boardMutexes.mu
}

// lockout is the state of a board that another session keeps locked.
type lockout struct {
	until time.Time
	stuck bool
}

func newBoardMutexes(term time.Duration) *boardMutexes {
	return &boardMutexes{term: term, held: map[string]*boardMutex{}, lockedOut: map[string]lockout{}}
}

// lock waits until no other writer works on the board, and returns the function that lets the next writer in. A goroutine
// that holds a mutex must not lock another alone, and none may lock one with a row of the database locked: its holder may
// wait for that row, and neither the database nor the mutexes would see the circle.
func (m *boardMutexes) lock(board string) (unlock func()) {
	_ = m.enter(context.Background(), board, true)
	return func() { m.unlock(board) }
}

// enter is lock, bounded by ctx, whose error it returns. Without wait it also fails, with an ErrUnavailable, when the
// board is locked out, or becomes so meanwhile.
func (m *boardMutexes) enter(ctx context.Context, board string, wait bool) error {
	one := m.use(board)
	for {
		lockedOut, news := m.watch(board)
		if wait {
			lockedOut, news = false, nil
		}
		if lockedOut {
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
// them is locked out, or becomes so meanwhile, it returns its name and locks nothing.
func (m *boardMutexes) lockAll(boards []string) (unlock func(), lockedOut string) {
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

// lockOut records that another session keeps a board locked, and, with stuck, that even the long wait for it was in vain.
func (m *boardMutexes) lockOut(board string, stuck bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lockedOut[board] = lockout{time.Now().Add(m.term), stuck || m.lockout(board).stuck}
	if m.news != nil {
		close(m.news)
		m.news = nil
	}
}

// letIn notes that a writer got the locks of boards.
func (m *boardMutexes) letIn(boards ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range boards {
		delete(m.lockedOut, b)
	}
}

// watch reports whether a board is locked out, and returns a channel that is closed when the next board is.
func (m *boardMutexes) watch(board string) (lockedOut bool, news <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.news == nil {
		m.news = make(chan struct{})
	}
	return m.lockout(board) != lockout{}, m.news
}

func (m *boardMutexes) isLockedOut(board string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lockout(board) != lockout{}
}

func (m *boardMutexes) isStuck(board string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lockout(board).stuck
}

// lockout returns the zero value for a board that is not locked out. mu is held.
func (m *boardMutexes) lockout(board string) lockout {
	state, ok := m.lockedOut[board]
	if ok && time.Now().After(state.until) {
		delete(m.lockedOut, board)
		return lockout{}
	}
	return state
}
