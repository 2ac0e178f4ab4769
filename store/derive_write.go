package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

const (
	// commitChanges is how many changes one row of the log holds, so that followers get on in small steps.
	commitChanges = 500
	// packetChanges is how many changes go to the server at once.
	packetChanges = 10 * commitChanges
)

// output gathers what a step changes and writes it.
type output struct {
	d       *derivation
	step    *leaderboard.DeriveStep
	changes []leaderboard.Change // without seq
}

// add compares the entry that a member has with the one that it should have. What gathers beyond one transaction is
// written; until finish the board then is Computing, because its entries are of two states.
func (o *output) add(ctx context.Context, own, want *leaderboard.Entry) error {
	if !differ(own, want) {
		return nil
	}
	change := leaderboard.Change{Old: own, New: want}
	if own != nil {
		change.Member = own.Member
	} else {
		change.Member = want.Member
	}
	if len(o.changes) >= stepRows {
		if err := o.write(ctx, false); err != nil {
			return err
		}
	}
	o.changes = append(o.changes, change)
	return nil
}

// finish writes the rest: the entries are those of the snapshot now.
func (o *output) finish(ctx context.Context) error { return o.write(ctx, true) }

func (o *output) write(ctx context.Context, last bool) error {
	s := o.d.store
	conn, err := s.batches.Conn(ctx)
	if err != nil {
		return err
	}
	tx := &writeTx{conn: conn}
	commits, err := o.transact(ctx, tx, last)
	if err = errors.Join(err, tx.end()); err != nil {
		return err
	}
	o.step.Rows += int64(len(o.changes))
	o.changes = o.changes[:0]
	o.d.step++
	for _, n := range commits {
		s.indexes.committed(step{codec: rank.CodecOf(n.ref.Rules), commit: n.commit}, n.ref.ID)
		s.cfg.OnCommit(n.ref, *n.commit)
		o.d.own.LastSeq = n.commit.LastSeq
	}
	o.step.ToSeq = o.d.own.LastSeq
	return nil
}

// transact writes in one transaction, unless the board is no more what the snapshot found: errMoved.
func (o *output) transact(ctx context.Context, tx *writeTx, last bool) ([]notice, error) {
	p, err := o.lock(ctx, tx)
	if err != nil {
		return nil, err
	}
	var commits []notice
	fromSeq, t := p.lastSeq, &text{}
	for packet := range slices.Chunk(o.changes, packetChanges) {
		t.reset()
		var written []*period
		first := len(commits)
		all := *p
		all.changes = nil
		for changes := range slices.Chunk(packet, commitChanges) {
			p.changes = nil
			for _, c := range changes {
				p.record(c.Member, c.Old, c.New)
			}
			c := p.commit()
			p.committed = c.CommittedAt
			commits, written = append(commits, notice{p.ref, c}), append(written, p)
			all.changes = append(all.changes, p.changes...)
		}
		appendEntries(t, []*period{&all})
		appendLog(t, written, commits[first:])
		if _, err := tx.conn.ExecContext(ctx, t.String()); err != nil {
			return nil, err
		}
	}
	if len(commits) > 0 {
		end := *commits[len(commits)-1].commit
		end.FirstSeq = fromSeq + 1
		t.reset()
		appendAdvance(t, []*period{p}, []notice{{p.ref, &end}})
		result, err := tx.conn.ExecContext(ctx, t.String())
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
	return commits, tx.commit(ctx)
}

// lock takes the locks that every writer of the board takes, and makes sure that nothing has happened since the snapshot.
func (o *output) lock(ctx context.Context, tx *writeTx) (*period, error) {
	d := o.d
	known := &boardRules{}
	if v, ok := d.store.rules.Load(d.board.Name); ok {
		known = v.(*boardRules)
	}
	t := (&text{}).str("START TRANSACTION;")
	appendLock(t, d.board.Name, known)
	rows, err := tx.conn.QueryContext(ctx, t.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	w, f := &writer{store: d.store, board: d.board.Name}, &found{rules: known}
	if err := w.scanLock(rows, f); err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	f.choose(d.board.Name)
	if f.rules.boardID != d.board.ID || f.rules.version != d.board.Version || len(f.periods) != 1 ||
		f.periods[0].ref.ID != d.own.ID || f.periods[0].lastSeq != d.own.LastSeq {
		return nil, errMoved
	}
	return f.periods[0], nil
}

// writeSources says what the entries reflect now: the sources as the snapshot found them, or nothing before the last
// transaction of a step. The count of steps is the fence: of two who follow the same board one finds it moved on.
func (o *output) writeSources(ctx context.Context, tx *writeTx, last bool) error {
	d, t, spec := o.d, &text{}, []byte(nil)
	if last {
		spec = specOf(d.board.Rules.Derive)
	}
	t.str("DELETE FROM derived_sources WHERE board_id = ").int(d.board.ID)
	if last {
		t.str(" AND position >= ").int(int64(len(d.desired))).str(";INSERT INTO derived_sources (board_id, position, source_period_id, weight, seq) VALUES ")
		for i, s := range d.desired {
			t.comma(i).str("(").int(d.board.ID).str(",").int(int64(i)).str(",").int(s.periodID).str(",").int(s.Weight).str(",")
			t.int(d.periods[s.periodID].lastSeq).str(")")
		}
		t.str(" ON DUPLICATE KEY UPDATE source_period_id = VALUES(source_period_id), weight = VALUES(weight), seq = VALUES(seq)")
	}
	t.str(";UPDATE derived_boards SET step = step + 1, spec = ").hexBytes(spec).str(" WHERE board_id = ").int(d.board.ID)
	t.str(" AND step = ").int(d.step).str(";")
	result, err := tx.conn.ExecContext(ctx, t.String())
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return errors.Join(err, fmt.Errorf("step %d: %w", d.step, errMoved))
	}
	return nil
}
