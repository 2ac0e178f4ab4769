package store

import (
	"database/sql"
	"fmt"
	"slices"

	"leaderboard"
)

// The statements of a batch, appended to one text, each with its semicolon.

// appendEntries writes what the batch made of a period's entries.
func appendEntries(t *text, p *period) {
	upserts, gone := p.outcome()
	for chunk := range slices.Chunk(upserts, upsertRows) {
		t.str("INSERT INTO entries (period_id, member, score, tiebreak, created_time) VALUES ")
		for i, e := range chunk {
			t.comma(i).row(p.ref.ID, p.codec, *e)
		}
		t.str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time);")
	}
	for chunk := range slices.Chunk(gone, upsertRows) {
		t.str("DELETE FROM entries WHERE period_id = ").int(p.ref.ID).str(" AND member IN (")
		for i, m := range chunk {
			t.comma(i).hex(m)
		}
		t.str(");")
	}
}

func appendLogRow(t *text, p *period, c *leaderboard.Commit) {
	t.str("INSERT INTO changes (period_id, last_seq, first_seq, prev_committed, committed_at, entry_count, payload) VALUES (")
	t.int(c.PeriodID).str(",").int(c.LastSeq).str(",").int(c.FirstSeq).str(",").time(c.PrevCommittedAt).str(",")
	t.time(c.CommittedAt).str(",").int(c.EntryCount).str(",")
	t.hexBytes(encodeChanges(nil, p.ref.Rules, c.Changes)).str(");")
}

// appendKeys stores the answers of requests that came with a key, also those that changed nothing.
func appendKeys(t *text, boardID int64, now leaderboard.Micros, keys []keyRow) error {
	for chunk := range slices.Chunk(keys, upsertRows) {
		t.str("INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_time, receipt) VALUES ")
		for i, k := range chunk {
			receipt, err := encodeReceipt(k.receipt)
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
		t.str("INSERT INTO refresh_runs (board_id, period_id, kind, reason, actor, state, from_seq, to_seq, row_count, started_at) VALUES (")
		t.int(p.ref.BoardID).str(",").int(p.ref.ID).str(",'reopen','admin',").hexText(cutText(r.actor, maxActor)).str(",'done',")
		t.int(r.seq - 1).str(",").int(r.seq).str(",1,").time(p.clock).str(");")
	}
}

// appendAdvance moves the periods to their new states.
func appendAdvance(t *text, commits []notice, changed []*period) {
	for i, p := range changed {
		c := commits[i].commit
		t.str("UPDATE periods SET last_seq = ").int(p.lastSeq).str(", last_created_time = ").time(p.lastCreated)
		t.str(", committed_at = ").time(c.CommittedAt).str(", entry_count = ").int(p.count)
		t.str(" WHERE id = ").int(p.ref.ID).str(" AND last_seq = ").int(c.FromSeq()).str(";")
	}
}

// checkAdvance checks that the periods were where the lock had found them, which nothing but a fault can change. The
// driver tells the count of the last statement of a packet.
func checkAdvance(result sql.Result, changed []*period) error {
	n, err := result.RowsAffected()
	if err == nil && n != 1 {
		p := changed[len(changed)-1]
		err = fmt.Errorf("period %d moved though it is locked (%d rows): %w", p.ref.ID, n, leaderboard.ErrUnavailable)
	}
	return err
}
