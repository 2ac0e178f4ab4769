package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/sweep"
)

const (
	// closeGrace is the time after its end for which a period is left open for the first writer or reader of the next
	// period to close.
	closeGrace = 10 * time.Second
	// closedAtOnce is how many periods that have ended are looked at together.
	closedAtOnce = 1000
	// retainSteps bounds how many periods of one window are given up in one transaction.
	retainSteps = mysql.MaxRows
	// retainBoards is how many boards are looked at together.
	retainBoards = 1000
)

// boardVersion is a board at a version.
type boardVersion struct {
	ID      int64  `db:"board_id"`
	Name    []byte `db:"name"`
	Version int64  `db:"version"`
}

// endedPeriod is a period that has ended and is open.
type endedPeriod struct {
	PeriodID int64 `db:"id"`
	boardVersion
}

// closePeriods closes periods that have ended and that no writer has closed. A period whose board is locked is left for
// later.
func (s *Housekeeping) closePeriods(now time.Time) func(context.Context, sweep.Slice) (bool, error) {
	return func(ctx context.Context, slice sweep.Slice) (more bool, failed error) {
		for failed == nil {
			var ended []endedPeriod
			const find = "SELECT p.id, p.board_id, b.name FROM periods p FORCE INDEX (periods_end) STRAIGHT_JOIN boards b ON b.id = p.board_id" +
				" WHERE p.state = 'open' AND p.ends_at <= ? ORDER BY p.ends_at LIMIT ?"
			if err := s.db.Pool.SelectContext(ctx, &ended, find, now.Add(-closeGrace), closedAtOnce); err != nil {
				return false, err
			}
			sweep.Order(&s.closing, ended, func(p endedPeriod) int64 { return p.PeriodID })
			for _, p := range ended {
				if slice.Over() {
					return true, failed
				}
				s.closing.Begin(p.PeriodID)
				err := s.closePeriod(ctx, &p)
				if errors.Is(err, leaderboard.ErrUnknownRule) {
					continue // a newer server closes it
				}
				if failed = errors.Join(failed, err); ctx.Err() != nil {
					return true, failed
				}
			}
			if len(ended) < closedAtOnce {
				return false, failed
			}
		}
		return true, failed
	}
}

// closePeriod closes a period that has ended.
func (s *Housekeeping) closePeriod(ctx context.Context, p *endedPeriod) error {
	_, err := s.withBoard(ctx, p.boardVersion, func(tx *sqlx.Tx, b *leaderboard.Board) error {
		var row boards.PeriodRow
		err := tx.GetContext(ctx, &row, "SELECT "+boards.PeriodColumns+" FROM periods WHERE id = ? AND state = 'open'", p.PeriodID)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // another was faster
		}
		if err != nil {
			return err
		}
		return boards.Close(ctx, tx, s.db.Sysdate(), b, []leaderboard.Period{row.Period()})
	})
	return err
}

// changeStates gives periods of a board their next state, and reports whether the board still has this version (0: any). With
// other rules it does nothing. It locks the row of the board first, as every writer does: so it waits for a batch that has
// begun, and cannot deadlock with it.
func (s *Housekeeping) changeStates(ctx context.Context, b boardVersion, ids []int64, from, to string) (same bool, err error) {
	return s.withBoard(ctx, b, func(tx *sqlx.Tx, _ *leaderboard.Board) error {
		move := (&mysql.Text{}).Str("UPDATE periods FORCE INDEX (PRIMARY) SET state = ").Hex(to)
		move.Str(" WHERE id IN (").Ints(ids).Str(") AND state = ").Hex(from)
		_, err := tx.ExecContext(ctx, move.String())
		return err
	})
}

// withBoard runs fn in a transaction that has locked a board, and reports whether the board still has this version: otherwise
// it does not call fn.
func (s *Housekeeping) withBoard(ctx context.Context, b boardVersion, fn func(*sqlx.Tx, *leaderboard.Board) error) (same bool, err error) {
	err = s.writer.TryAlone(ctx, string(b.Name), func(tx *sqlx.Tx) error {
		found, err := boards.Get(ctx, tx, "SELECT "+boards.Columns+" FROM boards WHERE id = ? FOR UPDATE", b.ID)
		if errors.Is(err, leaderboard.ErrBoardNotFound) {
			return nil // it is deleted, and the periods with it
		}
		if err == nil {
			err = found.CheckWritable()
		}
		if same = err == nil && (b.Version == 0 || found.Version == b.Version); !same {
			return err
		}
		return fn(tx, &found)
	})
	return same, err
}

// giveUpPeriods marks the closed periods that their boards do not keep for deletion, board by board.
func (s *Housekeeping) giveUpPeriods(ctx context.Context, slice sweep.Slice) (more bool, err error) {
	return s.retained.Turn(ctx, slice, sweep.List[string, leaderboard.Board]{
		Next: func(ctx context.Context, after string) (page []leaderboard.Board, last bool, err error) {
			page, err = s.boards.Boards(ctx, after, retainBoards)
			return page, len(page) < retainBoards, err
		},
		Key:  func(b *leaderboard.Board) string { return b.Name },
		Work: s.retain,
	})
}

// retain marks the periods that a board does not keep, and reports whether those were all. A board with a rule that is not known here
// is left to another server.
func (s *Housekeeping) retain(ctx context.Context, b *leaderboard.Board) (finished bool, err error) {
	if errors.Is(b.CheckWritable(), leaderboard.ErrUnknownRule) {
		return true, nil
	}
	finished = true
	for w, kept := range b.Rules.Keep {
		var ids []int64
		// From the oldest on, so that the remaining periods have no gap: see leaderboard.FindPast.
		const of = " FROM periods WHERE board_id = ? AND window_name = ? AND state = 'closed'"
		const beyond = "SELECT id" + of + " AND starts_at <= (SELECT starts_at" + of + " ORDER BY starts_at DESC LIMIT ?, 1) ORDER BY starts_at LIMIT ?"
		if err := s.db.Pool.SelectContext(ctx, &ids, beyond, b.ID, []byte(w), b.ID, []byte(w), kept, retainSteps); err != nil {
			return false, err
		}
		finished = finished && len(ids) < retainSteps
		if len(ids) == 0 {
			continue
		}
		same, err := s.changeStates(ctx, boardVersion{b.ID, []byte(b.Name), b.Version}, ids, "closed", "deleting")
		if !same || err != nil {
			return err == nil, err // the next pass finds its new rules
		}
	}
	return finished, nil
}
