package store

import (
	"context"
	"fmt"
	"slices"

	"leaderboard"
)

// writePeriod writes what the batch made of one period: its entries, its row of the change log, its own row.
func (w *writer) writePeriod(ctx context.Context, tx *writeTx, p *period, b *batch) error {
	c := p.commit()
	if c == nil {
		return nil
	}
	upserts, gone := p.outcome()
	for chunk := range slices.Chunk(upserts, upsertRows) {
		if err := tx.exec(ctx, w.upsert(p, chunk)); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(gone, upsertRows) {
		if err := tx.exec(ctx, w.remove(p, chunk)); err != nil {
			return err
		}
	}
	if err := tx.exec(ctx, w.logRow(p, c)); err != nil {
		return err
	}
	t := &w.text
	t.reset()
	t.str("UPDATE periods SET last_seq = ").int(p.lastSeq).str(", last_created_time = ").time(p.lastCreated)
	t.str(", committed_at = ").time(c.CommittedAt).str(", entry_count = ").int(p.count)
	t.str(" WHERE id = ").int(p.ref.ID).str(" AND last_seq = ").int(c.FromSeq())
	result, err := tx.conn.ExecContext(ctx, t.String())
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("period %d is not at seq %d though it is locked (%d rows): %w", p.ref.ID, c.FromSeq(), n, leaderboard.ErrUnavailable)
	}
	b.commits = append(b.commits, notice{p.ref, c})
	return nil
}

func (w *writer) upsert(p *period, entries []*leaderboard.Entry) string {
	t := &w.text
	t.reset()
	t.str("INSERT INTO entries (period_id, member, score, tiebreak, created_time) VALUES ")
	for i, e := range entries {
		t.comma(i).row(p.ref.ID, p.codec, *e)
	}
	t.str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time)")
	return t.String()
}

func (w *writer) remove(p *period, members []string) string {
	t := &w.text
	t.reset()
	t.str("DELETE FROM entries WHERE period_id = ").int(p.ref.ID).str(" AND member IN (")
	for i, m := range members {
		t.comma(i).hex(m)
	}
	return t.str(")").String()
}

func (w *writer) logRow(p *period, c *leaderboard.Commit) string {
	t := &w.text
	t.reset()
	t.str("INSERT INTO changes (period_id, last_seq, first_seq, prev_committed, committed_at, entry_count, payload) VALUES (")
	t.int(c.PeriodID).str(",").int(c.LastSeq).str(",").int(c.FirstSeq).str(",").time(c.PrevCommittedAt).str(",")
	t.time(c.CommittedAt).str(",").int(c.EntryCount).str(",")
	return t.hexBytes(encodeChanges(nil, p.ref.Rules, c.Changes)).str(")").String()
}

// writeKeys stores the answers of requests that came with a key, also those that changed nothing.
func (w *writer) writeKeys(ctx context.Context, tx *writeTx, boardID int64, now leaderboard.Micros, keys []keyRow) error {
	for chunk := range slices.Chunk(keys, upsertRows) {
		t := &w.text
		t.reset()
		t.str("INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_time, receipt) VALUES ")
		for i, k := range chunk {
			receipt, err := encodeReceipt(k.receipt)
			if err != nil {
				return err
			}
			t.comma(i).str("(").int(boardID).str(",").hex(k.key).str(",").hexBytes(k.hash[:]).str(",").time(now)
			t.str(",").hexBytes(receipt).str(")")
		}
		if err := tx.exec(ctx, t.String()); err != nil {
			return err
		}
	}
	return nil
}
