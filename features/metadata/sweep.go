package metadata

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/store"
)

// lockedRows reads rows of periods, locked: another process may be deleting them.
func lockedRows(ids []int64, limit int) string {
	t := (&mysql.Text{}).Str("SELECT member, body_id FROM entry_metadata FORCE INDEX (PRIMARY) WHERE period_id IN (").Ints(ids)
	return t.Str(") ORDER BY period_id, member LIMIT ").Int(int64(limit)).Str(" FOR UPDATE").String()
}

// PurgeKept deletes up to limit rows of periods, and removes their references from the bodies; bodies without references
// are deleted.
func (Part) PurgeKept(ctx context.Context, tx *sqlx.Tx, ids []int64, limit int) (n int, err error) {
	var rows []struct {
		Member []byte `db:"member"`
		BodyID int64  `db:"body_id"`
	}
	if err := tx.SelectContext(ctx, &rows, lockedRows(ids, limit)); err != nil || len(rows) == 0 {
		return 0, err
	}
	refs := map[bodyKey]int64{}
	for _, r := range rows {
		if r.BodyID != noBody {
			refs[bodyKey{Member: string(r.Member), ID: r.BodyID}]++
		}
	}
	byCount := map[int64][]bodyKey{}
	for key, count := range refs {
		byCount[count] = append(byCount[count], key)
	}
	var statements []string
	for count, keys := range byCount {
		for chunk := range slices.Chunk(keys, mysql.MaxRows) {
			statements = append(statements, appendBodyKeys((&mysql.Text{}).Str("UPDATE metadata_bodies SET refs = refs - ").Int(count).Str(" WHERE "), chunk).String())
		}
	}
	for chunk := range slices.Chunk(slices.SortedFunc(maps.Keys(refs), bodyKey.Compare), mysql.MaxRows) {
		statements = append(statements, appendBodyKeys((&mysql.Text{}).Str("DELETE FROM metadata_bodies WHERE refs <= 0 AND "), chunk).String())
	}
	remove := (&mysql.Text{}).Str("DELETE FROM entry_metadata WHERE period_id IN (").Ints(ids).Str(") ORDER BY period_id, member LIMIT ").Int(int64(len(rows)))
	for _, query := range append(statements, remove.String()) {
		if _, err := tx.ExecContext(ctx, query); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// ForgetKept returns the statement that deletes the rows of a member in periods: the rows of entries were deleted with the
// entries, but not while the board had no rule metadata.
func (Part) ForgetKept(periods []int64, member string) string {
	return entries.AmongPeriods((&mysql.Text{}).Str("DELETE FROM entry_metadata WHERE "), periods).Str(" AND member = ").Hex(member).String()
}

// forget deletes the texts of a member's entries.
func forget(ctx context.Context, member, _ []byte, steps store.Steps) error {
	return steps(ctx, "DELETE FROM metadata_bodies WHERE member = ? ORDER BY id LIMIT ?", member)
}

const emptiedNext = "SELECT emptied_at FROM entry_metadata WHERE emptied_at >= ? AND emptied_at < ? ORDER BY emptied_at LIMIT ?, 1"

// emptiedTTL is how long a row of entry_metadata without metadata is kept: longer than an answer with the previous entry
// can be on its way.
const emptiedTTL = 10 * time.Minute

// emptied deletes the rows without metadata of entries whose predecessors had metadata.
func emptied(ctx context.Context, s store.Sweeper, slice store.Slice) (more bool, err error) {
	const remove = "DELETE FROM entry_metadata WHERE emptied_at >= ? AND emptied_at < ? ORDER BY emptied_at LIMIT ?"
	return s.Aged(ctx, slice, emptiedNext, remove, s.Before(emptiedTTL))
}
