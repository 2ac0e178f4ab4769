package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"leaderboard"
	"leaderboard/store/internal/db"
)

const (
	// deletedMark begins the name of a board that is being deleted. No board can be called so.
	deletedMark = "~"
	// purgeRows is how many rows one statement of the housekeeping deletes: enough to get on, few enough to keep
	// locks, undo and replication short.
	purgeRows = 1000
	// deleteSteps bounds the work that DeleteBoard does itself.
	deleteSteps = 20
)

// DeleteBoard deletes a board with all its periods, or returns ErrBoardNotFound. Afterwards the name is free and no
// reader finds the board or its periods. The rows of a large board are removed by Sweep, in steps.
func (s *Store) DeleteBoard(ctx context.Context, name string) error {
	id, err := s.retire(ctx, name)
	if err != nil {
		return db.Translate(ctx, "delete board", err)
	}
	s.memory.Forget(name)
	if _, err := s.purgeBoard(ctx, id, deleteSteps); err != nil {
		s.db.Log.Warn("rows of a deleted board are left to the next sweep", "board", name, "error", err)
	}
	return nil
}

// retire takes a board and its periods out of everybody's sight.
func (s *Store) retire(ctx context.Context, name string) (id int64, err error) {
	tx, err := s.db.BeginWrite(ctx)
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = tx.QueryRowContext(ctx, "SELECT id FROM boards WHERE name = ? AND state = 'open' FOR UPDATE", []byte(name)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, leaderboard.ErrBoardNotFound
	}
	if err != nil {
		return 0, err
	}
	rename := "UPDATE boards SET name = CONCAT('" + deletedMark + "', id), state = 'deleting', updated_at = " + s.db.Now() + " WHERE id = ?"
	if _, err := tx.ExecContext(ctx, rename, id); err != nil {
		return 0, err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE periods SET state = 'deleting' WHERE board_id = ?", id); err != nil {
		return 0, err
	}
	return id, db.Commit(tx)
}

// purgeBoard deletes the rows of a retired board in statements of purgeRows rows, at most steps of them, and says
// whether it finished. Every step is a transaction of its own, so it may end anywhere and start again.
func (s *Store) purgeBoard(ctx context.Context, id int64, steps int) (finished bool, err error) {
	var periods []int64
	if err := s.db.SelectContext(ctx, &periods, "SELECT id FROM periods WHERE board_id = ? ORDER BY id", id); err != nil {
		return false, err
	}
	type job struct {
		query string
		id    int64
	}
	jobs := []job{
		{"DELETE FROM derived_sources WHERE board_id = ? ORDER BY position LIMIT ?", id}, // they hold the logs of others
		{"DELETE FROM derived_boards WHERE board_id = ? LIMIT ?", id},
	}
	for _, p := range periods {
		jobs = append(jobs,
			job{"DELETE FROM entries WHERE period_id = ? ORDER BY member LIMIT ?", p},
			job{"DELETE FROM entries WHERE period_id = -? ORDER BY member LIMIT ?", p},
			job{"DELETE FROM changes WHERE period_id = ? ORDER BY last_seq LIMIT ?", p},
			job{"DELETE FROM rank_indexes WHERE period_id = ? ORDER BY chunk LIMIT ?", p})
	}
	jobs = append(jobs,
		job{"DELETE FROM idempotency_keys WHERE board_id = ? ORDER BY idempotency_key LIMIT ?", id},
		job{"DELETE FROM hidden_members WHERE board_id = ? ORDER BY member LIMIT ?", id},
		job{"DELETE FROM hidden_log WHERE board_id = ? ORDER BY id LIMIT ?", id},
		job{"DELETE FROM runs WHERE board_id = ? ORDER BY id LIMIT ?", id},
		job{"DELETE FROM board_labels WHERE board_id = ? ORDER BY label LIMIT ?", id},
		job{"DELETE FROM periods WHERE board_id = ? ORDER BY id LIMIT ?", id},
		job{"DELETE FROM boards WHERE id = ? AND state = 'deleting' LIMIT ?", id})
	for _, j := range jobs {
		for {
			if steps--; steps < 0 {
				return false, nil
			}
			n, err := s.deleteSome(ctx, j.query, j.id, purgeRows)
			if err != nil {
				return false, fmt.Errorf("purge of board %d: %w", id, err)
			}
			if n < purgeRows {
				break
			}
		}
	}
	return true, nil
}

// deleteSome runs one bounded DELETE and returns how many rows it deleted.
func (s *Store) deleteSome(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := s.db.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
