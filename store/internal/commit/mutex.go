package commit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"leaderboard"
)

// boardMutexes let one writer of this process at a time work on a board, from before it locks the board's row until it
// has told of what it committed. So commit events come in the order in which the commits were made, though a board is
// written to by its own queue and by the one for several boards; and writers of one process do not wait for each other
// in the database, each with a connection in its hands.
//
// They also know which boards are barred: those whose lock in the database somebody else, perhaps a server that is
// frozen, did not give up in time. Who need not wait for them keeps off them; so who writes to several boards does not
// hold the others meanwhile.
type boardMutexes struct {
	mu     sync.Mutex
	held   map[string]*boardMutex // by name of the board; those that are locked or waited for
	barred map[string]barred      // by name of the board
}

// barred is a board that is.
type barred struct {
	until time.Time
	stuck bool // a patient wait was in vain too: until one batch can write to it, others are refused
}

type boardMutex struct {
	locked chan struct{} // holds a value while it is locked; those who wait get it by order of arrival
	barred chan struct{} // closed, and replaced, when the board is barred; guarded by boardMutexes.mu
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
	var wake chan struct{}
	if !patient {
		m.mu.Lock()
		wake = one.barred
		m.mu.Unlock()
		if m.isBarred(board) {
			m.leave(board)
			return errBarred(board)
		}
	}
	var err error
	select {
	case one.locked <- struct{}{}:
		return nil
	case <-wake:
		err = errBarred(board)
	case <-ctx.Done():
		err = ctx.Err()
	}
	m.leave(board)
	return err
}

// errBarred is what those are told who do not wait for a board that is barred.
func errBarred(board string) error {
	return fmt.Errorf("%w: board %q has been locked in the database for too long", leaderboard.ErrUnavailable, board)
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
		one = &boardMutex{locked: make(chan struct{}, 1), barred: make(chan struct{})}
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

// bar says that somebody else did not give up the lock of a board in the database. It holds for a time, or until unbar.
func (m *boardMutexes) bar(board string, d time.Duration, stuck bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.barred == nil {
		m.barred = map[string]barred{}
	}
	m.barred[board] = barred{time.Now().Add(d), stuck || m.barred[board].stuck}
	if one := m.held[board]; one != nil {
		close(one.barred)
		one.barred = make(chan struct{})
	}
}

// unbar says that the lock of a board was got.
func (m *boardMutexes) unbar(board string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.barred, board)
}

func (m *boardMutexes) isBarred(board string) bool { return m.stateOf(board) != barred{} }

// isStuck reports whether it is known that nothing can be written to a board.
func (m *boardMutexes) isStuck(board string) bool { return m.stateOf(board).stuck }

// stateOf returns the zero value for a board that is not barred.
func (m *boardMutexes) stateOf(board string) barred {
	m.mu.Lock()
	defer m.mu.Unlock()
	state, ok := m.barred[board]
	if ok && time.Now().After(state.until) {
		delete(m.barred, board)
		return barred{}
	}
	return state
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

// budget keeps what is tried again few beside what is asked for: while a server fails often, repeating everything would
// give it twice as much to do.
type budget struct {
	mu   sync.Mutex
	owed float64 // retries that may not be made now
}

const (
	retriesPerRequest = 0.05
	retriesAtOnce     = 10
)

// earn counts requests, which allow for retries.
func (b *budget) earn(requests int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.owed = max(0, b.owed-float64(requests)*retriesPerRequest)
}

// spend says whether one more retry may be made.
func (b *budget) spend() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.owed+1 > retriesAtOnce {
		return false
	}
	b.owed++
	return true
}
