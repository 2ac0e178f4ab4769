package commit

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"leaderboard/internal/boards"
	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// transaction is a transaction of the write path.
type transaction struct {
	*mysql.Tx
	db     *mysql.DB
	memory *boards.Cache
	parts  []Part
	text   *mysql.Text // of the packet under way
}

// locked are the boards that a batch has locked.
type locked struct {
	boards  map[string]*Board // by name
	without map[string]error  // why a board is not among them: ErrBoardNotFound, ErrUnknownRule
	movable map[string]*Board // not among them, but their entries may be hidden, shown again and removed
	derived map[string]bool   // boards that are not locked, because they are derived and take no submissions
}

func newLocked(size int, derived map[string]bool) *locked {
	return &locked{
		boards: make(map[string]*Board, size), without: map[string]error{}, movable: map[string]*Board{}, derived: derived,
	}
}

// add adds a board that is locked.
func (l *locked) add(name string, b *Board) {
	if err := b.known.Board.CheckWritable(); err != nil {
		l.without[name], l.movable[name] = err, b
		return
	}
	l.boards[name] = b
}

// board returns a board. Errors: ErrBoardNotFound, ErrUnknownRule.
func (l *locked) board(name string) (*Board, error) {
	if b := l.boards[name]; b != nil {
		return b, nil
	}
	return nil, l.without[name]
}

// toMoveOn returns a board whose entries are hidden, shown again or removed. Errors: ErrBoardNotFound, ErrUnknownRule.
func (l *locked) toMoveOn(name string) (*Board, error) {
	if b := l.movable[name]; b != nil {
		return b, nil
	}
	return l.board(name)
}

