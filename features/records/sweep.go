package records

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"leaderboard/leaderboard"
	"leaderboard/store"
)

const (
	recordedNext = "SELECT board_id FROM submissions WHERE board_id > ? ORDER BY board_id LIMIT 1"
	purge        = "DELETE FROM submissions WHERE board_id = ? ORDER BY recorded_at, id LIMIT ?"
)

// sweep returns the job that deletes records of submissions that are older than their boards keep them: store.SweepRows at a time, so
// that a board with many keeps no other from its turn.
func (s *Store) sweep(sweeper store.Sweeper) store.Job {
	var records store.Pass[int64, int64] // boards with records of submissions
	list := store.List[int64, int64]{
		Next: func(ctx context.Context, after int64) (page []int64, last bool, err error) {
			var board int64
			err = s.db.Pool.GetContext(ctx, &board, recordedNext, after)
			if errors.Is(err, sql.ErrNoRows) {
				return nil, true, nil
			}
			return []int64{board}, false, err
		},
		Key:  func(board *int64) int64 { return *board },
		Work: func(ctx context.Context, board *int64) (bool, error) { return s.prune(ctx, sweeper, *board) },
	}
	return store.Job{Name: "sweep submissions", Run: func(ctx context.Context, slice store.Slice) (more bool, err error) {
		return records.Turn(ctx, slice, list)
	}}
}

// prune deletes old records of a board, and reports whether those were all. For a board that is gone the default time
// holds.
func (s *Store) prune(ctx context.Context, sweeper store.Sweeper, board int64) (finished bool, err error) {
	var text []byte
	err = s.db.Pool.GetContext(ctx, &text, "SELECT rules FROM boards WHERE id = ?", board)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	var rules leaderboard.Rules
	if len(text) > 0 {
		if err := json.Unmarshal(text, &rules); err != nil {
			return false, err
		}
	}
	const remove = "DELETE FROM submissions WHERE board_id = ? AND recorded_at < ? ORDER BY recorded_at, id LIMIT ?"
	n, err := sweeper.Delete(ctx, remove, board, sweeper.Before(rules.RecordFor()), store.SweepRows)
	return n < store.SweepRows, err
}
