package store

import (
	"context"
	"errors"
	"math"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// How much history of runs is kept.
const (
	keptRuns = 10_000
	runTTL   = 30 * 24 * time.Hour
)

// Sweep does the housekeeping: it finishes the deletion of boards, closes periods that have ended, deletes those that
// their boards do not keep, forgets idempotency keys older than KeyTTL, commits in the change log older than ChangeTTL,
// and runs that are older than 30 days or not among the last 10,000 (but for the records of reopened periods). Rank
// indexes follow the log, and are saved. In the end it goes on hiding, restoring and erasing members. It works in
// bounded steps and goes on after an error with the next job; it may be interrupted and repeated at any time, and by
// several processes at once. It reads the database clock only.
func (s *Store) Sweep(ctx context.Context) error {
	now, err := s.Now(ctx)
	if err != nil {
		return err
	}
	done := errors.Join(
		db.Translate(ctx, "sweep boards", s.sweepBoards(ctx)),
		db.Translate(ctx, "close periods", s.closePeriods(ctx, now)),
		db.Translate(ctx, "sweep periods", s.sweepPeriods(ctx)),
		db.Translate(ctx, "sweep keys", s.sweepKeys(ctx, now)),
		db.Translate(ctx, "sweep indexes", s.indexes.Sweep(ctx)), // before the log that they follow is pruned
		db.Translate(ctx, "sweep changes", s.sweepChanges(ctx, now)),
		db.Translate(ctx, "sweep runs", s.sweepRuns(ctx, now)),
	)
	// These come last, because they may take all the time that there is: the first leaves half of it to the second.
	half, cancel := halfOf(ctx)
	defer cancel()
	done = errors.Join(done, db.Translate(half, "sweep hidden members", s.sweepHidden(half)))
	return errors.Join(done, db.Translate(ctx, "sweep erasures", s.sweepErasures(ctx)))
}

// halfOf returns a context that ends when half of the time is over that ctx has left.
func halfOf(ctx context.Context) (context.Context, context.CancelFunc) {
	if end, ok := ctx.Deadline(); ok {
		return context.WithTimeout(ctx, time.Until(end)/2)
	}
	return context.WithCancel(ctx)
}

func (s *Store) sweepBoards(ctx context.Context) error {
	var ids []int64
	const retired = "SELECT id FROM boards WHERE name >= '" + deletedMark + "' AND state = 'deleting' ORDER BY name LIMIT 100"
	if err := s.db.SelectContext(ctx, &ids, retired); err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := s.purgeBoard(ctx, id, math.MaxInt); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) sweepKeys(ctx context.Context, now leaderboard.Micros) error {
	const query = "DELETE FROM idempotency_keys WHERE created_at < ? ORDER BY created_at LIMIT ?"
	for {
		n, err := s.deleteSome(ctx, query, before(now, s.cfg.KeyTTL), purgeRows)
		if err != nil || n < purgeRows {
			return err
		}
	}
}

func before(now leaderboard.Micros, age time.Duration) time.Time { return now.Time().Add(-age) }

// followTTL is how long the log of a source is kept for a derived board that does not get on.
const followTTL = 24 * time.Hour

func (s *Store) sweepChanges(ctx context.Context, now leaderboard.Micros) error {
	followed, err := s.followedSeqs(ctx)
	if err != nil {
		return err
	}
	for last := int64(0); ; {
		var ids []int64
		if err := s.db.SelectContext(ctx, &ids, "SELECT id FROM periods WHERE id > ? ORDER BY id LIMIT ?", last, purgeRows); err != nil {
			return err
		}
		for _, id := range ids {
			upTo, ok := followed[id]
			if !ok {
				upTo = math.MaxInt64
			}
			if err := s.sweepLog(ctx, id, upTo, before(now, s.cfg.ChangeTTL)); err != nil {
				return err
			}
			if limit := before(now, followTTL); ok && s.cfg.ChangeTTL < followTTL {
				if err := s.sweepLog(ctx, id, math.MaxInt64, limit); err != nil {
					return err
				}
			}
		}
		if len(ids) < purgeRows {
			return nil
		}
		last = ids[len(ids)-1]
	}
}

// followedSeqs is by source how far all derived boards have followed it.
func (s *Store) followedSeqs(ctx context.Context) (map[int64]int64, error) {
	var rows []struct {
		ID  int64 `db:"source_period_id"`
		Seq int64 `db:"seq"`
	}
	const query = "SELECT source_period_id, MIN(seq) AS seq FROM derived_sources GROUP BY source_period_id"
	if err := s.db.SelectContext(ctx, &rows, query); err != nil {
		return nil, err
	}
	followed := make(map[int64]int64, len(rows))
	for _, r := range rows {
		followed[r.ID] = r.Seq
	}
	return followed, nil
}

// sweepLog deletes commits of a period up to a seq that were made before a time.
func (s *Store) sweepLog(ctx context.Context, id, upTo int64, limit time.Time) error {
	const oldest = "SELECT last_seq AS id, committed_at AS at FROM changes WHERE period_id = ? AND last_seq <= ? ORDER BY last_seq LIMIT ?"
	const remove = "DELETE FROM changes WHERE period_id = ? AND last_seq <= ? AND last_seq <= ? ORDER BY last_seq LIMIT ?"
	return s.sweepOldest(ctx, oldest, remove, limit, id, upTo)
}

func (s *Store) sweepRuns(ctx context.Context, now leaderboard.Micros) error {
	const oldest = "SELECT id, started_at AS at FROM runs WHERE kind <> 'reopen' ORDER BY id LIMIT ?"
	const remove = "DELETE FROM runs WHERE id <= ? AND kind <> 'reopen' ORDER BY id LIMIT ?"
	if err := s.sweepOldest(ctx, oldest, remove, before(now, runTTL)); err != nil {
		return err
	}
	var beyond []int64
	if err := s.db.SelectContext(ctx, &beyond, "SELECT id FROM runs WHERE kind <> 'reopen' ORDER BY id DESC LIMIT ?, 1", keptRuns); err != nil || len(beyond) == 0 {
		return err
	}
	for {
		n, err := s.deleteSome(ctx, remove, beyond[0], purgeRows)
		if err != nil || n < purgeRows {
			return err
		}
	}
}

// sweepOldest deletes rows that are in order of age, from the oldest to the last one before limit. A DELETE by time
// alone would scan all the younger rows, for want of an index on the time.
func (s *Store) sweepOldest(ctx context.Context, oldest, remove string, limit time.Time, args ...any) error {
	for {
		var rows []struct {
			ID int64     `db:"id"`
			At time.Time `db:"at"`
		}
		if err := s.db.SelectContext(ctx, &rows, oldest, append(args[:len(args):len(args)], purgeRows)...); err != nil {
			return err
		}
		old := 0
		for old < len(rows) && rows[old].At.Before(limit) {
			old++
		}
		if old == 0 {
			return nil
		}
		if _, err := s.deleteSome(ctx, remove, append(args[:len(args):len(args)], rows[old-1].ID, purgeRows)...); err != nil {
			return err
		}
		if old < purgeRows {
			return nil
		}
	}
}
