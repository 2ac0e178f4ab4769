package index

import (
	"context"
	"errors"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// savedChunk is how many bytes of an index one row has: little enough for every max_allowed_packet.
const savedChunk = 512 << 10

// savedIndexes is where indexes are saved: the table rank_indexes.
type savedIndexes struct{ db *db.DB }

// savedIndex is what is saved of a period's index, whole or under way.
type savedIndex struct {
	seq     int64
	savedAt leaderboard.Micros
	payload []byte
	whole   bool // no row is missing, or belongs to another index
}

// read reads the rows of an index; nil when there are none.
func (s savedIndexes) read(ctx context.Context, periodID int64) (*savedIndex, error) {
	rows, err := s.db.QueryContext(ctx, "SELECT chunk, chunks, seq, saved_at, payload FROM rank_indexes WHERE period_id = ? ORDER BY chunk", periodID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out *savedIndex
	expected, next := 0, 0
	for rows.Next() {
		var (
			chunk, chunks int
			seq           int64
			savedAt       time.Time
			payload       []byte
		)
		if err := rows.Scan(&chunk, &chunks, &seq, &savedAt, &payload); err != nil {
			return nil, err
		}
		if out == nil {
			out, expected = &savedIndex{seq: seq, savedAt: leaderboard.MicrosOf(savedAt), whole: true}, chunks
		}
		out.whole = out.whole && chunk == next && chunks == expected && seq == out.seq && leaderboard.MicrosOf(savedAt) == out.savedAt
		out.payload = append(out.payload, payload...)
		next++
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if out != nil {
		out.whole = out.whole && next == expected
	}
	return out, nil
}

// write replaces the rows of an index. Unless it must, it leaves alone what another process saved later in the
// same history.
func (s savedIndexes) write(ctx context.Context, periodID, seq int64, payload []byte, must bool) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var stored []int64
	rows, err := tx.QueryContext(ctx, "SELECT r.seq FROM rank_indexes r JOIN periods p ON p.id = r.period_id"+
		" WHERE r.period_id = ? AND r.seq <= p.last_seq ORDER BY r.chunk", periodID)
	if err != nil {
		return err
	}
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return errors.Join(err, rows.Close())
		}
		stored = append(stored, n)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	if !must && len(stored) > 0 && stored[0] >= seq {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM rank_indexes WHERE period_id = ?", periodID); err != nil {
		return err
	}
	var now time.Time
	if err := tx.QueryRowContext(ctx, "SELECT "+s.db.Now()).Scan(&now); err != nil {
		return err
	}
	chunks := slices.Collect(slices.Chunk(payload, savedChunk))
	for i, chunk := range chunks {
		_, err := tx.ExecContext(ctx, "INSERT INTO rank_indexes (period_id, chunk, chunks, seq, saved_at, payload) VALUES (?, ?, ?, ?, ?, ?)",
			periodID, i, len(chunks), seq, now, chunk)
		if err != nil {
			return err
		}
	}
	if err := db.Commit(tx); err != nil {
		return err
	}
	return s.forgetIfGone(ctx, periodID)
}

// forgetIfGone removes what was saved for a period that was deleted meanwhile. The deletion marks the period first and
// then removes rows, so that one of the two finds them.
func (s savedIndexes) forgetIfGone(ctx context.Context, periodID int64) error {
	_, err := entries.StateOf(ctx, s.db, s.db, periodID)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) {
		_, err = s.db.ExecContext(ctx, "DELETE FROM rank_indexes WHERE period_id = ?", periodID)
	}
	return err
}
