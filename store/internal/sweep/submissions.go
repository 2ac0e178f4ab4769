package sweep

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"leaderboard"
)

const recordedNext = "SELECT board_id FROM submissions WHERE board_id > ? ORDER BY board_id LIMIT 1"

// Submissions deletes records of submissions that are older than their boards keep them, board by board.
func (s *Sweeper) Submissions(ctx context.Context, slice Slice) (more bool, err error) {
	for !slice.Over() {
		var board int64
		err := s.db.GetContext(ctx, &board, recordedNext, s.recordsUpTo)
		if errors.Is(err, sql.ErrNoRows) {
			s.recordsUpTo = 0
			return false, nil
		}
		if err != nil {
			return false, err
		}
		var text []byte
		err = s.db.GetContext(ctx, &text, "SELECT rules FROM boards WHERE id = ?", board)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
		var rules leaderboard.Rules
		if len(text) > 0 {
			if err := json.Unmarshal(text, &rules); err != nil {
				s.recordsUpTo = board // it keeps nobody else's
				return false, err
			}
		}
		const remove = "DELETE FROM submissions WHERE board_id = ? AND recorded_at < ? ORDER BY recorded_at, id LIMIT ?"
		n, err := s.Delete(ctx, remove, board, s.before(rules.RecordFor()), Rows)
		if err != nil {
			s.recordsUpTo = board
			return false, err
		}
		if n < Rows {
			s.recordsUpTo = board
		}
	}
	return true, nil
}