// lockBoard locks a board, begins the transaction if it has not begun, and reads everything that is needed, in one packet
// as long as the board is unchanged since the last batch. The reads see all commits up to the lock: under READ COMMITTED
// each statement has its own snapshot. Errors: ErrBoardNotFound, ErrUnknownRule.
func (t *transaction) lockBoard(ctx context.Context, name string, n *Needs) (*Board, error) {
	known, _ := t.memory.Get(name)
	b := &Board{known: known, random: t.db.Config.Random}
	t.text.Reset()
	t.text.Str(t.Opening())
	appendLock(t.text, t.db.Sysdate(), name, known)
	b.begin(t.parts, n)
	guess := readingOf(known, n)
	guess.appendTo(t.text, b)
	rows, err := t.Conn.QueryContext(ctx, t.text.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if err = t.scanLock(rows, name, b); err == nil {
		err = b.known.Board.CheckMovable()
	}
	if err != nil {
		return nil, err
	}
	if b.isAs(known) && same(t.parts, &b.known.Board.Rules, &known.Board.Rules) {
		b.chooseCurrent()
		err = errors.Join(guess.scan(rows, b), rows.Close())
	} else if err = rows.Close(); err == nil {
		err = t.rollOver(ctx, b, n)
	}
	if len(b.periods) == 0 && err == nil {
		b.periods = []*Period{{missing: b.whyNone()}}
	}
	if err == nil {
		err = checkRules(t.parts, &b.known.Board)
	}
	if err == nil {
		err = t.lockPast(ctx, b, n)
	}
	if err != nil {
		return nil, err
	}
	b.moveMembers(n.members)
	return b, nil
}

// whyNone returns why the board has no current period.
func (b *Board) whyNone() *leaderboard.RuleError {
	if err := b.known.Board.CheckWritable(); err != nil {
		return &leaderboard.RuleError{Code: leaderboard.ErrUnknownRule.Code, Detail: err.Error()}
	}
	return leaderboard.AsRule(b.known.Calendar.Outside(b.clock))
}

// isAs reports whether the lock found the remembered board, so that the reads that came with it are the right ones.
func (b *Board) isAs(known *boards.Known) bool {
	ids, whole := b.rollover.IDs()
	return whole && len(b.rollover.Ended) == 0 && b.known.Board.ID == known.Board.ID && b.known.HasHidden == known.HasHidden &&
		slices.Equal(ids, known.Periods)
}

// readingOf returns the list of rows to read for a remembered board.
func readingOf(known *boards.Known, n *Needs) *reading {
	return &reading{Needs: n, boardID: known.Board.ID, periods: known.Periods}
}

// rollOver brings the periods up to date and reads whatever was not read with the lock.
func (t *transaction) rollOver(ctx context.Context, b *Board, n *Needs) error {
	if b.rollover.Due() {
		if err := b.rollover.Write(ctx, t.Conn, &b.known.Board, b.random); err != nil {
			return err
		}
		b.rolledOver = true
	}
	b.chooseCurrent()
	fresh := *b.known
	fresh.Periods, _ = b.rollover.IDs()
	b.known = &fresh
	t.memory.Put(b.known)
	b.begin(t.parts, n)
	r := readingOf(b.known, n)
	t.text.Reset()
	t.text.Str("SELECT 1;")
	r.appendTo(t.text, b)
	rows, err := t.Conn.QueryContext(ctx, t.text.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	return errors.Join(r.scan(rows, b), rows.Close())
}

// chooseCurrent sets the current periods that the batch works on.
func (b *Board) chooseCurrent() {
	for i := range b.rollover.Current {
		c := &b.rollover.Current[i]
		at := slices.IndexFunc(b.open, func(p *Period) bool { return p.ref.ID == c.ID })
		if at < 0 {
			// It was begun just now, or opened again.
			b.open = append(b.open, newPeriod(c, sql.NullTime{Time: b.rollover.LastCreated[c.ID].Time()}))
			at = len(b.open) - 1
		}
		p := b.open[at]
		b.complete(p, c)
		b.periods = append(b.periods, p)
	}
}

// complete adds to a period what its board says.
func (b *Board) complete(p *Period, row *leaderboard.Period) {
	p.ref, p.codec = row.Ref(&b.known.Board), rank.CodecOf(&b.known.Board.Rules)
	p.ref.Closed, p.ref.LastSeq = false, 0 // it changes again, when it is corrected
	p.board, p.clock, p.entries = b, b.clock, map[string]*leaderboard.Entry{}
}

// appendLock locks the board's row and the rows of its open periods, and reads them and the clock: sysdate, because NOW is
// the time before the wait. The board's rules are included only if they differ from the remembered rules: after a restore
// another board may have the id and the version, but not the time. The server's read-only state is included, because an
// account may have the right to write all the same. The index is named because the order of locking follows from it, and
// because closed periods are many.
func appendLock(t *mysql.Text, sysdate, board string, known *boards.Known) {
	t.Str("SELECT " + mysql.ServerSettings + ", b.id, b.version, b.updated_at, b.has_hidden, IF(b.id = ").Int(known.Board.ID).Str(" AND b.version = ").Int(known.Board.Version)
	t.Str(" AND b.updated_at = ").Time(known.Board.UpdatedTime).Str(", NULL, b.rules), ").Str(sysdate).Str(", p.last_created_time, ").Str(boards.JoinedPeriodColumns)
	t.Str(" FROM boards b LEFT JOIN periods p FORCE INDEX (periods_open) ON p.board_id = b.id AND p.state = 'open'")
	t.Str(" WHERE b.name = ").Hex(board).Str(" AND b.state = 'open' FOR UPDATE;")
}

// scanLock reads the answer to appendLock.
func (t *transaction) scanLock(rows *sql.Rows, name string, b *Board) error {
	var (
		open      []leaderboard.Period
		board     boards.Row
		hasHidden bool
		settings  string
	)
	for rows.Next() {
		var (
			row         boards.JoinedPeriod
			lastCreated sql.NullTime
			sysdate     time.Time
		)
		dest := []any{&settings, &board.ID, &board.Version, &board.Updated, &hasHidden, &board.Rules, &sysdate, &lastCreated}
		if err := rows.Scan(append(dest, row.Dest()...)...); err != nil {
			return err
		}
		// The row of the board is locked first: the latest reading was taken with all locks held.
		b.clock = max(b.clock, leaderboard.MicrosOf(sysdate))
		if !row.Exists() {
			continue
		}
		p := row.Period(board.ID)
		open = append(open, p)
		b.open = append(b.open, newPeriod(&p, lastCreated))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := t.db.Refuse(settings); err != nil {
		return err
	}
	if board.ID == 0 {
		t.memory.Forget(name)
		return leaderboard.ErrBoardNotFound
	}
	if board.Rules != nil {
		board.Name = []byte(name)
		var err error
		if b.known, err = t.remember(&board); err != nil {
			return err
		}
	}
	if b.known.HasHidden != hasHidden {
		fresh := *b.known
		fresh.HasHidden = hasHidden
		b.known = &fresh
	}
	b.rollover = boards.RolloverAt(b.known.Calendar, board.ID, b.known.Board.Rules.Windows, open, b.clock)
	return nil
}

// newPeriod returns the period of a row that is locked.
func newPeriod(row *leaderboard.Period, lastCreated sql.NullTime) *Period {
	return &Period{
		ref:     leaderboard.PeriodRef{ID: row.ID},
		lastSeq: row.LastSeq, lastCreated: leaderboard.MicrosOf(lastCreated.Time), committed: row.Committed, count: row.EntryCount,
	}
}

// remember remembers rules that are new, without periods.
func (t *transaction) remember(row *boards.Row) (*boards.Known, error) {
	board, err := row.Board()
	if err != nil {
		return nil, err
	}
	k := &boards.Known{Board: board}
	k.Calendar, _ = board.Rules.Calendar() // Board.Unknown says when it lacks windows
	t.memory.Put(k)
	return k, nil
}

// lockPast locks and reads the periods that requests name, except current periods, with the entries of the members
// concerned: two round trips, however many they are. Nearly every batch has no such request.
func (t *transaction) lockPast(ctx context.Context, b *Board, n *Needs) error {
	var ids []int64
	for _, named := range n.past {
		for _, id := range named.periods {
			if !slices.ContainsFunc(b.periods, func(p *Period) bool { return p.ref.ID == id }) {
				ids = append(ids, id)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	if err := t.lockPastPeriods(ctx, b, slices.Compact(ids)); err != nil {
		return err
	}
	return t.readPastEntries(ctx, b, n)
}

// lockPastPeriods locks periods of the board whose row is locked already, in the order in which sweeping does it. A period
// that has ended is already closed: the rollover came first. When a period does not exist the request gets an error.
func (t *transaction) lockPastPeriods(ctx context.Context, b *Board, ids []int64) error {
	text := &mysql.Text{}
	appendLockPast(text, b.known.Board.ID, ids)
	rows, err := t.Conn.QueryContext(ctx, text.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			row         boards.JoinedPeriod
			lastCreated sql.NullTime
		)
		if err := rows.Scan(append([]any{&lastCreated}, row.Dest()...)...); err != nil {
			return err
		}
		found := row.Period(b.known.Board.ID)
		p := newPeriod(&found, lastCreated)
		b.complete(p, &found)
		p.closed = found.State == leaderboard.PeriodStateClosed
		b.past = append(b.past, p)
	}
	return errors.Join(rows.Err(), rows.Close())
}

func appendLockPast(t *mysql.Text, boardID int64, ids []int64) {
	t.Str("SELECT p.last_created_time, ").Str(boards.JoinedPeriodColumns)
	t.Str(" FROM periods p FORCE INDEX (PRIMARY) WHERE p.id IN (").Ints(ids).Str(") AND p.board_id = ").Int(boardID)
	t.Str(" AND p.state <> 'deleting' ORDER BY p.id FOR UPDATE")
}

// readPastEntries reads the entries of the members in the past periods that their requests name, and the entries set aside:
// there may be such an entry of a member that is no longer hidden, because a period that closed before the restoration
// keeps it.
func (t *transaction) readPastEntries(ctx context.Context, b *Board, n *Needs) error {
	text := (&mysql.Text{}).Str("SELECT 1;")
	var read []pastEntries
	for _, named := range n.past {
		var sides []int64
		for _, p := range b.past {
			if slices.Contains(named.periods, p.ref.ID) {
				sides = append(sides, p.ref.ID, entries.AsideIn(p.ref.ID))
			}
		}
		if len(sides) > 0 {
			appendReadEntries(text, sides, []string{named.member})
			each(b, func(p EntryReader) { p.ReadEntries(text, sides, []string{named.member}) })
			read = append(read, named)
		}
	}
	rows, err := t.Conn.QueryContext(ctx, text.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	for _, named := range read {
		if err := b.scanMembers(rows, b.past, []string{named.member}); err != nil {
			return err
		}
	}
	return rows.Close()
}
