package index

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// startMaintenance has overgrown buckets split and the index saved, in the background, when there is reason to.
func (x *Indexes) startMaintenance(t *Tracker) {
	if !t.wantsWork(x.cfg.SaveEvery) || !t.maintained.CompareAndSwap(false, true) {
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

func (x *Indexes) maintain(ctx context.Context, t *Tracker) {
	for range 1 + maxHistory/splitAtOnce {
		n, err := x.split(ctx, t)
		if err != nil {
			if IsUseless(err) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
				x.Drop(t, err)
			} else if ctx.Err() == nil && !errors.Is(err, ErrTooOld) {
				x.db.Log.Info("buckets of a rank index are split later", "board", t.ref.Board, "error", err)
			}
			return
		}
		if n == 0 {
			break
		}
	}
	if t.wantsWork(x.cfg.SaveEvery) {
		x.saveQuietly(ctx, t)
	}
}

// Sweep folds the log into all indexes, so that it may be pruned, and saves those that were not for long.
func (x *Indexes) Sweep(ctx context.Context) error {
	errs := []error{x.advance(ctx)}
	for _, t := range x.all() {
		state, err := entries.StateOf(ctx, x.db, x.db, t.ref.ID)
		if err == nil {
			err = x.Reach(ctx, t, x.db, RankState(state))
		}
		if err == nil && t.unsavedFor() > x.cfg.ChangeTTL/4 {
			err = x.save(ctx, t, false)
		}
		if err == nil {
			continue
		}
		if IsUseless(err) || errors.Is(err, leaderboard.ErrPeriodNotFound) {
			x.Drop(t, err)
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
func (x *Indexes) advance(ctx context.Context) error {
	var rows []struct {
		ID      int64 `db:"id"`
		History int64 `db:"history"`
		BoardID int64 `db:"board_id"`
	}
	query := "SELECT p.id, p.history, p.board_id FROM rank_indexes r JOIN periods p ON p.id = r.period_id AND p.history = r.history WHERE r.chunk = 0" +
		" AND r.seq < p.last_seq AND p.state <> 'deleting' AND r.saved_at < " + x.db.Now() + " - INTERVAL ? MICROSECOND ORDER BY r.saved_at LIMIT ?"
	age := x.cfg.ChangeTTL / 2
	if err := x.db.SelectContext(ctx, &rows, x.db.Limited(query), age.Microseconds(), advancedAtOnce); err != nil {
		return err
	}
	for _, row := range rows {
		ref := leaderboard.PeriodRef{ID: row.ID, History: row.History, BoardID: row.BoardID}
		if x.Ready(ref) != nil {
			continue // follows the log already
		}
		t, err := x.load(ctx, ref)
		if err == nil && t != nil {
			err = x.save(ctx, t, false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// all returns the trackers in memory.
func (x *Indexes) all() []*Tracker {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []*Tracker
	for _, sl := range x.slots {
		if sl.tracker != nil {
			out = append(out, sl.tracker)
		}
	}
	return out
}

// Close ends the work in the background and saves what is not.
func (x *Indexes) Close() {
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

// Reach folds the log into the index until it is at m or later. q must see m: it is the transaction of the reader, or
// the pool. One reader reads the log, the others wait for it; the one that reads has the connection that it needs.
func (x *Indexes) Reach(ctx context.Context, t *Tracker, q db.Querier, m rank.State) error {
	if t.At().Seq < m.Seq {
		select {
		case t.reading <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := x.readUpTo(ctx, t, q, m.Seq)
		<-t.reading
		if err != nil {
			return err
		}
		x.startMaintenance(t)
	}
	return t.check(m)
}

func (x *Indexes) readUpTo(ctx context.Context, t *Tracker, q db.Querier, seq int64) error {
	for at := t.At(); at.Seq < seq; at = t.At() {
		n, err := readSteps(ctx, x.db, q, t.ref.ID, at.Seq, foldCommits, t.fold)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("%w: at seq %d, an answer was at %d", rank.ErrDiverged, at.Seq, seq)
		}
	}
	return nil
}

// splitAtOnce bounds the buckets that are cut together; cutting takes time in proportion to all buckets.
const splitAtOnce = 64

// split cuts overgrown buckets into parts of about the target, and returns how many buckets there were to cut.
func (x *Indexes) split(ctx context.Context, t *Tracker) (int, error) {
	spans := t.overgrown(splitAtOnce)
	var cuttings []cutting
	for _, span := range spans {
		found, err := x.cuttings(ctx, t, span)
		if err != nil {
			return 0, err
		}
		cuttings = append(cuttings, found...)
	}
	if len(cuttings) == 0 {
		return 0, nil
	}
	newest := cuttings[len(cuttings)-1].state
	if err := x.Reach(ctx, t, x.db, newest); err != nil {
		return 0, err
	}
	return len(spans), t.cut(cuttings)
}

// cuttings counts where to cut one bucket, part by part, each with one statement.
func (x *Indexes) cuttings(ctx context.Context, t *Tracker, span rank.Span) ([]cutting, error) {
	until, err := entries.BeforeKey(span.To)
	if err != nil {
		return nil, err
	}
	if span.To == "" {
		until = entries.End()
	}
	parts := span.Count / t.target
	size := (span.Count + parts - 1) / parts
	var out []cutting
	from := span.From
	for range parts - 1 {
		start, err := entries.BeforeKey(from)
		if err != nil {
			return nil, err
		}
		part := entries.Query{Scans: []entries.Scan{{Range: entries.Range{From: start, To: until}, Offset: size - 1, Limit: 2}}}
		r, err := part.Run(ctx, x.db, x.db, t.ref.ID)
		if err != nil {
			return nil, err
		}
		keys := r.Keys[0]
		if len(keys) < 2 {
			break
		}
		at := entries.Between(keys[0], keys[1])
		out = append(out, cutting{span: span, from: from, at: at, left: size, state: RankState(r.State)})
		from = at
	}
	return out, nil
}

// save writes an index if it changed since it was saved; see writeIndex for must.
func (x *Indexes) save(ctx context.Context, t *Tracker, must bool) error {
	t.mu.RLock()
	at, unsaved := t.index.At(), t.unsaved
	payload, err := t.index.AppendBinary(nil)
	t.mu.RUnlock()
	if err != nil || unsaved == 0 {
		return err
	}
	if err := x.saved.write(ctx, t.ref, at.Seq, payload, must); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsaved -= unsaved
	t.savedAt = time.Now()
	return nil
}

// saveQuietly is save where nobody can be told about a failure: the index is built from scratch when the log is pruned.
func (x *Indexes) saveQuietly(ctx context.Context, t *Tracker) {
	if err := x.save(ctx, t, false); err != nil && !errors.Is(err, rank.ErrDamaged) {
		x.db.Log.Warn("a rank index is not saved", "board", t.ref.Board, "period", t.ref.ID, "error", err)
	}
}
