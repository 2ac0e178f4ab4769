package commit

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"leaderboard/internal/audit"
	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
)

// Event is a commit that is reported to followers.
type Event struct {
	Ref    leaderboard.PeriodRef
	Commit *leaderboard.Commit
}

// writes is everything that a batch writes.
type writes struct {
	owner int64              // board whose idempotency keys they are
	clock leaderboard.Micros // that keys are stored with
	known map[string]keyRow  // keys that were there
	keys  []keyRow           // keys to add

	boards   []*Board
	features []Part

	periods    []*Period // of the boards
	changed    []*Period // the periods that have changes
	aside      bool      // entries that are set aside were changed
	parted     bool      // parts of features have something to write
	rolledOver bool
}

// written reports whether there is anything to commit.
func (o *writes) written() bool {
	return len(o.changed) > 0 || len(o.keys) > 0 || o.aside || o.parted || o.rolledOver
}

// write sends the writes of a batch in one packet. The row count of the last statement is checked.
func (t *transaction) write(ctx context.Context, o *writes) ([]Event, error) {
	t.text.Reset()
	events := o.appendTo(t.text)
	if t.text.Len() == 0 {
		return nil, nil
	}
	result, err := t.Conn.ExecContext(ctx, t.text.String())
	if err == nil && len(o.changed) > 0 {
		err = checkAdvance(result, o.changed)
	}
	return events, err
}

// appendTo appends all statements of a batch, which are as long as MaxPacket at most.
func (o *writes) appendTo(t *mysql.Text) (events []Event) {
	appendKeys(t, o.owner, o.clock, o.keys)
	o.changed = slices.DeleteFunc(slices.Clone(o.periods), func(p *Period) bool { return len(p.changes) == 0 })
	appendEntries(t, o.periods)
	for i, f := range o.features {
		if w, ok := f.(EntryWriter); ok {
			o.appendPart(w.WriteEntries, t, i)
		}
	}
	o.aside = appendAsideTimes(t, o.periods)
	for _, p := range o.changed {
		events = append(events, Event{p.ref, p.commit()})
	}
	for _, p := range o.periods {
		appendCorrections(t, p)
	}
	var audited []audit.Row
	for _, b := range o.boards {
		audited = append(audited, b.audit...)
	}
	audit.Append(t, audited, o.clock)
	for i, f := range o.features {
		if w, ok := f.(PartWriter); ok {
			o.appendPart(w.Write, t, i)
		}
	}
	appendLog(t, events)
	if len(events) > 0 {
		appendAdvance(t, o.changed, events)
	}
	return events
}

// appendPart appends the statements of a feature, by its place in the list.
func (o *writes) appendPart(write func(*mysql.Text, []BoardPart), t *mysql.Text, feature int) {
	if parts := changed(o.boards, feature); len(parts) > 0 {
		o.parted = true
		write(t, parts)
	}
}

// changed returns the parts of a feature, by its place in the list, on boards on which it changed something.
func changed(boards []*Board, feature int) (parts []BoardPart) {
	for _, b := range boards {
		if p := b.parts[feature]; p != nil && p.Changed() {
			parts = append(parts, p)
		}
	}
	return parts
}

// announce enters the events of features in the outbox, late in the transaction. A batch without them sends nothing.
func (t *transaction) announce(ctx context.Context, boards []*Board) error {
	var all []outbox.Event
	for _, b := range boards {
		each(b, func(a Announcer) {
			for _, e := range a.Announce() {
				all = append(all, outbox.Event{Kind: e.Kind, Board: e.Board, Once: e.Once, Data: outbox.Of(e.Data, e.Members...)})
			}
		})
	}
	if len(all) == 0 {
		return nil
	}
	return outbox.Enter(ctx, t.Conn, t.db.Sysdate(), all...)
}

// The statements of a batch, appended to one text, each with its semicolon.

