package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// tend has overgrown buckets split and the index saved, in the background, when there is reason to.
func (x *indexes) tend(t *tracker) {
	if !t.wantsWork(x.store.cfg.IndexSaveEvery) || !t.maintained.CompareAndSwap(false, true) {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		t.maintained.Store(false)
		return
	}
	x.work.Go(func() {
		defer t.maintained.Store(false)
		x.maintain(x.ctx, t)
	})
}

func (x *indexes) maintain(ctx context.Context, t *tracker) {
	for range 1 + maxHistory/splitAtOnce {
		n, err := x.split(ctx, t)
		if err != nil {
			if isUseless(err) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
				x.drop(t, err)
			} else if ctx.Err() == nil && !errors.Is(err, errTooOld) {
				x.store.db.Log.Info("buckets of a rank index are split later", "board", t.ref.Board, "error", err)
			}
			return
		}
		if n == 0 {
			break
		}
	}
	if t.wantsWork(x.store.cfg.IndexSaveEvery) {
		x.saveQuietly(ctx, t)
	}
}

// sweep folds the log into all indexes, so that it may be pruned, and saves those that were not for long.
func (x *indexes) sweep(ctx context.Context) error {
	errs := []error{x.advance(ctx)}
	for _, t := range x.all() {
		period, err := x.store.Period(ctx, t.ref.ID)
		if err == nil {
			err = x.reach(ctx, t, x.store.db, rank.Mark{Seq: period.LastSeq, AsOf: period.Committed, Total: period.EntryCount})
		}
		if err == nil && t.unsavedFor() > x.store.cfg.ChangeTTL/4 {
			err = x.save(ctx, t, false)
		}
		if err == nil {
			continue
		}
		if isUseless(err) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
			x.drop(t, err)
		} else {
			errs = append(errs, fmt.Errorf("rank index of period %d: %w", t.ref.ID, err))
		}
	}
	return errors.Join(errs...)
}

// advancedAtOnce bounds the saved indexes that one sweep brings forward.
const advancedAtOnce = 20

// advance brings forward what is saved of periods that change without being read here, before the log is pruned beyond
// it: a read must not find that only a build helps.
func (x *indexes) advance(ctx context.Context) error {
	var rows []struct {
		ID      int64 `db:"id"`
		BoardID int64 `db:"board_id"`
	}
	query := "SELECT p.id, p.board_id FROM rank_indexes r JOIN periods p ON p.id = r.period_id WHERE r.chunk = 0" +
		" AND r.seq < p.last_seq AND p.state <> 'deleting' AND r.saved_at < " + x.store.db.Now() + " - INTERVAL ? MICROSECOND ORDER BY r.saved_at LIMIT ?"
	age := x.store.cfg.ChangeTTL / 2
	if err := x.store.db.SelectContext(ctx, &rows, x.store.db.Limited(query), age.Microseconds(), advancedAtOnce); err != nil {
		return err
	}
	for _, row := range rows {
		if x.ready(row.ID) != nil {
			continue // follows the log already
		}
		t, err := x.load(ctx, leaderboard.PeriodRef{ID: row.ID, BoardID: row.BoardID})
		if err == nil && t != nil {
			err = x.save(ctx, t, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unsavedFor is how long ago an index that has changed was saved.
func (t *tracker) unsavedFor() time.Duration {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.unsaved == 0 {
		return 0
	}
	return time.Since(t.savedAt)
}

// all are the trackers at hand.
func (x *indexes) all() []*tracker {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []*tracker
	for _, sl := range x.slots {
		if sl.tracker != nil {
			out = append(out, sl.tracker)
		}
	}
	return out
}

// close ends the work in the background and saves what is not.
func (x *indexes) close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.cancel()
	x.work.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), db.TidyTimeout)
	defer cancel()
	for _, t := range x.all() {
		x.saveQuietly(ctx, t)
	}
}
