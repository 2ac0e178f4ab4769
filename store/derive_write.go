package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/db"
)

const (
	// commitChanges is how many changes one row of the log holds, so that followers get on in small steps.
	commitChanges = 500
	// packetChanges is how many changes go to the server at once.
	packetChanges = 10 * commitChanges
)

// output gathers what a step changes and writes it.
type output struct {
	d         *derivation
	step      *leaderboard.DeriveStep
	changes   []leaderboard.Change // without seq; from what everybody sees to what should be
	hasHidden bool                 // members of the board may be hidden
}

// add compares the entry that a member has with the one that it should have. What gathers beyond one transaction is
// written; until finish the board then is DerivationStateComputing, because its entries are of two states.
func (o *output) add(ctx context.Context, member string, h held, want *leaderboard.Entry) error {
	if !differ(h.own(), want) {
		return nil
	}
	if len(o.changes) >= o.d.store.cfg.DeriveRows {
		if err := o.write(ctx, false); err != nil {
			return err
		}
	}
	o.changes = append(o.changes, leaderboard.Change{Member: member, Old: h.visible, New: want})
	return nil
}

// finish writes the rest: the entries are those of the snapshot now.
func (o *output) finish(ctx context.Context) error { return o.write(ctx, true) }

func (o *output) write(ctx context.Context, last bool) error {
	s := o.d.store
	defer s.gates.enter(o.d.board.Name)() // before there is a connection: who waits holds none
	tx, err := s.db.Begin(ctx)
	if err != nil {
		return err
	}
	commits, err := o.transact(ctx, tx, last)
	if err = errors.Join(err, tx.End()); err != nil {
		return err
	}
	o.step.Rows += int64(len(o.changes))
	o.changes = o.changes[:0]
	o.d.step++
	for _, n := range commits {
		s.indexes.Committed(n.ref, n.commit)
		s.cfg.OnCommit(n.ref, *n.commit)
		o.d.own.LastSeq = n.commit.LastSeq
	}
	o.step.ToSeq = o.d.own.LastSeq
	return nil
}

// transact writes in one transaction, unless the board is no more what the snapshot found: errOvertaken.
func (o *output) transact(ctx context.Context, tx *db.Tx, last bool) ([]notice, error) {
	p, err := o.lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	var commits []notice
	fromSeq, t := p.lastSeq, &db.Text{}
	for packet := range slices.Chunk(o.changes, packetChanges) {
		if err := o.apply(ctx, tx, p, packet); err != nil {
			return nil, err
		}
		t.Reset()
		appendEntries(t, []*period{p})
		written := p.commits()
		appendLog(t, slices.Repeat([]*period{p}, len(written)), written)
		commits = append(commits, written...)
		if t.Len() == 0 {
			continue
		}
		if _, err := tx.Conn.ExecContext(ctx, t.String()); err != nil {
			return nil, err
		}
	}
	if len(commits) > 0 {
		end := *commits[len(commits)-1].commit
		end.FirstSeq = fromSeq + 1
		t.Reset()
		appendAdvance(t, []*period{p}, []notice{{p.ref, &end}})
		result, err := tx.Conn.ExecContext(ctx, t.String())
		if err == nil {
			err = checkAdvance(result, []*period{p})
		}
		if err != nil {
			return nil, err
		}
	}
	if err := o.writeSources(ctx, tx, last); err != nil {
		return nil, err
	}
	return commits, tx.Commit(ctx)
}

// apply makes changes to the period, of which it knows nothing but the state. A hidden member's go to the shadow.
func (o *output) apply(ctx context.Context, tx *db.Tx, p *period, changes []leaderboard.Change) error {
	p.changes, p.shadow, p.entries = nil, shadow{}, make(map[string]*leaderboard.Entry, len(changes))
	members := make([]string, len(changes))
	for i, c := range changes {
		if members[i] = c.Member; c.Old != nil {
			p.entries[c.Member] = c.Old
		}
	}
	if o.hasHidden {
		r := newReading(p.ref.BoardID, []int64{p.ref.ID}, members, nil)
		r.hidden, r.withHidden = p.hidden, []int64{p.ref.BoardID}
		t := (&db.Text{}).Str("SELECT 1;")
		r.appendHidden(t)
		rows, err := tx.Conn.QueryContext(ctx, t.String())
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := errors.Join(r.scanHidden(rows, []*period{p}), rows.Close()); err != nil {
			return err
		}
	}
	for _, c := range changes {
		p.settle(c.Member)
		if old := p.entry(c.Member); differ(old, c.New) {
			p.record(c.Member, old, c.New)
		}
	}
	return nil
}

