package boards

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Lookup finds boards with their current periods.
type Lookup struct {
	DB     *db.DB
	Memory *Memory
}

// Current returns a board with the current period of each of its windows, and the database clock that says so. The
// first to ask after a rollover begins the new periods. Errors: ErrBoardNotFound.
func (l *Lookup) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	listing, r, err := l.listing(ctx, l.DB, l.DB.Limited(l.query()), name)
	if err == nil && r.lacks() {
		err = l.DB.InTx(ctx, func(tx *sqlx.Tx) error {
			listing, err = l.Begin(ctx, tx, name)
			return err
		})
	}
	return listing, err
}

// AsItIs is Current without beginning any period: those that nobody has begun have no ID.
func (l *Lookup) AsItIs(ctx context.Context, name string) (leaderboard.Listing, error) {
	listing, _, err := l.listing(ctx, l.DB, l.DB.Limited(l.query()), name)
	return listing, err
}

// Begin locks a board and makes the periods that it lacks. What it finds under the lock decides: another may have been
// faster. Errors: ErrBoardNotFound.
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
	if err == nil && r.Due() {
		err = r.Write(ctx, tx)
	}
	return listing, err // its periods are r.Current, which have their ids now
}

// query selects a board with its open periods and the database clock.
func (l *Lookup) query() string {
	return "SELECT " + JoinedColumns + ", " + l.DB.Sysdate() + ", " + JoinedPeriodColumns +
		" FROM boards b LEFT JOIN periods p ON p.board_id = b.id AND p.state = 'open' WHERE b.name = ? AND b.state = 'open'"
}

// listing reads a board with its open periods, in one statement, and says what the clock makes of them.
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
	cal, err := l.Memory.Calendar(&out.Board)
	if err != nil {
		return out, r, err
	}
	r = RolloverAt(cal, out.Board.ID, out.Board.Rules.Windows, open, out.Clock)
	out.Periods = r.Current
	return out, r, nil
}
