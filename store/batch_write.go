package store

import (
	"database/sql"
	"fmt"
	"slices"

	"leaderboard"
)

// The statements of a batch, appended to one text, each with its semicolon.

// appendEntries writes what the batch made of the entries of all its periods: as few statements as there are chunks of
// rows, in the order of the primary key, so that neighbours are written together.
func appendEntries(t *text, periods []*period) {
	var rows []entryRow
	add := func(id int64, p *period, upserts []*leaderboard.Entry, gone []string) {
		for _, e := range upserts {
			rows = append(rows, entryRow{id, p, e})
		}
		for chunk := range slices.Chunk(gone, upsertRows) {
			t.str("DELETE FROM entries WHERE period_id = ").int(id).str(" AND member IN (").hexes(chunk).str(");")
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
	for chunk := range slices.Chunk(rows, upsertRows) {
		t.str("INSERT INTO entries (period_id, member, score, tiebreak, created_at) VALUES ")
		for i, r := range chunk {
			t.comma(i).row(r.periodID, r.period.codec, *r.entry)
		}
		t.str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_at = VALUES(created_at);")
	}
}

// entryRow is a row of entries to write.
type entryRow struct {
	periodID int64 // negative: a shadow
	period   *period
	entry    *leaderboard.Entry
}

// appendLog writes one row of the change log per period; commits are those of changed.
func appendLog(t *text, changed []*period, commits []notice) {
	for i, p := range changed {
		c := commits[i].commit
		if i == 0 {
			t.str("INSERT INTO changes (period_id, last_seq, first_seq, prev_committed_at, committed_at, entry_count, payload) VALUES ")
		}
		t.comma(i).str("(").int(c.PeriodID).str(",").int(c.LastSeq).str(",").int(c.FirstSeq).str(",").time(c.PrevCommittedAt).str(",")
		t.time(c.CommittedAt).str(",").int(c.EntryCount).str(",").hexBytes(encodeChanges(nil, p.ref.Rules, c.Changes)).str(")")
	}
	if len(changed) > 0 {
		t.str(";")
	}
}

// appendKeys stores the answers of requests that came with a key, also those that changed nothing.
func appendKeys(t *text, boardID int64, now leaderboard.Micros, keys []keyRow) error {
	for chunk := range slices.Chunk(keys, upsertRows) {
		t.str("INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt) VALUES ")
		for i, k := range chunk {
			receipt, err := encodeAnswer(k.answer)
			if err != nil {
				return err
			}
			t.comma(i).str("(").int(boardID).str(",").hex(k.key).str(",").hexBytes(k.hash[:]).str(",").time(now)
			t.str(",").hexBytes(receipt).str(")")
		}
		t.str(";")
	}
	return nil
}

// appendReopenings records corrections of a closed period among the runs.
func appendReopenings(t *text, p *period) {
	for _, r := range p.actors {
		t.str("INSERT INTO runs (board_id, period_id, kind, reason, actor, state, from_seq, to_seq, row_count, started_at) VALUES (")
		t.int(p.ref.BoardID).str(",").int(p.ref.ID).str(",'reopen','admin',").hexText(cutText(r.actor, maxActor)).str(",'done',")
		t.int(r.from).str(",").int(r.to).str(",1,").time(p.clock).str(");")
	}
}

// appendAdvance moves the periods to their new states, all in one statement.
func appendAdvance(t *text, changed []*period, commits []notice) {
	byID := func(column string, value func(i int)) {
		t.str(column).str(" = CASE id")
		for i, p := range changed {
			t.str(" WHEN ").int(p.ref.ID).str(" THEN ")
			value(i)
		}
		t.str(" END")
	}
	t.str("UPDATE periods SET ")
	byID("last_created_at", func(i int) { t.time(changed[i].lastCreated) })
	byID(", committed_at", func(i int) { t.time(commits[i].commit.CommittedAt) })
	byID(", entry_count", func(i int) { t.int(changed[i].count) })
	byID(", last_seq", func(i int) { t.int(changed[i].lastSeq) })
	t.str(" WHERE id IN (")
	for i, p := range changed {
		t.comma(i).int(p.ref.ID)
	}
	byID(") AND last_seq", func(i int) { t.int(commits[i].commit.FromSeq()) })
	t.str(";")
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
