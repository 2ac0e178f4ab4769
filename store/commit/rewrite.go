package commit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

const (
	// commitChanges is how many changes one row of the log holds, so that followers get on in small steps.
	commitChanges = 500
	// packetChanges is how many changes go to the server at once.
	packetChanges = 10 * commitChanges
)

// ErrConcurrent means that another writer wrote to the board since the state that changes were computed from.
var ErrConcurrent = errors.New("store: the board was modified concurrently")

// Rewrite is changes of a period that were computed from a snapshot.
type Rewrite struct {
	Board   leaderboard.Board    // as the snapshot found it, with one window
	Period  leaderboard.Period   // as the snapshot found it
	Changes []leaderboard.Change // without seq; from the visible entries to the desired ones
	// Fence is statements of the same transaction. The last one must change exactly one row: otherwise another writer was
	// faster, and nothing is written.
	Fence string
}

// Rewrite commits changes in one transaction, with the locks of a batch, and returns the seq of the period after it. A
// change of an entry that is set aside applies to that entry. Errors: ErrConcurrent when the board is no longer as the
// snapshot found it; ErrBoardNotFound, ErrUnavailable, ErrOutcomeUnknown.
func (w *Writer) Rewrite(ctx context.Context, r Rewrite) (lastSeq int64, err error) {
	defer w.boards.lock(r.Board.Name)() // before there is a connection: it waits with none
	tx, err := w.db.Begin(ctx, false)
	if err != nil {
		return 0, err
	}
	events, err := r.transact(ctx, &transaction{Tx: tx, db: w.db, memory: w.memory, parts: w.parts, text: &mysql.Text{}})
	if err = errors.Join(err, tx.End()); err != nil {
		return 0, err
	}
	lastSeq = r.Period.LastSeq
	for _, e := range events {
		w.tell.Committed(e)
		lastSeq = e.Commit.LastSeq
	}
	return lastSeq, nil
}

func (r *Rewrite) transact(ctx context.Context, t *transaction) ([]Event, error) {
	b, err := t.lockOnly(ctx, r.Board.Name)
	if err != nil {
		return nil, err
	}
	if !r.describes(b) {
		return nil, ErrConcurrent
	}
	p := b.periods[0]
	var events []Event
	for packet := range slices.Chunk(r.Changes, packetChanges) {
		written, err := t.writePacket(ctx, b, p, packet)
		if err != nil {
			return nil, err
		}
		events = append(events, written...)
	}
	if len(events) > 0 {
		whole := *events[len(events)-1].Commit
		whole.FirstSeq = r.Period.LastSeq + 1
		t.text.Reset()
		appendAdvance(t.text, []*Period{p}, []Event{{p.ref, &whole}})
		result, err := t.Conn.ExecContext(ctx, t.text.String())
		if err == nil {
			err = checkAdvance(result, []*Period{p})
		}
		if err != nil {
			return nil, err
		}
	}
	if err := t.fence(ctx, r.Fence); err != nil {
		return nil, err
	}
	return events, t.Commit(ctx)
}

// lockOnly locks a board and reads no entries. Periods are neither begun nor closed.
func (t *transaction) lockOnly(ctx context.Context, name string) (*Board, error) {
	known, _ := t.memory.Get(name)
	b := &Board{known: known}
	t.text.Reset()
	t.text.Str(t.Opening())
	appendLock(t.text, t.db.Sysdate(), name, known)
	rows, err := t.Conn.QueryContext(ctx, t.text.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if err := errors.Join(t.scanLock(rows, name, b), rows.Close()); err != nil {
		return nil, err
	}
	b.chooseCurrent()
	fresh := *b.known
	fresh.Periods, _ = b.rollover.IDs()
	b.known = &fresh
	return b, nil
}

// describes reports whether the locked board is unchanged since the snapshot.
func (r *Rewrite) describes(b *Board) bool {
	return b.known.Board.ID == r.Board.ID && b.known.Board.Version == r.Board.Version && len(b.periods) == 1 &&
		b.periods[0].ref.ID == r.Period.ID && b.periods[0].ref.Incarnation == r.Period.Incarnation && b.periods[0].lastSeq == r.Period.LastSeq
}

// writePacket makes some of the changes. Of the period it knows only the members of these changes.
func (t *transaction) writePacket(ctx context.Context, b *Board, p *Period, changes []leaderboard.Change) ([]Event, error) {
	p.changes, p.aside, p.entries = nil, asideEntries{}, make(map[string]*leaderboard.Entry, len(changes))
	n := &Needs{}
	for _, c := range changes {
		n.members = append(n.members, c.Member)
		if c.Old != nil {
			p.entries[c.Member] = c.Old
		}
	}
	if err := t.readAside(ctx, b, n); err != nil {
		return nil, err
	}
	for _, c := range changes {
		p.move(c.Member)
		if old := p.entry(c.Member); !entries.Same(old, c.New) {
			p.record(c.Member, old, c.New)
		}
	}
	var events []Event
	for _, c := range p.commits(commitChanges) {
		events = append(events, Event{p.ref, c})
	}
	t.text.Reset()
	appendEntries(t.text, []*Period{p})
	appendLog(t.text, events)
	if t.text.Len() == 0 {
		return nil, nil
	}
	_, err := t.Conn.ExecContext(ctx, t.text.String())
	return events, err
}

// readAside reads which of the members' entries are set aside.
func (t *transaction) readAside(ctx context.Context, b *Board, n *Needs) (err error) {
	b.begin(t.parts, n)
	if len(b.asides) == 0 {
		return nil
	}
	t.text.Reset()
	t.text.Str("SELECT 1;")
	for _, a := range b.asides {
		a.Read(t.text)
	}
	rows, err := t.Conn.QueryContext(ctx, t.text.String())
	if err != nil {
		return err
	}
	defer rows.Close()
	for _, a := range b.asides {
		if err == nil {
			err = a.Scan(rows)
		}
	}
	return errors.Join(err, rows.Close())
}

func (t *transaction) fence(ctx context.Context, statements string) error {
	result, err := t.Conn.ExecContext(ctx, statements)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("%d rows were fenced: %w", n, ErrConcurrent))
	}
	return nil
}
