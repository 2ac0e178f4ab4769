package commit

import (
	"context"
	"slices"
	"sync"
)

// boardMutexes let one writer of this process at a time work on a board, from before it locks the board's row until it
// has told of what it committed. So commit events come in the order in which the commits were made, though a board is
// written to by its own queue and by the one for several boards; and writers of one process do not wait for each other
// in the database, each with a connection in its hands. Who need not wait for a board that is barred keeps off it; so who
// writes to several boards does not hold the others meanwhile.
type boardMutexes struct {
	barred *barredBoards

	mu   sync.Mutex
	held map[string]*boardMutex // by name of the board; those that are locked or waited for
}

type boardMutex struct {
	locked chan struct{} // holds a value while it is locked; those who wait get it by order of arrival
	users  int           // guarded by boardMutexes.mu
}

// lock waits until nobody else writes to the board, and returns what lets the next in. Whoever holds a mutex must not
// lock again. These mutexes come first: nobody may lock one with a row of the database locked, because its holder may
// wait for that row, and neither the database nor the mutexes would see the circle.
func (m *boardMutexes) lock(board string) (unlock func()) {
	_ = m.enter(context.Background(), board, true)
	return func() { m.unlock(board) }
}

// enter is lock until ctx ends. It fails then, and, unless the caller is patient, with an ErrUnavailable when the board
// is barred, or becomes so while it is waited for.
func (m *boardMutexes) enter(ctx context.Context, board string, patient bool) error {
	one := m.use(board)
	for {
		var news <-chan struct{}
		if !patient {
			news = m.barred.next()
			if m.barred.has(board) {
				m.leave(board)
				return errLocked(board)
			}
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

// lockAll is lock for several boards, in the order of their names, so nobody waits in a circle. When one of them is
// barred, or becomes so while it is waited for, it returns its name and locks nothing.
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
	if m.held == nil {
		m.held = map[string]*boardMutex{}
	}
	one := m.held[board]
	if one == nil {
		one = &boardMutex{locked: make(chan struct{}, 1)}
		m.held[board] = one
	}
	one.users++
	return one
}

func (m *boardMutexes) unlock(boards ...string) {
	for _, b := range boards {
		m.mu.Lock()
		<-m.held[b].locked
		m.mu.Unlock()
		m.leave(b)
	}
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

// waiting returns how many writers hold the mutex of a board or wait for it.
func (m *boardMutexes) waiting(board string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if one := m.held[board]; one != nil {
		return one.users
	}
	return 0
}
