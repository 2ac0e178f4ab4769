package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// boardRules are a board's rules at one version and the periods that a batch found open, as the last batch found them.
// They are shared and never written to. The lock of the next batch says whether they still hold.
type boardRules struct {
	boardID, version int64
	rules            *leaderboard.Rules
	periods          []int64
}

// found is what a batch starts from.
type found struct {
	periods []*period // the one of the board's first window first
	keys    map[string]keyRow
}

// lockAndRead begins the transaction, locks, and reads all that the batch needs, in one packet as long as the board is
// what it was for the last batch. The reads see what is committed when the lock is held: under READ COMMITTED each
// statement has a snapshot of its own.
func (w *writer) lockAndRead(ctx context.Context, tx *writeTx, reqs []*request) (*found, error) {
	known := &boardRules{}
	if v, ok := w.store.rules.Load(w.board); ok {
		known = v.(*boardRules)
	}
	members := membersOf(reqs)
	t := &w.text
	t.reset()
	t.str("START TRANSACTION;")
	appendLock(t, w.board, known)
	guess := newReading(known.boardID, known.periods, members, reqs)
	guess.appendTo(t)
	rows, err := tx.conn.QueryContext(ctx, t.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	f := &found{}
	if f.periods, err = w.scanLock(rows, known); err != nil {
		return nil, err
	}
	ids := make([]int64, len(f.periods))
	for i, p := range f.periods {
		ids[i] = p.ref.ID
	}
	if slices.Equal(ids, known.periods) {
		f.keys, err = guess.scan(rows, f.periods)
		f.periods = firstWindowFirst(f.periods)
		return f, errors.Join(err, rows.Close())
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	fresh := *known
	if v, ok := w.store.rules.Load(w.board); ok {
		fresh = *v.(*boardRules)
	}
	fresh.periods = ids
	w.store.rules.Store(w.board, &fresh)
	r := newReading(f.periods[0].ref.BoardID, ids, members, reqs)
	t.reset()
	if r.appendTo(t); len(t.b) > 0 {
		if rows, err = tx.conn.QueryContext(ctx, "SELECT 1;"+t.String()); err != nil {
			return nil, err
		}
		defer rows.Close()
	}
	f.keys, err = r.scan(rows, f.periods)
	f.periods = firstWindowFirst(f.periods)
	return f, errors.Join(err, rows.Close())
}

// appendLock locks the board's row and those of its open periods, in id order, and reads them and the clock: SYSDATE,
// because NOW is the time before the wait. The board's rules come along only when they are not the ones known. The
// index is named because the order of locking follows from it, and because closed periods are many.
func appendLock(t *text, board string, known *boardRules) {
	t.str("SELECT b.id, b.version, IF(b.id = ").int(known.boardID).str(" AND b.version = ").int(known.version)
	t.str(", NULL, b.rules), p.id, p.window_name, p.last_seq, p.last_created_time, p.committed_at, p.entry_count, SYSDATE(6)")
	t.str(" FROM boards b STRAIGHT_JOIN periods p FORCE INDEX (periods_open) ON p.board_id = b.id WHERE b.name = ").hex(board)
	t.str(" AND b.state = 'open' AND p.state = 'open' ORDER BY p.id FOR UPDATE;")
}

// scanLock reads the answer to appendLock. Rules that are new are remembered, without periods.
func (w *writer) scanLock(rows *sql.Rows, known *boardRules) ([]*period, error) {
	var periods []*period
	for rows.Next() {
		var (
			p                               period
			version                         int64
			rules                           []byte
			lastCreated, committed, sysdate time.Time
		)
		p.ref.Board = w.board
		if err := rows.Scan(&p.ref.BoardID, &version, &rules, &p.ref.ID, &p.ref.Window, &p.lastSeq, &lastCreated,
			&committed, &p.count, &sysdate); err != nil {
			return nil, err
		}
		if known.boardID != p.ref.BoardID || known.version != version {
			known = &boardRules{boardID: p.ref.BoardID, version: version, rules: new(leaderboard.Rules)}
			if err := json.Unmarshal(rules, known.rules); err != nil {
				return nil, wrap("rules of board "+w.board, err)
			}
			w.store.rules.Store(w.board, known)
		}
		p.ref.Name, p.ref.Rules, p.codec = string(p.ref.Window), known.rules, rank.CodecOf(known.rules)
		p.lastCreated, p.committed, p.clock = micros(lastCreated), micros(committed), micros(sysdate)
		p.entries = map[string]*leaderboard.Entry{}
		periods = append(periods, &p)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if len(periods) == 0 {
		w.store.rules.Delete(w.board)
		return nil, leaderboard.ErrBoardNotFound
	}
	return periods, nil
}

// firstWindowFirst brings the period of the board's first window to the front: its results are the receipt's.
func firstWindowFirst(periods []*period) []*period {
	windows := periods[0].ref.Rules.Windows
	slices.SortStableFunc(periods, func(a, b *period) int {
		return slices.Index(windows, a.ref.Window) - slices.Index(windows, b.ref.Window)
	})
	return periods
}

// reading is what a batch reads under the lock: the idempotency keys that came with it, and the entries that its
// members have.
type reading struct {
	boardID int64
	periods []int64
	members []string
	keys    []string
}

func newReading(boardID int64, periods []int64, members []string, reqs []*request) *reading {
	r := &reading{boardID: boardID, periods: periods, members: members}
	for _, req := range reqs {
		if req.key != "" {
			r.keys = append(r.keys, req.key)
		}
	}
	return r
}

// appendTo appends one SELECT per chunk of keys, then per period and chunk of members; none when there are no periods.
func (r *reading) appendTo(t *text) {
	if len(r.periods) == 0 {
		return
	}
	for chunk := range slices.Chunk(r.keys, upsertRows) {
		t.str("SELECT idempotency_key, request_hash, receipt FROM idempotency_keys WHERE board_id = ").int(r.boardID)
		t.str(" AND idempotency_key IN (").hexes(chunk).str(");")
	}
	for _, id := range r.periods {
		for chunk := range slices.Chunk(r.members, upsertRows) {
			t.str("SELECT member, score, tiebreak, created_time FROM entries FORCE INDEX (PRIMARY) WHERE period_id = ").int(id)
			t.str(" AND member IN (").hexes(chunk).str(");")
		}
	}
}

// scan reads the answers to appendTo, of which rows stands before the first. The periods are those of the reading.
func (r *reading) scan(rows *sql.Rows, periods []*period) (map[string]keyRow, error) {
	keys := map[string]keyRow{}
	for range slices.Chunk(r.keys, upsertRows) {
		if err := nextResult(rows); err != nil {
			return nil, err
		}
		if err := scanKeys(rows, keys); err != nil {
			return nil, err
		}
	}
	for _, p := range periods {
		for range slices.Chunk(r.members, upsertRows) {
			if err := nextResult(rows); err != nil {
				return nil, err
			}
			if err := scanEntries(rows, p.codec, func(e leaderboard.Entry) { p.entries[e.Member] = &e }); err != nil {
				return nil, err
			}
		}
	}
	return keys, nil
}

// nextResult goes to the answer of the next statement.
func nextResult(rows *sql.Rows) error {
	if rows.NextResultSet() {
		return nil
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return errors.New("a statement of the batch has no answer")
}

func scanKeys(rows *sql.Rows, keys map[string]keyRow) error {
	for rows.Next() {
		var key, hash, receipt sql.RawBytes
		if err := rows.Scan(&key, &hash, &receipt); err != nil {
			return err
		}
		row := keyRow{key: string(key)}
		copy(row.hash[:], hash)
		var err error
		if row.receipt, err = decodeReceipt(receipt); err != nil {
			return err
		}
		keys[row.key] = row
	}
	return rows.Err()
}

// membersOf are the members of a batch, each once, in byte order. Ids that no member can have are left out.
func membersOf(reqs []*request) []string {
	var members []string
	for _, r := range reqs {
		if r.remove != "" {
			members = append(members, r.remove)
		}
		for _, e := range r.entries {
			if leaderboard.CheckMember(e.Member) == nil {
				members = append(members, e.Member)
			}
		}
	}
	slices.Sort(members)
	return slices.Compact(members)
}

// scanEntries reads rows of member, score, tiebreak, created_time to the end of one answer.
func scanEntries(rows *sql.Rows, codec rank.Codec, fn func(leaderboard.Entry)) error {
	for rows.Next() {
		var (
			e       leaderboard.Entry
			created time.Time
		)
		if err := rows.Scan(&e.Member, &e.Score, &e.Tiebreak, &created); err != nil {
			return err
		}
		e.Score, e.Tiebreak = codec.Stored(e.Score, e.Tiebreak)
		e.CreatedTime = micros(created)
		fn(e)
	}
	return rows.Err()
}
