package store

import (
	"context"
	"errors"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// batch is what a committed batch led to.
type batch struct {
	answers []answer // one per request
	commits []notice
	shadows bool // entries of hidden members are to be committed
}

// notice is a commit that followers are told about.
type notice struct {
	ref    leaderboard.PeriodRef
	commit *leaderboard.Commit
}

// keyRow is a row of idempotency_keys.
type keyRow struct {
	key    string
	hash   [32]byte
	answer answer // without an error
}

// try carries a batch out once. An error wraps ErrOutcomeUnknown when COMMIT was sent and no answer came; after every
// other error the transaction is rolled back.
func (w *writer) try(ctx context.Context, reqs []*request) (*batch, error) {
	tx, err := w.store.db.Begin(ctx)
	if err != nil {
		return nil, err
	}
	b, err := w.transact(ctx, tx, reqs)
	return b, errors.Join(err, tx.End())
}

// transact takes three round trips: lock and read, write, commit. COMMIT goes alone, so that an answer to what was
// written decides that it was not committed.
func (w *writer) transact(ctx context.Context, tx *db.Tx, reqs []*request) (*batch, error) {
	find := w.lockAndRead
	if w.board == acrossQueue {
		find = w.lockAndReadAcross
	}
	found, err := find(ctx, tx, reqs)
	if err != nil {
		return nil, err
	}
	b := &batch{}
	var keys []keyRow
	b.answers, keys = receipts(reqs, found)
	if err := w.write(ctx, tx, found, keys, b); err != nil {
		return nil, err
	}
	if len(b.commits) == 0 && len(keys) == 0 && !b.shadows && !found.turned {
		return b, nil // nothing to commit
	}
	return b, tx.Commit(ctx)
}

// write sends all that a batch writes in one packet. The last statement is the one whose row count is checked.
func (w *writer) write(ctx context.Context, tx *db.Tx, f *found, keys []keyRow, b *batch) error {
	t := &w.text
	t.Reset()
	if err := appendKeys(t, f.rules.boardID, f.clock, keys); err != nil {
		return err
	}
	changed := slices.DeleteFunc(slices.Clone(f.periods), func(p *period) bool { return len(p.changes) == 0 })
	appendEntries(t, f.periods)
	b.shadows = appendShadowTimes(t, f.periods)
	for _, p := range changed {
		b.commits = append(b.commits, notice{p.ref, p.commit()})
	}
	for _, p := range f.periods {
		appendReopenings(t, p)
	}
	appendLog(t, changed, b.commits)
	if len(changed) > 0 {
		appendAdvance(t, changed, b.commits)
	}
	if t.Len() == 0 {
		return nil
	}
	result, err := tx.Conn.ExecContext(ctx, t.String())
	if err != nil || len(changed) == 0 {
		return err
	}
	return checkAdvance(result, changed)
}
