package index

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// savedChunk is how many bytes of an index one row has: little enough for every max_allowed_packet.
const savedChunk = 512 << 10

// savedIndexes is where indexes are saved: the table rank_indexes.
type savedIndexes struct{ db *mysql.DB }

// savedIndex is the saved index of a period, whole or under way.
type savedIndex struct {
	seq     int64
	savedAt leaderboard.Micros
	payload []byte
	whole   bool // no row is missing, or belongs to another index
}

// read reads the rows of an index; nil when it has no rows.
func (s savedIndexes) read(ctx context.Context, ref leaderboard.PeriodRef) (*savedIndex, error) {
	rows, err := s.db.Pool.QueryContext(ctx, "SELECT chunk, chunks, seq, saved_at, payload FROM rank_indexes WHERE period_id = ? AND incarnation = ?"+
		" ORDER BY chunk", ref.ID, ref.Incarnation)
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

// write replaces the rows of an index. Unless must is set, it keeps an index that another process saved at a later state of
// the same incarnation. For a period that is gone, or has been restored as another one, nothing is saved.
func (s savedIndexes) write(ctx context.Context, ref leaderboard.PeriodRef, seq int64, payload []byte, must bool) error {
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) error { return s.writeIn(ctx, tx, ref, seq, payload, must) })
	if err != nil {
		return err
	}
	return s.forgetIfGone(ctx, ref.ID)
}

func (s savedIndexes) writeIn(ctx context.Context, tx *sqlx.Tx, ref leaderboard.PeriodRef, seq int64, payload []byte, must bool) error {
	var stored sql.NullInt64
	err := tx.QueryRowContext(ctx, "SELECT r.seq FROM periods p LEFT JOIN rank_indexes r ON r.period_id = p.id AND r.chunk = 0"+
		" AND r.incarnation = p.incarnation AND r.seq <= p.last_seq WHERE p.id = ? AND p.incarnation = ?", ref.ID, ref.Incarnation).Scan(&stored)
	if errors.Is(err, sql.ErrNoRows) || err == nil && !must && stored.Valid && stored.Int64 >= seq {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM rank_indexes WHERE period_id = ?", ref.ID); err != nil {
		return err
	}
	var now time.Time
	if err := tx.QueryRowContext(ctx, "SELECT "+s.db.Now()).Scan(&now); err != nil {
		return err
	}
	chunks := slices.Collect(slices.Chunk(payload, savedChunk))
	for i, chunk := range chunks {
		_, err := tx.ExecContext(ctx, "INSERT INTO rank_indexes (period_id, chunk, chunks, incarnation, seq, saved_at, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
			ref.ID, i, len(chunks), ref.Incarnation, seq, now, chunk)
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetIfGone removes the rows that were saved for a period that was deleted meanwhile. The deletion marks the period first
// and then removes rows, so that one of the two finds them.
func (s savedIndexes) forgetIfGone(ctx context.Context, periodID int64) error {
	_, err := entries.StateOf(ctx, s.db, s.db.Pool, periodID)
	if errors.Is(err, leaderboard.ErrPeriodNotFound) {
		_, err = s.db.Pool.ExecContext(ctx, "DELETE FROM rank_indexes WHERE period_id = ?", periodID)
	}
	return err
}

// remove removes an index that cannot be used, unless it was saved again since it was looked at.
func (s savedIndexes) remove(ctx context.Context, row lagging) error {
	_, err := s.db.Pool.ExecContext(ctx, "DELETE FROM rank_indexes WHERE period_id = ? AND incarnation = ? AND saved_at = ?", row.ID, row.Incarnation, row.SavedAt)
	return err
}
