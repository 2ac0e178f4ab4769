package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

const (
	// pagePeriods is how many periods are worked on together.
	pagePeriods = mysql.MaxRows
	// pageBoards is how many deleted boards are looked at together.
	pageBoards = leaderboard.MaxPurgeBoards
)

// Steps counts statements down to where a caller wants to stop, and knows when a slice is over.
type Steps struct {
	Left  int
	Slice Slice
	// Small: a table that has more rows than one statement deletes ends the work.
	Small bool
}

// next reports whether there may be another statement.
func (s *Steps) next() bool {
	s.Left--
	return s.Left >= 0 && !s.Slice.Over()
}

// PurgeBoard deletes the rows of a board that no reader finds any longer, and reports whether it finished. Each statement
// is a separate transaction, so it may end anywhere and start again.
func (s *Sweeper) PurgeBoard(ctx context.Context, id int64, steps *Steps) (finished bool, err error) {
	for _, query := range []string{
		"UPDATE periods FORCE INDEX (periods_open) SET state = 'deleting' WHERE board_id = ? AND state = 'open' ORDER BY id LIMIT ?",
		"UPDATE periods FORCE INDEX (periods_open) SET state = 'deleting' WHERE board_id = ? AND state = 'closed' ORDER BY id LIMIT ?",
	} {
		if finished, _, err := s.drain(ctx, steps, query, id); !finished {
			return false, err
		}
	}
	for {
		var periods []int64
		const next = "SELECT id FROM periods FORCE INDEX (periods_board) WHERE board_id = ? ORDER BY id LIMIT ?"
		if err := s.db.Pool.SelectContext(ctx, &periods, next, id, pagePeriods); err != nil {
			return false, err
		}
		if len(periods) == 0 {
			break
		}
		if finished, err := s.purgePeriods(ctx, periods, steps); !finished {
			return false, err
		}
	}
	for _, query := range slices.Concat([]string{
		"DELETE FROM idempotency_keys WHERE board_id = ? ORDER BY idempotency_key LIMIT ?",
		"DELETE FROM hidden_members WHERE board_id = ? ORDER BY member LIMIT ?",
		"DELETE FROM runs WHERE board_id = ? ORDER BY id LIMIT ?",
		"DELETE FROM board_labels WHERE board_id = ? ORDER BY label LIMIT ?",
	}, s.alsoPurge, []string{"DELETE FROM boards WHERE id = ? AND state = 'deleting' LIMIT ?"}) {
		if finished, _, err := s.drain(ctx, steps, query, id); !finished {
			return false, err
		}
	}
	return true, nil
}

// purgePeriods deletes the rows of periods, their own last, and reports whether it finished.
func (s *Sweeper) purgePeriods(ctx context.Context, ids []int64, steps *Steps) (finished bool, err error) {
	if finished, err := s.purgeKept(ctx, ids, steps); !finished {
		return false, err
	}
	for i, query := range purgeQueries(ids) {
		finished, rows, err := s.drain(ctx, steps, query)
		if i == 0 {
			err = errors.Join(err, s.countDown(ctx, ids, rows))
		}
		if !finished || err != nil {
			return false, err
		}
	}
	return true, nil
}

// countDown subtracts the deleted entries, which belong to the first periods, from the counts of the periods: the counts
// are the amount left to delete.
func (s *Sweeper) countDown(ctx context.Context, ids []int64, deleted int64) error {
	if deleted == 0 {
		return nil
	}
	var counts []struct {
		ID      int64 `db:"id"`
		Entries int64 `db:"entry_count"`
	}
	of := (&mysql.Text{}).Str("FROM periods WHERE id IN (").Ints(ids).Str(") ORDER BY id").String()
	if err := s.db.Pool.SelectContext(ctx, &counts, "SELECT id, entry_count "+of); err != nil {
		return err
	}
	const count = "UPDATE periods SET entry_count = CASE WHEN entry_count > ? THEN entry_count - ? ELSE 0 END WHERE id = ? AND CONCAT(state) = 'deleting'"
	for _, c := range counts {
		n := min(c.Entries, deleted)
		if n == 0 {
			continue
		}
		if _, err := s.Delete(ctx, count, n, n, c.ID); err != nil {
			return err
		}
		if deleted -= n; deleted == 0 {
			break
		}
	}
	return nil
}