// appendEntries writes the batch's changes of the entries of all its periods: as few statements as there are chunks of
// rows, in the order of the primary key, so that neighbours are written together.
func appendEntries(t *mysql.Text, periods []*Period) {
	var rows []entryRow
	add := func(id int64, p *Period, upserts []*leaderboard.Entry, gone []string) {
		for _, e := range upserts {
			rows = append(rows, entryRow{id, p, e})
		}
		for chunk := range slices.Chunk(gone, mysql.MaxRows) {
			t.Str("DELETE FROM entries WHERE period_id = ").Int(id).Str(" AND member IN (").Hexes(chunk).Str(");")
		}
	}
	for _, p := range periods {
		upserts, gone := p.aside.toWrite()
		add(entries.AsideIn(p.ref.ID), p, upserts, gone)
	}
	for _, p := range periods {
		upserts, gone := p.toWrite()
		add(p.ref.ID, p, upserts, gone)
	}
	for chunk := range slices.Chunk(rows, mysql.MaxRows) {
		t.Str("INSERT INTO entries (period_id, member, score, tiebreak, created_time) VALUES ")
		for i, r := range chunk {
			entries.AppendRow(t.Comma(i), r.periodID, r.period.codec, *r.entry)
		}
		t.Str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time);")
	}
}

// entryRow is a row of entries to write.
type entryRow struct {
	periodID int64 // as stored, see entries.AsideIn
	period   *Period
	entry    *leaderboard.Entry
}

// appendAsideTimes stores the last assigned created_time of periods in which only entries that are set aside changed, so
// that entries that are shown together later have times in the order of their arrival.
func appendAsideTimes(t *mysql.Text, periods []*Period) (touched bool) {
	for _, p := range periods {
		if len(p.aside.touched) == 0 {
			continue
		}
		touched = true
		if len(p.changes) == 0 {
			t.Str("UPDATE periods SET last_created_time = ").Time(p.lastCreated).Str(" WHERE id = ").Int(p.ref.ID).Str(";")
		}
	}
	return touched
}

// appendLog writes one row of the change log per commit.
func appendLog(t *mysql.Text, events []Event) {
	for i := range events {
		c := events[i].Commit
		if i == 0 {
			t.Str("INSERT INTO changes (period_id, last_seq, first_seq, prev_committed_at, committed_at, entry_count, payload) VALUES ")
		}
		t.Comma(i).Str("(").Int(c.PeriodID).Str(",").Int(c.LastSeq).Str(",").Int(c.FirstSeq).Str(",").Time(c.PrevCommittedAt).Str(",")
		t.Time(c.CommittedAt).Str(",").Int(c.EntryCount).Str(",").HexBytes(entries.EncodeChanges(nil, events[i].Ref.Rules, c.Changes)).Str(")")
	}
	if len(events) > 0 {
		t.Str(";")
	}
}

// appendCorrections records corrections of a closed period among the runs.
func appendCorrections(t *mysql.Text, p *Period) {
	for _, c := range p.corrections {
		t.Str("INSERT INTO runs (board_id, period_id, kind, reason, actor, state, from_seq, to_seq, row_count, started_at) VALUES (")
		t.Int(p.ref.BoardID).Str(",").Int(p.ref.ID).Str(",'reopen','admin',").HexText(mysql.CutText(c.actor, mysql.MaxActor)).Str(",'done',")
		t.Int(c.from).Str(",").Int(c.to).Str(",1,").Time(p.clock).Str(");")
	}
}

// appendAdvance moves the periods to their new states, all in one statement. Each event is from the state that its
// period was found in to the new one.
func appendAdvance(t *mysql.Text, changed []*Period, events []Event) {
	byID := func(column string, value func(i int)) {
		t.Str(column).Str(" = CASE id")
		for i, p := range changed {
			t.Str(" WHEN ").Int(p.ref.ID).Str(" THEN ")
			value(i)
		}
		t.Str(" END")
	}
	t.Str("UPDATE periods SET ")
	byID("last_created_time", func(i int) { t.Time(changed[i].lastCreated) })
	byID(", committed_at", func(i int) { t.Time(events[i].Commit.CommittedAt) })
	byID(", entry_count", func(i int) { t.Int(changed[i].count) })
	byID(", last_seq", func(i int) { t.Int(changed[i].lastSeq) })
	t.Str(" WHERE id IN (")
	for i, p := range changed {
		t.Comma(i).Int(p.ref.ID)
	}
	byID(") AND last_seq", func(i int) { t.Int(events[i].Commit.From().Seq) })
	t.Str(";")
}

// checkAdvance checks that the periods were where the lock had found them, which nothing but a fault can change. The
// driver returns the count of the last statement of a packet.
func checkAdvance(result sql.Result, changed []*Period) error {
	n, err := result.RowsAffected()
	if err == nil && n != int64(len(changed)) {
		err = fmt.Errorf("of %d periods that are locked %d were where they had been: %w", len(changed), n, leaderboard.ErrUnavailable)
	}
	return err
}
