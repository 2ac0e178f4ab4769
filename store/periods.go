package store

import (
	"context"
	"database/sql"
	"errors"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Current returns a board with the current period of each of its windows, and the time of the database clock at which they
// are current. The first call after a rollover begins the new periods. Errors: ErrBoardNotFound, ErrUnavailable.
func (s *Boards) Current(ctx context.Context, name string) (leaderboard.Listing, error) {
	l, err := s.lookup.Current(ctx, name)
	if err != nil {
		return leaderboard.Listing{}, mysql.Translate(ctx, "board", err)
	}
	return l, nil
}

// CurrentPeriod returns the current period of a board's window. Unlike Current it begins no period: the error is
// ErrPeriodNotFound when the board lacks the window, or when the period was neither written to nor read yet.
func (s *Boards) CurrentPeriod(ctx context.Context, b leaderboard.Board, w leaderboard.Window) (leaderboard.Period, error) {
	l, err := s.lookup.AsItIs(ctx, b.Name)
	if err != nil {
		return leaderboard.Period{}, mysql.Translate(ctx, "period", err)
	}
	for _, p := range l.Periods {
		if p.Window == w && p.ID != 0 && p.BoardID == b.ID {
			return p, nil
		}
	}
	return leaderboard.Period{}, mysql.Wrap("period", leaderboard.ErrPeriodNotFound)
}

// PeriodNamed returns the period with this name of a window that the board has or once had, or ErrPeriodNotFound.
func (s *Boards) PeriodNamed(ctx context.Context, boardID int64, w leaderboard.Window, name string) (leaderboard.Period, error) {
	if w == leaderboard.WindowAllTime && name == string(w) {
		name = ""
	}
	return s.onePeriod(ctx, "SELECT "+boards.PeriodColumns+" FROM periods WHERE board_id = ? AND window_name = ? AND name = ? AND state <> 'deleting'"+
		" ORDER BY starts_at DESC LIMIT 1", boardID, []byte(w), []byte(name))
}

// FirstPeriod returns the oldest period of a board's window that still exists, or ErrPeriodNotFound.
func (s *Boards) FirstPeriod(ctx context.Context, boardID int64, w leaderboard.Window) (leaderboard.Period, error) {
	return s.onePeriod(ctx, "SELECT "+boards.PeriodColumns+" FROM periods WHERE board_id = ? AND window_name = ? AND state <> 'deleting'"+
		" ORDER BY starts_at LIMIT 1", boardID, []byte(w))
}

// Period returns the period with this id, or ErrPeriodNotFound.
func (s *Boards) Period(ctx context.Context, id int64) (leaderboard.Period, error) {
	return s.onePeriod(ctx, "SELECT "+boards.PeriodColumns+" FROM periods WHERE id = ? AND state <> 'deleting'", id)
}

func (s *Boards) onePeriod(ctx context.Context, query string, args ...any) (leaderboard.Period, error) {
	var row boards.PeriodRow
	err := s.db.Pool.GetContext(ctx, &row, s.db.Limited(query), args...)
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrPeriodNotFound
	}
	if err != nil {
		return leaderboard.Period{}, mysql.Translate(ctx, "period", err)
	}
	return row.Period(), nil
}

// Periods lists periods of a board, newest first: the ones with an id below before (0: from the newest), of one window ("":
// of all), at most limit.
func (s *Boards) Periods(ctx context.Context, boardID int64, w leaderboard.Window, before int64, limit int) ([]leaderboard.Period, error) {
	query := "SELECT " + boards.PeriodColumns + " FROM periods WHERE board_id = ? AND state <> 'deleting'"
	args := []any{boardID}
	if w != "" {
		query, args = query+" AND window_name = ?", append(args, []byte(w))
	}
	if before > 0 {
		query, args = query+" AND id < ?", append(args, before)
	}
	return s.periods(ctx, query+" ORDER BY id DESC LIMIT ?", append(args, max(0, limit))...)
}

const periodsBefore = "SELECT " + boards.PeriodColumns + " FROM periods FORCE INDEX (periods_start)" +
	" WHERE board_id = ? AND window_name = ? AND starts_at < ? AND state <> 'deleting' ORDER BY starts_at DESC LIMIT ?"

// PeriodsBefore lists the periods of a board's window that begin before a moment, the latest first, at most limit.
func (s *Boards) PeriodsBefore(ctx context.Context, boardID int64, w leaderboard.Window, before leaderboard.Micros, limit int) ([]leaderboard.Period, error) {
	return s.periods(ctx, periodsBefore, boardID, []byte(w), before.Time(), max(0, limit))
}

// PeriodIn reads the period with this id in a transaction.
func (s *Boards) PeriodIn(ctx context.Context, q mysql.Querier, id int64) (leaderboard.Period, error) {
	var row boards.PeriodRow
	err := q.QueryRowContext(ctx, (&mysql.Text{}).Str("SELECT "+boards.PeriodColumns+" FROM periods WHERE id = ").Int(id).String()).Scan(row.Dest()...)
	return row.Period(), err
}

// PeriodAt reads the current period of a window in a transaction. A period without submissions is empty, like the time
// between two seasons.
func (s *Boards) PeriodAt(ctx context.Context, q mysql.Querier, boardID int64, w leaderboard.Window, now leaderboard.Micros) (leaderboard.Period, error) {
	var row boards.PeriodRow
	err := q.QueryRowContext(ctx, s.db.Limited(periodsBefore), boardID, []byte(w), (now + 1).Time(), 1).Scan(row.Dest()...)
	if errors.Is(err, sql.ErrNoRows) {
		return leaderboard.Period{}, nil
	}
	p := row.Period()
	if err == nil && p.EndsAt <= now {
		p = leaderboard.Period{StartsAt: p.EndsAt}
	}
	return p, err
}

func (s *Boards) periods(ctx context.Context, query string, args ...any) ([]leaderboard.Period, error) {
	var rows []boards.PeriodRow
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(query), args...); err != nil {
		return nil, mysql.Translate(ctx, "periods", err)
	}
	periods := make([]leaderboard.Period, len(rows))
	for i := range rows {
		periods[i] = rows[i].Period()
	}
	return periods, nil
}
