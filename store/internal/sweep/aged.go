package sweep

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// How much history of runs is kept.
const (
	keptRuns = 10_000
	runTTL   = 30 * 24 * time.Hour
)

const (
	keysNext  = "SELECT created_at FROM idempotency_keys WHERE created_at >= ? AND created_at < ? ORDER BY created_at LIMIT ?, 1"
	auditNext = "SELECT logged_at FROM audit WHERE logged_at >= ? AND logged_at < ? ORDER BY logged_at LIMIT ?, 1"
	runsNext  = "SELECT id, started_at FROM runs FORCE INDEX (PRIMARY) WHERE id > ? AND kind <> 'reopen' ORDER BY id LIMIT ?"
	runsKept  = "SELECT id FROM runs FORCE INDEX (PRIMARY) WHERE id > 0 AND kind <> 'reopen' ORDER BY id DESC LIMIT ?, 1"
)

// Keys deletes idempotency keys older than KeyTTL, from the oldest on.
func (s *Sweeper) Keys(ctx context.Context, slice Slice) (more bool, err error) {
	const remove = "DELETE FROM idempotency_keys WHERE created_at >= ? AND created_at < ? ORDER BY created_at LIMIT ?"
	return s.Aged(ctx, slice, keysNext, remove, s.Before(s.cfg.KeyTTL))
}

// Audit deletes records of changes older than AuditTTL, from the oldest on.
func (s *Sweeper) Audit(ctx context.Context, slice Slice) (more bool, err error) {
	const remove = "DELETE FROM audit WHERE logged_at >= ? AND logged_at < ? ORDER BY logged_at LIMIT ?"
	return s.Aged(ctx, slice, auditNext, remove, s.Before(s.cfg.AuditTTL))
}

// Aged deletes rows that are older than a limit, by statements that take a span of time: next finds the time up to which
// there is a number of rows, remove deletes as many.
func (s *Sweeper) Aged(ctx context.Context, slice Slice, next, remove string, limit time.Time) (more bool, err error) {
	from := time.Unix(0, 0).UTC()
	for !slice.Over() {
		// From where the last statement ended: the server may still have to skip deleted rows.
		var end time.Time
		err := s.db.Pool.GetContext(ctx, &end, next, from, limit, Rows-1)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return false, err
		}
		n, err := s.Delete(ctx, remove, from, limit, Rows)
		if err != nil || n < Rows {
			return false, err
		}
		from = end
	}
	return true, nil
}

// Runs deletes records of runs that are older than 30 days or not among the last 10,000, except records of reopened
// periods.
func (s *Sweeper) Runs(ctx context.Context, slice Slice) (more bool, err error) {
	var beyond int64
	if err := s.db.Pool.GetContext(ctx, &beyond, runsKept, keptRuns); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	for !slice.Over() {
		// After the rows that are gone already: reopen records are kept for ever, and are skipped once.
		var rows []struct {
			ID int64     `db:"id"`
			At time.Time `db:"started_at"`
		}
		if err := s.db.Pool.SelectContext(ctx, &rows, runsNext, s.runsUpTo, Rows); err != nil {
			return false, err
		}
		old := 0
		for old < len(rows) && (rows[old].ID <= beyond || rows[old].At.Before(s.Before(runTTL))) {
			old++
		}
		if old == 0 {
			if len(rows) > 0 {
				s.runsUpTo = rows[0].ID - 1
			}
			return false, nil
		}
		last := rows[old-1].ID
		const remove = "DELETE FROM runs WHERE id > ? AND id <= ? AND kind <> 'reopen' ORDER BY id LIMIT ?"
		if _, err := s.Delete(ctx, remove, s.runsUpTo, last, Rows); err != nil {
			return false, err
		}
		s.runsUpTo = last
		if old < Rows {
			return false, nil
		}
	}
	return true, nil
}
