package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// Current is a board with the current period of each of its windows, and the database clock that says so. The first
// to ask after a turn begins the new periods. Errors: ErrBoardNotFound, ErrUnavailable.
func (s *Store) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	l, t, err := s.look(ctx, s.db, s.db.Limited(s.lookQuery()), name)
	if err == nil && t.lacks() {
		l, err = s.begin(ctx, name)
	}
	if err != nil {
		return leaderboard.Listing{}, db.Translate(ctx, "board", err)
	}
	return l, nil
}

// lookQuery selects a board with its open periods and the database clock.
func (s *Store) lookQuery() string {
	return "SELECT b.id, b.name, b.version, b.rules, b.created_at, b.updated_at, " + s.db.Sysdate() + "," +
		" p.id, p.window_name, p.name, p.starts_at, p.ends_at, p.state, p.last_seq, p.entry_count, p.committed_at" +
		" FROM boards b LEFT JOIN periods p ON p.board_id = b.id AND p.state = 'open' WHERE b.name = ? AND b.state = 'open'"
}

// look reads a board with its open periods, in one statement, and says what the clock makes of them.
func (s *Store) look(ctx context.Context, q sqlx.QueryerContext, query, name string) (l leaderboard.Listing, t turn, err error) {
	rows, err := q.QueryContext(ctx, query, []byte(name))
	if err != nil {
		return l, t, err
	}
	defer rows.Close()
	var (
		open  []leaderboard.Period
		board *boardRow
	)
	for rows.Next() {
		var (
			b   boardRow
			p   optionalPeriod
			now time.Time
		)
		if err := rows.Scan(append([]any{&b.ID, &b.Name, &b.Version, &b.Rules, &b.Created, &b.Updated, &now}, p.dest()...)...); err != nil {
			return l, t, err
		}
		board, l.Clock = &b, max(l.Clock, leaderboard.MicrosOf(now))
		if p.id.Valid {
			open = append(open, p.period(b.ID))
		}
	}
	if err := rows.Err(); err != nil {
		return l, t, err
	}
	if board == nil {
		return l, t, leaderboard.ErrBoardNotFound
	}
	if l.Board, err = board.board(); err != nil {
		return l, t, err
	}
	cal, err := s.calendar(&l.Board)
	if err != nil {
		return l, t, err
	}
	t = turnOf(cal, l.Board.ID, l.Board.Rules.Windows, open, l.Clock)
	l.Periods = t.current
	return l, t, nil
}

// begin makes the periods that a board lacks.
func (s *Store) begin(ctx context.Context, name string) (leaderboard.Listing, error) {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return leaderboard.Listing{}, err
	}
	defer tx.Rollback()
	l, err := s.beginIn(ctx, tx, name)
	if err != nil {
		return leaderboard.Listing{}, err
	}
	return l, db.Commit(tx)
}

// beginIn does so in a transaction. What it finds under the lock decides: another may have been faster.
func (s *Store) beginIn(ctx context.Context, tx *sqlx.Tx, name string) (leaderboard.Listing, error) {
	var id int64
	err := tx.GetContext(ctx, &id, "SELECT id FROM boards WHERE name = ? AND state = 'open' FOR UPDATE", []byte(name))
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrBoardNotFound
	}
	if err != nil {
		return leaderboard.Listing{}, err
	}
	l, t, err := s.look(ctx, tx, s.lookQuery(), name)
	if err == nil && t.due() {
		err = t.carryOut(ctx, tx)
	}
	return l, err // l.Periods is t.current, which has its ids now
}

// calendar is that of a board's rules, from memory when a writer knows the same version.
func (s *Store) calendar(b *leaderboard.Board) (leaderboard.Calendar, error) {
	if v, ok := s.rules.Load(b.Name); ok {
		if known := v.(*boardRules); known.boardID == b.ID && known.version == b.Version {
			return known.calendar, nil
		}
	}
	cal, err := b.Rules.Calendar()
	if err != nil {
		return cal, db.Wrap("board "+b.Name, err)
	}
	return cal, nil
}

// optionalPeriod is the row of a period on the outer side of a join.
type optionalPeriod struct {
	id, seq, entries              sql.NullInt64
	window, name, state           sql.NullString
	startsAt, endsAt, committedAt sql.NullTime
}

// dest are the columns id, window_name, name, starts_at, ends_at, state, last_seq, entry_count, committed_at.
func (p *optionalPeriod) dest() []any {
	return []any{&p.id, &p.window, &p.name, &p.startsAt, &p.endsAt, &p.state, &p.seq, &p.entries, &p.committedAt}
}

// period is the row, of a board, once id is known to be valid.
func (p *optionalPeriod) period(boardID int64) leaderboard.Period {
	row := periodRow{
		ID: p.id.Int64, BoardID: boardID, Window: []byte(p.window.String), Label: []byte(p.name.String), StartsAt: p.startsAt.Time,
		EndsAt: p.endsAt, State: []byte(p.state.String), LastSeq: p.seq.Int64, EntryCount: p.entries.Int64, Committed: p.committedAt.Time,
	}
	return row.period()
}
