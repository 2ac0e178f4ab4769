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
	"leaderboard/store/internal/db"
)

// boardRules are a board's rules at one version and its current periods, as the last batch found them. They are shared
// and never written to. The lock of the next batch says whether they still hold.
type boardRules struct {
	boardID, version int64
	rules            *leaderboard.Rules
	calendar         leaderboard.Calendar
	periods          []int64
	hasHidden        bool // members may be hidden
}

// found is what a batch starts from.
type found struct {
	rules   *boardRules
	clock   leaderboard.Micros // database clock, read under the lock: it decides which periods are current
	periods []*period          // the current ones, in the order of the board's windows
	keys    map[string]keyRow
	turned  bool // periods were begun or closed in this transaction
	hidden  hiddenMembers

	boards map[string]*found // by name, of a batch across boards; periods are then those of all
	none   map[string]bool   // the boards of such a batch that are not locked, because they are derived

	open []*period // all that the lock found
	turn turn
}

// lockAndRead begins the transaction, locks, and reads all that the batch needs, in one packet as long as the board is
// what it was for the last batch. The reads see what is committed when the lock is held: under READ COMMITTED each
// statement has a snapshot of its own.
func (w *writer) lockAndRead(ctx context.Context, tx *db.Tx, reqs []*request) (*found, error) {
	known := &boardRules{}
	if v, ok := w.store.rules.Load(w.board); ok {
		known = v.(*boardRules)
	}
	members := membersOf(reqs)
	t := &w.text
	t.Reset()
	t.Str(tx.Opening())
	appendLock(t, w.store.db.Sysdate(), w.board, known)
	f := &found{rules: known, hidden: hiddenMembers{}}
	guess := known.reading(f, members, reqs)
	guess.appendTo(t)
	rows, err := tx.Conn.QueryContext(ctx, t.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if err = w.scanLock(rows, f); err != nil {
		return nil, err
	}
	if ids, whole := f.turn.ids(); whole && len(f.turn.ended) == 0 && f.rules.boardID == known.boardID && f.rules.hasHidden == known.hasHidden &&
		slices.Equal(ids, known.periods) {
		f.choose(w.board)
		f.keys, err = guess.scan(rows, f.periods)
		err = errors.Join(err, rows.Close())
	} else if err = rows.Close(); err == nil {
		err = w.readAgain(ctx, tx, f, members, reqs)
	}
	if len(f.periods) == 0 && err == nil {
		f.periods = []*period{{outside: leaderboard.AsRule(f.rules.calendar.Outside(f.clock))}}
	}
	if err == nil {
		err = w.readPast(ctx, tx, f, reqs)
	}
	f.settle(members)
	return f, err
}

// reading is what a batch reads on a board with these rules.
func (b *boardRules) reading(f *found, members []string, reqs []*request) *reading {
	r := newReading(b.boardID, b.periods, members, reqs)
	if r.hidden = f.hidden; b.hasHidden {
		r.withHidden = []int64{b.boardID}
	}
	return r
}

// readAgain brings the periods up to date and reads what the guess had not asked for.
func (w *writer) readAgain(ctx context.Context, tx *db.Tx, f *found, members []string, reqs []*request) error {
	if f.turn.due() {
		if err := f.turn.carryOut(ctx, tx.Conn); err != nil {
			return err
		}
		f.turned = true
	}
	f.choose(w.board)
	fresh := *f.rules
	fresh.periods, _ = f.turn.ids()
	f.rules = &fresh
	w.store.rules.Store(w.board, f.rules)
	r := fresh.reading(f, members, reqs)
	t := &w.text
	t.Reset()
	t.Str("SELECT 1;")
	r.appendTo(t)
	rows, err := tx.Conn.QueryContext(ctx, t.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	f.keys, err = r.scan(rows, f.periods)
	return errors.Join(err, rows.Close())
}

// ids are the current periods, whole when all of them have a row.
func (t *turn) ids() (ids []int64, whole bool) {
	whole = true
	for _, p := range t.current {
		ids, whole = append(ids, p.ID), whole && p.ID != 0
	}
	return ids, whole
}

// choose makes the current periods those that the batch works on.
func (f *found) choose(board string) {
	for _, c := range f.turn.current {
		i := slices.IndexFunc(f.open, func(p *period) bool { return p.ref.ID == c.ID })
		if i < 0 {
			f.open = append(f.open, &period{committed: c.Committed})
			i = len(f.open) - 1
		}
		p := f.open[i]
		p.ref = leaderboard.PeriodRef{
			ID: c.ID, BoardID: c.BoardID, Board: board, Window: c.Window, Name: c.Name(), Rules: f.rules.rules,
		}
		p.codec, p.clock, p.entries, p.hidden = rank.CodecOf(f.rules.rules), f.clock, map[string]*leaderboard.Entry{}, f.hidden
		f.periods = append(f.periods, p)
	}
}

// appendLock locks the board's row and those of its open periods, and reads them and the clock: sysdate, because NOW is
// the time before the wait. The board's rules come along only when they are not the ones known. The index is named
// because the order of locking follows from it, and because closed periods are many.
func appendLock(t *db.Text, sysdate, board string, known *boardRules) {
	t.Str("SELECT b.id, b.version, b.has_hidden, IF(b.id = ").Int(known.boardID).Str(" AND b.version = ").Int(known.version)
	t.Str(", NULL, b.rules), ").Str(sysdate).Str(", p.last_created_at, p.id, p.window_name, p.name, p.starts_at, p.ends_at, p.state,")
	t.Str(" p.last_seq, p.entry_count, p.committed_at FROM boards b LEFT JOIN periods p FORCE INDEX (periods_open) ON p.board_id = b.id AND p.state = 'open'")
	t.Str(" WHERE b.name = ").Hex(board).Str(" AND b.state = 'open' FOR UPDATE;")
}

// scanLock reads the answer to appendLock.
func (w *writer) scanLock(rows *sql.Rows, f *found) error {
	var (
		open             []leaderboard.Period
		boardID, version int64
		hasHidden        bool
		text             []byte
	)
	for rows.Next() {
		var (
			row         optionalPeriod
			lastCreated sql.NullTime
			sysdate     time.Time
		)
		if err := rows.Scan(append([]any{&boardID, &version, &hasHidden, &text, &sysdate, &lastCreated}, row.dest()...)...); err != nil {
			return err
		}
		// The row of the board is locked first: the latest reading is one with all locks held.
		f.clock = max(f.clock, leaderboard.MicrosOf(sysdate))
		if !row.id.Valid {
			continue
		}
		p := row.period(boardID)
		open = append(open, p)
		f.open = append(f.open, &period{
			ref:     leaderboard.PeriodRef{ID: p.ID},
			lastSeq: p.LastSeq, lastCreated: leaderboard.MicrosOf(lastCreated.Time), committed: p.Committed, count: p.EntryCount,
		})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if boardID == 0 {
		w.store.rules.Delete(w.board)
		return leaderboard.ErrBoardNotFound
	}
	if f.rules.boardID != boardID || f.rules.version != version {
		var err error
		if f.rules, err = w.newRules(boardID, version, text); err != nil {
			return err
		}
	}
	if f.rules.hasHidden != hasHidden {
		fresh := *f.rules
		fresh.hasHidden = hasHidden
		f.rules = &fresh
	}
	f.turn = turnOf(f.rules.calendar, boardID, f.rules.rules.Windows, open, f.clock)
	return nil
}

// newRules remembers rules that are new, without periods.
func (w *writer) newRules(boardID, version int64, text []byte) (*boardRules, error) {
	r := &boardRules{boardID: boardID, version: version, rules: new(leaderboard.Rules)}
	err := json.Unmarshal(text, r.rules)
	if err == nil {
		r.calendar, err = r.rules.Calendar()
	}
	if err != nil {
		return nil, db.Wrap("rules of board "+w.board, err)
	}
	w.store.rules.Store(w.board, r)
	return r, nil
}