// commits are the changes of the period as rows of the log, several when they are many. The period is behind the last.
func (p *period) commits() []notice {
	var out []notice
	count := p.count
	for _, c := range p.changes {
		count -= grown(c)
	}
	for changes := range slices.Chunk(p.changes, commitChanges) {
		for _, c := range changes {
			count += grown(c)
		}
		c := &leaderboard.Commit{
			PeriodID: p.ref.ID, FirstSeq: changes[0].Seq, LastSeq: changes[len(changes)-1].Seq,
			PrevCommittedAt: p.committed, CommittedAt: leaderboard.CommitTime(p.clock, p.committed, changes), EntryCount: count, Changes: changes,
		}
		p.committed = c.CommittedAt
		out = append(out, notice{p.ref, c})
	}
	return out
}

// grown is by how many entries a change makes a period larger.
func grown(c leaderboard.Change) int64 {
	switch {
	case c.Old == nil:
		return 1
	case c.New == nil:
		return -1
	default:
		return 0
	}
}

// lock takes the locks that every writer of the board takes, and makes sure that nothing has happened since the snapshot.
func (o *output) lock(ctx context.Context, tx *db.Tx) (*period, error) {
	d := o.d
	known := &boardRules{}
	if v, ok := d.store.rules.Load(d.board.Name); ok {
		known = v.(*boardRules)
	}
	t := (&db.Text{}).Str(tx.Opening())
	appendLock(t, d.store.db.Sysdate(), d.board.Name, known)
	rows, err := tx.Conn.QueryContext(ctx, t.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	w, f := &writer{store: d.store, board: d.board.Name}, &found{rules: known, hidden: hiddenMembers{}}
	if err := w.scanLock(rows, f); err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	f.choose(d.board.Name)
	if f.rules.boardID != d.board.ID || f.rules.version != d.board.Version || len(f.periods) != 1 ||
		f.periods[0].ref.ID != d.own.ID || f.periods[0].lastSeq != d.own.LastSeq {
		return nil, errOvertaken
	}
	o.hasHidden = f.rules.hasHidden
	return f.periods[0], nil
}

// writeSources says what the entries reflect now: the sources as the snapshot found them, or nothing before the last
// transaction of a step. The count of steps is the fence: of two who follow the same board one finds it moved on.
func (o *output) writeSources(ctx context.Context, tx *db.Tx, last bool) error {
	d, t, spec := o.d, &db.Text{}, []byte(nil)
	if last {
		spec = specOf(d.board.Rules.Derive)
	}
	t.Str("DELETE FROM derived_sources WHERE board_id = ").Int(d.board.ID)
	if last {
		t.Str(" AND position >= ").Int(int64(len(d.desired))).Str(";INSERT INTO derived_sources (board_id, position, source_period_id, weight, seq) VALUES ")
		for i, s := range d.desired {
			t.Comma(i).Str("(").Int(d.board.ID).Str(",").Int(int64(i)).Str(",").Int(s.periodID).Str(",").Int(s.Weight).Str(",")
			t.Int(d.periods[s.periodID].lastSeq).Str(")")
		}
		t.Str(" ON DUPLICATE KEY UPDATE source_period_id = VALUES(source_period_id), weight = VALUES(weight), seq = VALUES(seq)")
	}
	t.Str(";UPDATE derived_boards SET step = step + 1, rule_hash = ").HexBytes(spec).Str(" WHERE board_id = ").Int(d.board.ID)
	t.Str(" AND step = ").Int(d.step).Str(";")
	result, err := tx.Conn.ExecContext(ctx, t.String())
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("step %d: %w", d.step, errOvertaken))
	}
	return nil
}
