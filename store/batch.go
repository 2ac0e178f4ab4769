package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"leaderboard"
	"leaderboard/rank"
)

// upsertRows is the number of rows in one statement; more make it slower, not faster.
const upsertRows = 500

// batch is what a committed batch led to.
type batch struct {
	answers []answer // one per request
	commits []notice
}

// notice is a commit that followers are told about.
type notice struct {
	ref    leaderboard.PeriodRef
	commit *leaderboard.Commit
}

// boardRules are a board's rules at one version, shared by its batches and never written to.
type boardRules struct {
	boardID, version int64
	rules            *leaderboard.Rules
}

// keyRow is a row of idempotency_keys.
type keyRow struct {
	key     string
	hash    [32]byte
	receipt leaderboard.Receipt
}

// try carries a batch out once. An error wraps ErrOutcomeUnknown when COMMIT was sent and no answer came; after every
// other error the transaction is rolled back.
func (w *writer) try(ctx context.Context, reqs []*request) (*batch, error) {
	conn, err := w.store.db.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	tx := &writeTx{conn: conn}
	b, err := w.transact(ctx, tx, reqs)
	return b, errors.Join(err, tx.end())
}

func (w *writer) transact(ctx context.Context, tx *writeTx, reqs []*request) (*batch, error) {
	if err := tx.exec(ctx, "START TRANSACTION"); err != nil {
		return nil, err
	}
	periods, err := w.lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	boardID := periods[0].ref.BoardID
	stored, err := w.storedKeys(ctx, tx, boardID, reqs)
	if err != nil {
		return nil, err
	}
	if err := w.currentEntries(ctx, tx, periods, reqs); err != nil {
		return nil, err
	}
	b := &batch{}
	var keys []keyRow
	b.answers, keys = receipts(periods, reqs, stored)
	for _, p := range periods {
		if err := w.writePeriod(ctx, tx, p, b); err != nil {
			return nil, err
		}
	}
	if err := w.writeKeys(ctx, tx, boardID, periods[0].clock, keys); err != nil {
		return nil, err
	}
	if len(b.commits) == 0 && len(keys) == 0 {
		return b, nil // nothing to commit
	}
	return b, tx.commit(ctx)
}

// lock locks the board's row and those of its open periods, in id order, and reads them and the clock: SYSDATE, because
// NOW is the time before the wait. The board's rules come along only when they are not the ones known.
func (w *writer) lock(ctx context.Context, tx *writeTx) ([]*period, error) {
	known := boardRules{}
	if v, ok := w.store.rules.Load(w.board); ok {
		known = *v.(*boardRules)
	}
	t := &w.text
	t.reset()
	t.str("SELECT b.id, b.version, IF(b.id = ").int(known.boardID).str(" AND b.version = ").int(known.version)
	t.str(", NULL, b.rules), p.id, p.window_name, p.last_seq, p.last_created_time, p.committed_at, p.entry_count, SYSDATE(6)")
	t.str(" FROM boards b STRAIGHT_JOIN periods p ON p.board_id = b.id WHERE b.name = ").hex(w.board)
	t.str(" AND b.state = 'open' AND p.state = 'open' ORDER BY p.id FOR UPDATE")
	rows, err := tx.conn.QueryContext(ctx, t.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
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
		if rules != nil && (known.boardID != p.ref.BoardID || known.version != version) {
			known = boardRules{p.ref.BoardID, version, new(leaderboard.Rules)}
			if err := json.Unmarshal(rules, known.rules); err != nil {
				return nil, wrap("rules of board "+w.board, err)
			}
			w.store.rules.Store(w.board, &known)
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
	return firstWindowFirst(periods), nil
}

// firstWindowFirst brings the period of the board's first window to the front: its results are the receipt's.
func firstWindowFirst(periods []*period) []*period {
	if windows := periods[0].ref.Rules.Windows; len(windows) > 0 {
		slices.SortStableFunc(periods, func(a, b *period) int {
			return slices.Index(windows, a.ref.Window) - slices.Index(windows, b.ref.Window)
		})
	}
	return periods
}

func (w *writer) storedKeys(ctx context.Context, tx *writeTx, boardID int64, reqs []*request) (map[string]keyRow, error) {
	stored, n := map[string]keyRow{}, 0
	t := &w.text
	t.reset()
	t.str("SELECT idempotency_key, request_hash, receipt FROM idempotency_keys WHERE board_id = ").int(boardID)
	t.str(" AND idempotency_key IN (")
	for _, r := range reqs {
		if r.key != "" {
			t.comma(n).hex(r.key)
			n++
		}
	}
	if n == 0 {
		return stored, nil
	}
	rows, err := tx.conn.QueryContext(ctx, t.str(")").String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key, hash, receipt sql.RawBytes
		if err := rows.Scan(&key, &hash, &receipt); err != nil {
			return nil, err
		}
		row := keyRow{key: string(key)}
		copy(row.hash[:], hash)
		if row.receipt, err = decodeReceipt(receipt); err != nil {
			return nil, err
		}
		stored[row.key] = row
	}
	return stored, rows.Err()
}

// currentEntries reads the entries that the members of the batch have.
func (w *writer) currentEntries(ctx context.Context, tx *writeTx, periods []*period, reqs []*request) error {
	members := membersOf(reqs)
	for _, p := range periods {
		for chunk := range slices.Chunk(members, upsertRows) {
			t := &w.text
			t.reset()
			t.str("SELECT member, score, tiebreak, created_time FROM entries FORCE INDEX (PRIMARY) WHERE period_id = ")
			t.int(p.ref.ID).str(" AND member IN (")
			for i, m := range chunk {
				t.comma(i).hex(m)
			}
			rows, err := tx.conn.QueryContext(ctx, t.str(")").String())
			if err != nil {
				return err
			}
			err = scanEntries(rows, p.codec, func(e leaderboard.Entry) { p.entries[e.Member] = &e })
			if err != nil {
				return err
			}
		}
	}
	return nil
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

// scanEntries reads rows of member, score, tiebreak, created_time to their end.
func scanEntries(rows *sql.Rows, codec rank.Codec, fn func(leaderboard.Entry)) error {
	defer rows.Close()
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

// writeTx is a transaction on a connection of its own, driven by plain statements so that it is certain which of them
// were sent.
type writeTx struct {
	conn *sql.Conn
	over bool // committed, or lost: there is nothing to roll back
}

func (tx *writeTx) exec(ctx context.Context, query string) error {
	_, err := tx.conn.ExecContext(ctx, query)
	return err
}

func (tx *writeTx) commit(ctx context.Context) error {
	err := commitOutcome(tx.exec(ctx, "COMMIT"))
	tx.over = err == nil
	return err
}

// end rolls back what is not committed and gives the connection back, or drops it when the server does not confirm the
// rollback: a connection in the middle of a transaction must not reach another user of the pool.
func (tx *writeTx) end() error {
	if !tx.over {
		ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
		defer cancel()
		if err := tx.exec(ctx, "ROLLBACK"); err != nil {
			_ = tx.conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	if err := tx.conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}
