package commit

import (
	"slices"
	"sync"
)

// boardMutexes let one writer of this process at a time work on a board, from before it locks the board's row until it
// has told of what it committed. So commit events come in the order in which the commits were made, though a board is
// written to by its own queue and by the one for several boards; and writers of one process do not wait for each other
// in the database, each with a connection in its hands.
type boardMutexes struct {
	mu   sync.Mutex
	held map[string]*boardMutex // by name of the board; those that are locked or waited for
}

type boardMutex struct {
	locked chan struct{} // holds a value while it is locked; those who wait get it by order of arrival
	users  int           // guarded by boardMutexes.mu
}

// lock waits until nobody else writes to the boards, and returns what lets the next in. Several are locked in the order
// of their names, so nobody waits in a circle; whoever holds one must not lock again. These mutexes come first: nobody
// may lock one with a row of the database locked, because its holder may wait for that row, and neither the database
// nor the mutexes would see the circle.
func (m *boardMutexes) lock(boards ...string) (unlock func()) {
	boards = slices.Compact(slices.Sorted(slices.Values(boards)))
	mutexes := make([]*boardMutex, len(boards))
	m.mu.Lock()
	if m.held == nil {
		m.held = map[string]*boardMutex{}
	}
	for i, b := range boards {
		if m.held[b] == nil {
			m.held[b] = &boardMutex{locked: make(chan struct{}, 1)}
		}
		mutexes[i] = m.held[b]
		mutexes[i].users++
	}
	m.mu.Unlock()
	for _, one := range mutexes {
		one.locked <- struct{}{}
	}
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for i, one := range mutexes {
			<-one.locked
			if one.users--; one.users == 0 {
				delete(m.held, boards[i])
			}
		}
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
