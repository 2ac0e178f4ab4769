package store

import (
	"database/sql"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// The statements of a batch, appended to one text, each with its semicolon.

// appendEntries writes what the batch made of the entries of all its periods: as few statements as there are chunks of
// rows, in the order of the primary key, so that neighbours are written together.
func appendEntries(t *db.Text, periods []*period) {
	var rows []entryRow
	add := func(id int64, p *period, upserts []*leaderboard.Entry, gone []string) {
		for _, e := range upserts {
			rows = append(rows, entryRow{id, p, e})
		}
		for chunk := range slices.Chunk(gone, db.MaxRows) {
			t.Str("DELETE FROM entries WHERE period_id = ").Int(id).Str(" AND member IN (").Hexes(chunk).Str(");")
		}
	}
	for _, p := range periods {
		upserts, gone := p.shadow.outcome()
		add(-p.ref.ID, p, upserts, gone)
	}
	for _, p := range periods {
		upserts, gone := p.outcome()
		add(p.ref.ID, p, upserts, gone)
	}
	for chunk := range slices.Chunk(rows, db.MaxRows) {
		t.Str("INSERT INTO entries (period_id, member, score, tiebreak, created_at) VALUES ")
		for i, r := range chunk {
			entries.AppendRow(t.Comma(i), r.periodID, r.period.codec, *r.entry)
		}
		t.Str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_at = VALUES(created_at);")
	}
}

// entryRow is a row of entries to write.
type entryRow struct {
	periodID int64 // negative: a shadow
	period   *period
	entry    *leaderboard.Entry
}

// appendLog writes one row of the change log per period; commits are those of changed.
func appendLog(t *db.Text, changed []*period, commits []notice) {
	for i, p := range changed {
		c := commits[i].commit
		if i == 0 {
			t.Str("INSERT INTO changes (period_id, last_seq, first_seq, prev_committed_at, committed_at, entry_count, payload) VALUES ")
		}
		t.Comma(i).Str("(").Int(c.PeriodID).Str(",").Int(c.LastSeq).Str(",").Int(c.FirstSeq).Str(",").Time(c.PrevCommittedAt).Str(",")
		t.Time(c.CommittedAt).Str(",").Int(c.EntryCount).Str(",").HexBytes(entries.EncodeChanges(nil, p.ref.Rules, c.Changes)).Str(")")
	}
	if len(changed) > 0 {
		t.Str(";")
	}
}

// appendKeys stores the answers of requests that came with a key, also those that changed nothing.
func appendKeys(t *db.Text, boardID int64, now leaderboard.Micros, keys []keyRow) error {
	for chunk := range slices.Chunk(keys, db.MaxRows) {
		t.Str("INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt) VALUES ")
		for i, k := range chunk {
			receipt, err := encodeAnswer(k.answer)
			if err != nil {
				return err
			}
			t.Comma(i).Str("(").Int(boardID).Str(",").Hex(k.key).Str(",").HexBytes(k.hash[:]).Str(",").Time(now)
			t.Str(",").HexBytes(receipt).Str(")")
		}
		t.Str(";")
	}
	return nil
}

// appendReopenings records corrections of a closed period among the runs.
func appendReopenings(t *db.Text, p *period) {
	for _, r := range p.actors {
		t.Str("INSERT INTO runs (board_id, period_id, kind, reason, actor, state, from_seq, to_seq, row_count, started_at) VALUES (")
		t.Int(p.ref.BoardID).Str(",").Int(p.ref.ID).Str(",'reopen','admin',").HexText(cutText(r.actor, maxActor)).Str(",'done',")
		t.Int(r.from).Str(",").Int(r.to).Str(",1,").Time(p.clock).Str(");")
	}
}

// appendAdvance moves the periods to their new states, all in one statement.
func appendAdvance(t *db.Text, changed []*period, commits []notice) {
	byID := func(column string, value func(i int)) {
		t.Str(column).Str(" = CASE id")
		for i, p := range changed {
			t.Str(" WHEN ").Int(p.ref.ID).Str(" THEN ")
			value(i)
		}
		t.Str(" END")
	}
	t.Str("UPDATE periods SET ")
	byID("last_created_at", func(i int) { t.Time(changed[i].lastCreated) })
	byID(", committed_at", func(i int) { t.Time(commits[i].commit.CommittedAt) })
	byID(", entry_count", func(i int) { t.Int(changed[i].count) })
	byID(", last_seq", func(i int) { t.Int(changed[i].lastSeq) })
	t.Str(" WHERE id IN (")
	for i, p := range changed {
		t.Comma(i).Int(p.ref.ID)
	}
	byID(") AND last_seq", func(i int) { t.Int(commits[i].commit.From().Seq) })
	t.Str(";")
}

// checkAdvance checks that the periods were where the lock had found them, which nothing but a fault can change. The
// driver tells the count of the last statement of a packet.
func checkAdvance(result sql.Result, changed []*period) error {
	n, err := result.RowsAffected()
	if err == nil && n != int64(len(changed)) {
		err = fmt.Errorf("of %d periods that are locked %d were where they had been: %w", len(changed), n, leaderboard.ErrUnavailable)
	}
	return err
}
