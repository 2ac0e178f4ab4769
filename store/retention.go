package store

import (
	"context"
	"errors"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

const (
	// closeGrace is how long a period that has ended is left to the first writer or reader of the next one to close, and
	// what a database clock may go back by, say after a failover, without standing before a closed period.
	closeGrace = 10 * time.Second
	// retainSteps bounds how many periods of one window are given up in one sweep.
	retainSteps = 100
	// purgeReport is how many rows are deleted between two lines of the log.
	purgeReport = 100_000
)

// closePeriods closes periods that have ended and that nobody has followed up.
func (s *Store) closePeriods(ctx context.Context, now leaderboard.Micros) error {
	for {
		var ended []struct {
			ID      int64 `db:"id"`
			BoardID int64 `db:"board_id"`
		}
		const find = "SELECT id, board_id FROM periods WHERE state = 'open' AND ends_at <= ? ORDER BY ends_at LIMIT ?"
		if err := s.db.SelectContext(ctx, &ended, find, before(now, closeGrace), purgeRows); err != nil {
			return err
		}
		for _, p := range ended {
			if err := s.changeState(ctx, p.BoardID, p.ID, "open", "closed"); err != nil {
				return err
			}
		}
		if len(ended) < purgeRows {
			return nil
		}
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
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE periods SET state = ? WHERE id = ? AND state = ?", to, id, from); err != nil {
		return err
	}
	return db.Commit(tx)
}

// sweepPeriods gives up the closed periods that their boards do not keep, and deletes what was given up.
func (s *Store) sweepPeriods(ctx context.Context) error {
	for after := ""; ; {
		boards, err := s.Boards(ctx, after, purgeRows)
		if err != nil {
			return err
		}
		for i := range boards {
			if err := s.retain(ctx, &boards[i]); err != nil {
				return err
			}
			after = boards[i].Name
		}
		if len(boards) < purgeRows {
			return s.purgePeriods(ctx)
		}
	}
}

func (s *Store) retain(ctx context.Context, b *leaderboard.Board) error {
	for w, kept := range b.Rules.Keep {
		var ids []int64
		// From the oldest on, so that what is left has no gap: see leaderboard.FindPast.
		const of = " FROM periods WHERE board_id = ? AND window_name = ? AND state = 'closed'"
		const beyond = "SELECT id" + of + " AND starts_at <= (SELECT starts_at" + of + " ORDER BY starts_at DESC LIMIT ?, 1) ORDER BY starts_at LIMIT ?"
		if err := s.db.SelectContext(ctx, &ids, beyond, b.ID, []byte(w), b.ID, []byte(w), kept, retainSteps); err != nil {
			return err
		}
		for _, id := range ids {
			if err := s.changeState(ctx, b.ID, id, "closed", "deleting"); err != nil {
				return err
			}
		}
	}
	return nil
}

// purgePeriods deletes the periods that were given up. Those of deleted boards go with their boards.
func (s *Store) purgePeriods(ctx context.Context) error {
	var given []struct {
		ID     int64  `db:"id"`
		Board  []byte `db:"board"`
		Window []byte `db:"window_name"`
		Label  []byte `db:"name"`
	}
	const find = "SELECT p.id, b.name AS board, p.window_name, p.name FROM periods p JOIN boards b ON b.id = p.board_id AND b.state = 'open'" +
		" WHERE p.state = 'deleting' LIMIT ?"
	if err := s.db.SelectContext(ctx, &given, find, purgeRows); err != nil {
		return err
	}
	for _, p := range given {
		log := s.db.Log.With("board", string(p.Board), "window", string(p.Window), "period", string(p.Label))
		rows, err := s.purgePeriod(ctx, p.ID, func(rows int64) { log.Info("an old period is being deleted", "rows", rows) })
		if err != nil {
			return err
		}
		log.Info("an old period is deleted", "rows", rows)
	}
	return nil
}

// purgePeriod deletes the rows of a period, its own last, in statements of purgeRows rows that are transactions of
// their own: it may end anywhere and start again.
func (s *Store) purgePeriod(ctx context.Context, id int64, progress func(rows int64)) (rows int64, err error) {
	reported := int64(0)
	for _, query := range []string{
		"DELETE FROM entries WHERE period_id = ? ORDER BY member LIMIT ?",
		"DELETE FROM entries WHERE period_id = -? ORDER BY member LIMIT ?",
		"DELETE FROM changes WHERE period_id = ? ORDER BY last_seq LIMIT ?",
		"DELETE FROM rank_indexes WHERE period_id = ? ORDER BY chunk LIMIT ?",
		"DELETE FROM periods WHERE id = ? AND state = 'deleting' LIMIT ?",
	} {
		for {
			n, err := s.deleteSome(ctx, query, id, purgeRows)
			if err != nil {
				return rows, errors.Join(err, ctx.Err())
			}
			if rows += n; rows-reported >= purgeReport {
				progress(rows)
				reported = rows
			}
			if n < purgeRows {
				break
			}
		}
	}
	return rows, nil
}
