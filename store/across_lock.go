package store

import (
	"context"
	"errors"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// lockAndReadAcross begins the transaction and does for each board of the batch what lockAndRead does for one, in the
// order of the boards' ids. Whoever locks several boards takes them in this order, and whoever locks one waits for no
// other, so there is no circle. (An id may be known wrongly, when another server made a board anew; a circle that comes
// of it is a deadlock, and the batch is repeated with the right ids.) The idempotency keys are read when all locks are
// held: a repetition names the same boards, so it waits for the first.
func (w *writer) lockAndReadAcross(ctx context.Context, tx *db.Tx, reqs []*request) (*found, error) {
	boards, err := w.inLockOrder(ctx, tx, w.lockable(reqs))
	if err != nil {
		return nil, err
	}
	all := &found{rules: &boardRules{boardID: acrossBoardID}, boards: map[string]*found{}, none: w.derived}
	parts := partsOf(reqs)
	for _, b := range boards {
		one := writer{store: w.store, board: b.Name, text: w.text}
		f, err := one.lockAndRead(ctx, tx, []*request{parts[b.Name]})
		w.text = one.text
		if errors.Is(err, leaderboard.ErrBoardNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all.boards[b.Name] = f
		all.periods = append(all.periods, f.periods...)
		all.turned = all.turned || f.turned
	}
	return all, w.readAcrossKeys(ctx, tx, all, reqs)
}

// boardID is a board's name and id.
type boardID struct {
	ID   int64
	Name string
}

// inLockOrder are the boards that exist, by id: as they are remembered, or as the database says when one is not.
func (w *writer) inLockOrder(ctx context.Context, tx *db.Tx, names []string) ([]boardID, error) {
	boards := make([]boardID, 0, len(names))
	for _, name := range names {
		if v, ok := w.store.rules.Load(name); ok {
			boards = append(boards, boardID{v.(*boardRules).boardID, name})
		}
	}
	if len(boards) < len(names) {
		var err error
		if boards, err = w.askIDs(ctx, tx, names); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(boards, func(a, b boardID) int { return int(min(1, max(-1, a.ID-b.ID))) })
	return boards, nil
}

func (w *writer) askIDs(ctx context.Context, tx *db.Tx, names []string) ([]boardID, error) {
	var boards []boardID
	for chunk := range slices.Chunk(names, db.MaxRows) {
		t := &w.text
		t.Reset()
		appendAskIDs(t, chunk)
		rows, err := tx.Conn.QueryContext(ctx, t.String())
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var b boardID
			if err := rows.Scan(&b.ID, &b.Name); err != nil {
				return nil, err
			}
			boards = append(boards, b)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	return boards, nil
}

func appendAskIDs(t *db.Text, names []string) {
	t.Str("SELECT id, name FROM boards WHERE name IN (").Hexes(names).Str(") AND state = 'open'")
}

// readAcrossKeys reads the idempotency keys of a batch across boards, and the clock that those to add are stored with.
func (w *writer) readAcrossKeys(ctx context.Context, tx *db.Tx, all *found, reqs []*request) error {
	r := newReading(acrossBoardID, nil, nil, reqs)
	if all.keys = map[string]keyRow{}; len(r.keys) == 0 {
		return nil
	}
	t := &w.text
	t.Reset()
	t.Str(tx.Opening()).Str("SELECT ").Str(w.store.db.Sysdate()).Str(";")
	r.appendKeysTo(t)
	rows, err := tx.Conn.QueryContext(ctx, t.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	var sysdate time.Time
	for rows.Next() {
		if err := rows.Scan(&sysdate); err != nil {
			return err
		}
	}
	all.clock = leaderboard.MicrosOf(sysdate)
	return errors.Join(r.scanKeysOf(rows, all.keys), rows.Close())
}
