package boards

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/bounded"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Lookup finds boards with their current periods.
type Lookup struct {
	DB     *mysql.DB
	Memory *Cache
	// Lock runs a transaction that locks a board, unless another session is known to keep it locked, and commits it.
	Lock func(ctx context.Context, board string, fn func(*sqlx.Tx) error) error
}

// Current returns a board with the current period of each of its windows, and the time of the database clock at which they
// are current. The first call after a rollover begins the new periods, if this version knows all rules of the board;
// otherwise they have no ID. Errors: ErrBoardNotFound, ErrUnavailable.
func (l *Lookup) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	listing, r, err := l.listing(ctx, l.DB.Pool, l.DB.Limited(l.query()), name)
	if err == nil && r.lacks() && listing.Board.CheckWritable() == nil {
		err = l.Lock(ctx, name, func(tx *sqlx.Tx) (err error) {
			listing, err = l.Begin(ctx, tx, name)
			return err
		})
	}
	return listing, err
}

// AsItIs is Current without beginning a period: a period that has not begun has no ID.
func (l *Lookup) AsItIs(ctx context.Context, name string) (leaderboard.Listing, error) {
	listing, _, err := l.listing(ctx, l.DB.Pool, l.DB.Limited(l.query()), name)
	return listing, err
}

// Begin locks a board and makes the periods that it lacks under the lock: another writer may have made them already. Errors:
// ErrBoardNotFound, ErrUnknownRule.
func (l *Lookup) Begin(ctx context.Context, tx *sqlx.Tx, name string) (leaderboard.Listing, error) {
	var id int64
	err := tx.GetContext(ctx, &id, "SELECT id FROM boards WHERE name = ? AND state = 'open' FOR UPDATE", []byte(name))
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrBoardNotFound
	}
	if err != nil {
		return leaderboard.Listing{}, err
	}
	listing, r, err := l.listing(ctx, tx, l.query(), name)
	if err == nil {
		err = listing.Board.CheckWritable()
	}
	if err == nil && r.Due() {
		err = r.Write(ctx, tx, &listing.Board, l.DB.Config.Random)
	}
	return listing, err // its periods are r.Current, which have their ids now
}

// query selects a board with its open periods and the database clock.
func (l *Lookup) query() string {
	return "SELECT " + JoinedColumns + ", " + l.DB.Sysdate() + ", " + JoinedPeriodColumns +
		" FROM boards b LEFT JOIN periods p ON p.board_id = b.id AND p.state = 'open' WHERE b.name = ? AND b.state = 'open'"
}

// listing reads a board with its open periods, in one statement, and decides by the clock which are current.
func (l *Lookup) listing(ctx context.Context, q sqlx.QueryerContext, query, name string) (out leaderboard.Listing, r Rollover, err error) {
	rows, err := q.QueryContext(ctx, query, []byte(name))
	if err != nil {
		return out, r, err
	}
	defer rows.Close()
	var (
		open  []leaderboard.Period
		board *Row
	)
	for rows.Next() {
		var (
			b   Row
			p   JoinedPeriod
			now time.Time
		)
		if err := rows.Scan(append(append(b.Dest(), &now), p.Dest()...)...); err != nil {
			return out, r, err
		}
		board, out.Clock = &b, max(out.Clock, leaderboard.MicrosOf(now))
		if p.Exists() {
			open = append(open, p.Period(b.ID))
		}
	}
	if err := rows.Err(); err != nil {
		return out, r, err
	}
	if board == nil {
		return out, r, leaderboard.ErrBoardNotFound
	}
	if out.Board, err = board.Board(); err != nil {
		return out, r, err
	}
	r = RolloverAt(l.Memory.Calendar(&out.Board), out.Board.ID, out.Board.Rules.Windows, open, out.Clock)
	out.Periods = r.Current
	return out, r, nil
}

// Known is a board at one version, and its current periods as the last batch found them. It is shared and never written
// to. Whether it still holds is found out under the lock of the board. The zero value is a board that is not known.
type Known struct {
	Board     leaderboard.Board // without the time when it was made
	Calendar  leaderboard.Calendar
	Periods   []int64
	HasHidden bool // members may be hidden
}

// memoryBoards is the greatest number of boards that a process remembers: the boards that it worked on last.
const memoryBoards = 10_000

// Cache is a process's memory of boards, by name. All methods may be called concurrently.
type Cache struct{ boards *bounded.Map[string, *Known] }

// NewCache returns an empty Cache.
func NewCache() *Cache { return &Cache{bounded.New[string, *Known](memoryBoards, 0)} }

// Get returns the memory of a board; false with a zero Known if the board is not remembered.
func (m *Cache) Get(name string) (*Known, bool) {
	if k, ok := m.boards.Get(name); ok {
		return k, true
	}
	return &Known{}, false
}

// Put remembers a board.
func (m *Cache) Put(k *Known) { m.boards.Put(k.Board.Name, 0, k) }

// Forget forgets a board.
func (m *Cache) Forget(name string) { m.boards.Delete(name) }

// Calendar returns the calendar of a board's rules, from memory when the same version is known. It lacks windows when this
// machine does not know the time zone.
func (m *Cache) Calendar(b *leaderboard.Board) leaderboard.Calendar {
	if k, ok := m.Get(b.Name); ok && k.Board.ID == b.ID && k.Board.Version == b.Version && k.Board.UpdatedTime == b.UpdatedTime {
		return k.Calendar
	}
	cal, _ := b.Rules.Calendar()
	return cal
}
