package commit

import (
	"context"
	"errors"
	"slices"
	"time"

	"leaderboard/internal/boards"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// The extra parts of batches for several boards: which of the boards are derived, the order in which to lock the others,
// and idempotency keys that belong to no board.

// dropBlocked answers those requests that name a board whose lock another session holds, and returns the others.
func dropBlocked(reqs []request, blocked string) []request {
	err := mysql.Wrap("batch", errLocked(blocked))
	return slices.DeleteFunc(reqs, func(r request) bool {
		named := slices.Contains(r.head().boards, blocked)
		if named {
			r.head().drop(err)
		}
		return named
	})
}

// derivedAmong returns the derived boards among the given ones. They take no submissions, so a batch for several boards
// does not take their mutexes and locks, which one of their steps may hold for seconds. The database is asked only about
// boards that are not remembered as ordinary boards. A board that is remembered as derived is checked too, because another
// server may have made it an ordinary board. When no answer comes, the locks decide as for any board.
func derivedAmong(d *mysql.DB, memory *boards.Cache, names []string) map[string]bool {
	unsure := slices.DeleteFunc(names, func(name string) bool {
		k, ok := memory.Get(name)
		return ok && k.Board.Rules.Derive == nil
	})
	if len(unsure) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), d.Config.ReadTimeout)
	defer cancel()
	derived := map[string]bool{}
	for chunk := range slices.Chunk(unsure, mysql.MaxRows) {
		var found [][]byte
		if err := d.Pool.SelectContext(ctx, &found, d.Limited(derivedQuery(chunk))); err != nil {
			d.Log.DebugContext(ctx, "it is not known which boards are derived", "error", err)
		}
		for _, name := range found {
			derived[string(name)] = true
		}
	}
	return derived
}

func derivedQuery(names []string) string {
	t := (&mysql.Text{}).Str("SELECT b.name FROM boards b STRAIGHT_JOIN derived_boards d ON d.board_id = b.id WHERE b.state = 'open' AND b.name IN (")
	return t.Hexes(names).Str(")").String()
}

// boardID is a board's id and name.
type boardID struct {
	ID   int64
	Name string
}

// lockOrder returns boards by id, as remembered, or from the database if a board is not remembered. All batches lock
// several boards in this order, and a batch for a single board waits for no other, so there is no cycle. (A remembered id
// may be wrong, when another server has deleted a board and made it again; a resulting cycle is a deadlock, and the batch
// is repeated with the right ids.)
func (t *transaction) lockOrder(ctx context.Context, names []string) ([]string, error) {
	if len(names) < 2 {
		return names, nil
	}
	ids := make([]boardID, 0, len(names))
	for _, name := range names {
		if k, ok := t.memory.Get(name); ok {
			ids = append(ids, boardID{k.Board.ID, name})
		}
	}
	if len(ids) < len(names) {
		var err error
		if ids, err = t.readIDs(ctx, names); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(ids, func(a, b boardID) int { return int(min(1, max(-1, a.ID-b.ID))) })
	names = names[:0]
	for _, id := range ids {
		names = append(names, id.Name)
	}
	return names, nil
}

// readIDs reads the ids of the boards that exist.
func (t *transaction) readIDs(ctx context.Context, names []string) ([]boardID, error) {
	var ids []boardID
	for chunk := range slices.Chunk(names, mysql.MaxRows) {
		t.text.Reset()
		appendReadIDs(t.text, chunk)
		rows, err := t.Conn.QueryContext(ctx, t.text.String())
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var b boardID
			if err := rows.Scan(&b.ID, &b.Name); err != nil {
				return nil, err
			}
			ids = append(ids, b)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func appendReadIDs(t *mysql.Text, names []string) {
	t.Str("SELECT id, name FROM boards WHERE name IN (").Hexes(names).Str(") AND state = 'open'")
}

// readKeys reads the idempotency keys of requests for several boards, and the clock with which new keys are stored. All
// locks are held: a repetition names the same boards, so it waits for the first.
func (t *transaction) readKeys(ctx context.Context, wanted []string) (keys map[string]keyRow, clock leaderboard.Micros, err error) {
	t.text.Reset()
	t.text.Str(t.Opening()).Str("SELECT ").Str(t.db.Sysdate()).Str(";")
	appendReadKeys(t.text, noBoard, wanted)
	rows, err := t.Conn.QueryContext(ctx, t.text.String())
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	var sysdate time.Time
	for rows.Next() {
		if err := rows.Scan(&sysdate); err != nil {
			return nil, 0, err
		}
	}
	keys = map[string]keyRow{}
	return keys, leaderboard.MicrosOf(sysdate), errors.Join(scanKeys(rows, wanted, keys), rows.Close())
}
