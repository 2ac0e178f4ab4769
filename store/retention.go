package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"leaderboard"
	"leaderboard/store/internal/sweep"
)

const (
	// closeGrace is how long a period that has ended is left to the first writer or reader of the next one to close.
	closeGrace = 10 * time.Second
	// closedAtOnce is how many periods that have ended are looked at together.
	closedAtOnce = 1000
	// retainSteps bounds how many periods of one window are given up in one turn.
	retainSteps = 100
	// retainBoards is how many boards are looked at together.
	retainBoards = 1000
)

// endedPeriod is a period that has ended and is open.
type endedPeriod struct {
	ID      int64 `db:"id"`
	BoardID int64 `db:"board_id"`
}

// closePeriods closes periods that have ended and that nobody has followed up. One whose board is locked is left for
// later.
func (s *Store) closePeriods(now time.Time) func(context.Context, sweep.Slice) (bool, error) {
	return func(ctx context.Context, slice sweep.Slice) (more bool, failed error) {
		for failed == nil {
			var ended []endedPeriod
			const find = "SELECT id, board_id FROM periods WHERE state = 'open' AND ends_at <= ? ORDER BY ends_at LIMIT ?"
			if err := s.db.SelectContext(ctx, &ended, find, now.Add(-closeGrace), closedAtOnce); err != nil {
				return false, err
			}
			sweep.Order(&s.sweeps.closing, ended, func(p endedPeriod) int64 { return p.ID })
			for _, p := range ended {
				if slice.Over() {
					return true, failed
				}
				s.sweeps.closing.Begin(p.ID)
				failed = errors.Join(failed, s.changeState(ctx, p.BoardID, p.ID, "open", "closed"))
				if ctx.Err() != nil {
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

// changeState moves a period on. The row of the board is locked first, as by every writer: so it waits for a batch that
// has begun, and cannot deadlock with it.
func (s *Store) changeState(ctx context.Context, boardID, id int64, from, to string) error {
	tx, err := s.db.BeginWrite(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := tx.QueryRowContext(ctx, "SELECT id FROM boards WHERE id = ? FOR UPDATE", boardID).Scan(&boardID); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil // it is deleted, and the period with it
		}
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE periods SET state = ? WHERE id = ? AND state = ?", to, id, from); err != nil {
		return err
	}
	return s.db.Commit(ctx, tx)
}

// giveUpPeriods gives up the closed periods that their boards do not keep, board by board.
func (s *Store) giveUpPeriods(ctx context.Context, slice sweep.Slice) (more bool, err error) {
	more = s.sweeps.retained != "" // it begins in the middle
	for {
		boards, err := s.Boards(ctx, s.sweeps.retained, retainBoards)
		if err != nil {
			return false, err
		}
		for i := range boards {
			if slice.Over() {
				return true, nil
			}
			s.sweeps.retained = boards[i].Name // also when it fails
			unfinished, err := s.retain(ctx, &boards[i])
			if err != nil {
				return false, err
			}
			more = more || unfinished
		}
		if len(boards) < retainBoards {
			s.sweeps.retained = ""
			return more, nil
		}
	}
}

// retain gives up what a board does not keep, and says whether there may be more of it.
func (s *Store) retain(ctx context.Context, b *leaderboard.Board) (more bool, err error) {
	for w, kept := range b.Rules.Keep {
		var ids []int64
		// From the oldest on, so that what is left has no gap: see leaderboard.FindPast.
		const of = " FROM periods WHERE board_id = ? AND window_name = ? AND state = 'closed'"
		const beyond = "SELECT id" + of + " AND starts_at <= (SELECT starts_at" + of + " ORDER BY starts_at DESC LIMIT ?, 1) ORDER BY starts_at LIMIT ?"
		if err := s.db.SelectContext(ctx, &ids, beyond, b.ID, []byte(w), b.ID, []byte(w), kept, retainSteps); err != nil {
			return false, err
		}
		more = more || len(ids) == retainSteps
		for _, id := range ids {
			if err := s.changeState(ctx, b.ID, id, "closed", "deleting"); err != nil {
				return false, err
			}
		}
	}
	return more, nil
}
