package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/internal/sweep"
)

// deleteSteps bounds the statements that DeleteBoard sends itself to delete rows.
const deleteSteps = 24

// DeleteBoard deletes a board with all its periods, or returns ErrBoardNotFound. Afterwards the name is free and no reader
// finds the board by it. It deletes the rows of a small board; the rows of a large one are left to Sweep, which removes
// them in steps, and Purge returns how many are left. Until then a period older than the newest thousand can still be read
// by its id.
func (s *Boards) DeleteBoard(ctx context.Context, name string) error {
	var id int64
	err := s.writer.Alone(ctx, name, func(tx *sqlx.Tx) (err error) {
		id, err = s.retire(ctx, tx, name)
		return err
	})
	if err != nil {
		return mysql.Translate(ctx, "delete board", err)
	}
	s.memory.Forget(name)
	finished, err := s.sweeper.PurgeBoard(ctx, id, &sweep.Steps{Left: deleteSteps, Small: true})
	if !finished {
		err = errors.Join(err, s.sweeper.MeasurePurge(ctx))
		s.db.Log.InfoContext(ctx, "rows of a deleted board are left to the housekeeping", "board", name, "entries", s.sweeper.Purge().Entries)
	}
	if err != nil {
		s.db.Log.WarnContext(ctx, "the rows of a deleted board could not be deleted yet", "board", name, "error", err)
	}
	return nil
}

// retire hides a board and its periods from all readers.
func (s *Boards) retire(ctx context.Context, tx *sqlx.Tx, name string) (id int64, err error) {
	var (
		rules   []byte
		version int64
	)
	err = tx.QueryRowContext(ctx, "SELECT id, version, rules FROM boards WHERE name = ? AND state = 'open' FOR UPDATE", []byte(name)).Scan(&id, &version, &rules)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, leaderboard.ErrBoardNotFound
	}
	if err != nil {
		return 0, err
	}
	rename := "UPDATE boards SET name = CONCAT('" + sweep.DeletedMark + "', id), state = 'deleting', updated_at = " + s.db.Now() + " WHERE id = ?"
	if _, err := tx.ExecContext(ctx, rename, id); err != nil {
		return 0, err
	}
	// All periods that are read much, and of the others as many as fit well into one transaction.
	for _, query := range []string{
		"UPDATE periods FORCE INDEX (periods_open) SET state = 'deleting' WHERE board_id = ? AND state = 'open'",
		"UPDATE periods FORCE INDEX (periods_open) SET state = 'deleting' WHERE board_id = ? AND state = 'closed' ORDER BY id DESC LIMIT 1000",
	} {
		if _, err := tx.ExecContext(ctx, query, id); err != nil {
			return 0, err
		}
	}
	deleted := audit.Change{Action: leaderboard.AuditActionBoardDelete, Board: name, Before: json.RawMessage(rules)}
	if _, err := audit.Write(ctx, s.db, tx, deleted); err != nil {
		return 0, err
	}
	if err := s.enterBoard(ctx, tx, name, version, boardChangeDeleted); err != nil {
		return 0, err
	}
	return id, s.db.NextVersion(ctx, tx, boardsVersion)
}
