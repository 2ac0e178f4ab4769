package boards

import (
	"leaderboard"
	"leaderboard/store/internal/db"
)

// Known is a board at one version, and its current periods as the last batch found them. It is shared and never written
// to. Whoever locks the board finds out whether it still holds. The zero value is a board of which nothing is known.
type Known struct {
	Board     leaderboard.Board // without the time when it was made
	Calendar  leaderboard.Calendar
	Periods   []int64
	HasHidden bool // members may be hidden
}

// memoryBoards is how many boards a process remembers at least, of those that it has worked on last.
const memoryBoards = 5000

// Memory is what a process remembers of boards, by name. All methods may be called concurrently.
type Memory struct{ boards *Recent[string, *Known] }

// NewMemory returns one in which there is nothing.
func NewMemory() *Memory { return &Memory{NewRecent[string, *Known](memoryBoards)} }

// Get returns what is known of a board, and false with a zero Known when nothing is.
func (m *Memory) Get(name string) (*Known, bool) {
	if k, ok := m.boards.Get(name); ok {
		return k, true
	}
	return &Known{}, false
}

// Put remembers a board.
func (m *Memory) Put(k *Known) { m.boards.Put(k.Board.Name, k) }

// Forget forgets a board.
func (m *Memory) Forget(name string) { m.boards.Delete(name) }

// Calendar returns the calendar of a board's rules, from memory when the same version is known.
func (m *Memory) Calendar(b *leaderboard.Board) (leaderboard.Calendar, error) {
	if k, ok := m.Get(b.Name); ok && k.Board.ID == b.ID && k.Board.Version == b.Version && k.Board.UpdatedTime == b.UpdatedTime {
		return k.Calendar, nil
	}
	cal, err := b.Rules.Calendar()
	if err != nil {
		return cal, db.Wrap("board "+b.Name, err)
	}
	return cal, nil
}