// purgeQueries are the statements that delete the rows of periods, in the order of their primary keys.
func purgeQueries(ids []int64) []string {
	hidden := make([]int64, len(ids))
	for i, id := range ids {
		hidden[i] = -id
	}
	of := func(from string, ids []int64, order string) string {
		return (&mysql.Text{}).Str("DELETE FROM " + from + " IN (").Ints(ids).Str(") ORDER BY " + order + " LIMIT ?").String()
	}
	return []string{
		of("entries WHERE period_id", ids, "period_id, member"),
		of("entries WHERE period_id", hidden, "period_id, member"),
		of("changes WHERE period_id", ids, "period_id, last_seq"),
		of("rank_indexes WHERE period_id", ids, "period_id, chunk"),
		of("periods WHERE CONCAT(state) = 'deleting' AND id", ids, "id"), // by id, not by an index of the state
	}
}

// purgeKept deletes the data kept with the entries of periods, and reports whether it finished.
func (s *Sweeper) purgeKept(ctx context.Context, ids []int64, steps *Steps) (finished bool, err error) {
	if s.cfg.Kept == nil {
		return true, nil
	}
	for steps.next() {
		n := 0
		err := s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
			n, err = s.cfg.Kept.PurgeKept(ctx, tx, ids, Rows)
			return err
		})
		if err != nil {
			return false, err
		}
		if n < Rows {
			return true, nil
		}
		if steps.Small {
			break
		}
	}
	return false, nil
}

// drain repeats a statement until it finds fewer than Rows rows, and returns how many it found in all.
func (s *Sweeper) drain(ctx context.Context, steps *Steps, query string, args ...any) (finished bool, rows int64, err error) {
	for steps.next() {
		n, err := s.Delete(ctx, query, append(args[:len(args):len(args)], Rows)...)
		if err != nil {
			return false, rows, fmt.Errorf("%w: %s", err, query[:min(len(query), 60)])
		}
		if rows += n; n < Rows {
			return true, rows, nil
		}
		if steps.Small {
			break
		}
	}
	return false, rows, nil
}

// MeasurePurge looks how much is left to delete, for Purge.
func (s *Sweeper) MeasurePurge(ctx context.Context) error {
	var p leaderboard.Purge
	if err := s.db.Pool.QueryRowContext(ctx, s.db.Limited(purgeLeft), pageBoards, pagePeriods).Scan(&p.Boards, &p.Entries); err != nil {
		return err
	}
	s.purge.Store(&p)
	return nil
}

// Purge returns how much is left to delete, as MeasurePurge last found it.
func (s *Sweeper) Purge() leaderboard.Purge {
	if p := s.purge.Load(); p != nil {
		return *p
	}
	return leaderboard.Purge{}
}

const (
	boardsRetired = "SELECT id FROM boards WHERE name >= '" + DeletedMark + "' AND state = 'deleting' ORDER BY name LIMIT ?"
	periodsGiven  = "SELECT id FROM periods WHERE state = 'deleting' ORDER BY ends_at LIMIT ?"
	purgeLeft     = "SELECT (SELECT COUNT(*) FROM (" + boardsRetired + ") b)," +
		" (SELECT COALESCE(SUM(p.entry_count), 0) FROM (SELECT entry_count FROM periods WHERE state = 'deleting' ORDER BY ends_at LIMIT ?) p)"
)

// Boards continues the deletion of boards.
func (s *Sweeper) Boards(ctx context.Context, slice Slice) (more bool, err error) {
	defer func() { err = errors.Join(err, s.MeasurePurge(ctx)) }()
	var ids []int64
	if err := s.db.Pool.SelectContext(ctx, &ids, boardsRetired, pageBoards); err != nil {
		return false, err
	}
	Order(&s.boards, ids, func(id int64) int64 { return id })
	var failed error
	for _, id := range ids {
		if slice.Over() {
			return true, failed
		}
		s.boards.Begin(id)
		finished, err := s.PurgeBoard(ctx, id, &Steps{Left: math.MaxInt, Slice: slice})
		if failed = errors.Join(failed, err); ctx.Err() != nil {
			return true, failed
		}
		if finished {
			s.db.Log.InfoContext(ctx, "a deleted board is gone", "board", id)
		}
		more = more || !finished
	}
	return more || len(ids) == pageBoards, failed
}

// Periods continues the deletion of periods, also of deleted boards.
func (s *Sweeper) Periods(ctx context.Context, slice Slice) (more bool, err error) {
	for !slice.Over() {
		var ids []int64
		if err := s.db.Pool.SelectContext(ctx, &ids, periodsGiven, pagePeriods); err != nil || len(ids) == 0 {
			return false, err
		}
		slices.Sort(ids)
		finished, err := s.purgePeriods(ctx, ids, &Steps{Left: math.MaxInt, Slice: slice})
		if err != nil {
			return false, err
		}
		if finished {
			s.db.Log.InfoContext(ctx, "old periods are deleted", "periods", len(ids))
		}
		if finished && len(ids) < pagePeriods {
			return false, nil
		}
	}
	return true, nil
}
