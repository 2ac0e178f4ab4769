package commit

import (
	"context"
	"slices"
	"sync"
	"time"
)

// boardMutexes let one writer of this process at a time work on a board, from before it locks the board's row until it
// has told of its commits. So commits are told of in the order in which they were made, though a board is written to by
// its own queue and by the one for several boards; and writers of one process do not wait for each other in the
// database, each with a connection in its hands.
//
// They also know which boards are barred: those whose lock in the database another session, perhaps that of a frozen
// server, did not give up in time. Such a session must not take all connections from other boards. So a batch waits for
// a second at first. When that is not enough, its board is barred, and the batch waits on one of the few connections for
// that. A batch for several boards would hold those that it has already: it is given up, and begun again without the
// requests that name the board. When the second wait is not enough either, the board is stuck: new requests for it are
// refused until a batch has written to it.
type boardMutexes struct {
	term time.Duration // for which a board is barred, unless it turns out to be free

	mu     sync.Mutex             // guards the fields below
	held   map[string]*boardMutex // those that are locked or waited for
	barred map[string]barring
	news   chan struct{} // closed when a board is barred; nil while nothing waits for that
}

type boardMutex struct {
	locked chan struct{} // holds a value while it is locked; those that wait get it in the order of their arrival
	users  int           // guarded by boardMutexes.mu
}

// barring is that a board is barred.
type barring struct {
	until time.Time
	stuck bool
}

func newBoardMutexes(term time.Duration) *boardMutexes {
	return &boardMutexes{term: term, held: map[string]*boardMutex{}, barred: map[string]barring{}}
}

// lock waits until no other writer works on the board, and returns what lets the next in. A goroutine that holds a mutex
// must not lock another by itself, and none may lock one with a row of the database locked: its holder may wait for that
// row, and neither the database nor the mutexes would see the circle.
func (m *boardMutexes) lock(board string) (unlock func()) {
	_ = m.enter(context.Background(), board, true)
	return func() { m.unlock(board) }
}

// enter is lock until ctx ends. It fails then, and, unless it is patient, with an ErrUnavailable when the board is
// barred, or becomes so during the wait.
func (m *boardMutexes) enter(ctx context.Context, board string, patient bool) error {
	one := m.use(board)
	for {
		barred, news := m.watch(board)
		if patient {
			barred, news = false, nil
		}
		if barred {
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

// lockAll is lock for several boards, in the order of their names, so there is no circle of waiting. When one of them is
// barred, or becomes so during the wait, it returns its name and locks nothing.
func (m *boardMutexes) lockAll(boards []string) (unlock func(), barred string) {
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

// bar notes that another session keeps a board locked, and, with stuck, that even a patient wait for it was in vain.
func (m *boardMutexes) bar(board string, stuck bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.barred[board] = barring{time.Now().Add(m.term), stuck || m.barring(board).stuck}
	if m.news != nil {
		close(m.news)
		m.news = nil
	}
}

// unbar notes that the locks of boards were got.
func (m *boardMutexes) unbar(boards ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range boards {
		delete(m.barred, b)
	}
}

// watch returns whether a board is barred, and what is closed when one is.
func (m *boardMutexes) watch(board string) (barred bool, news <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.news == nil {
		m.news = make(chan struct{})
	}
	return m.barring(board) != barring{}, m.news
}

func (m *boardMutexes) isBarred(board string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.barring(board) != barring{}
}

func (m *boardMutexes) isStuck(board string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.barring(board).stuck
}

// barring returns the zero value for a board that is not barred. mu is held.
func (m *boardMutexes) barring(board string) barring {
	state, ok := m.barred[board]
	if ok && time.Now().After(state.until) {
		delete(m.barred, board)
		return barring{}
	}
	return state
}
