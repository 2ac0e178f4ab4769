package entries

import (
	"context"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
	"leaderboard/rank"
)

// KeptReader reads a feature's data next to entries.
type KeptReader interface {
	// ReadKept returns the data kept with entries of a period, in the entries' order; "": no data.
	ReadKept(ctx context.Context, d *mysql.DB, q mysql.Querier, period int64, of []rank.Key) ([]string, error)
}

// Kept is a feature's data next to entries, in separate rows by period and member: they are read at one state with the
// entries, and deleted after them. A part of submissions with these methods is used; at most one part has them.
type Kept interface {
	KeptReader
	// PurgeKept deletes up to limit rows of periods that nobody reads any longer, and returns their number.
	PurgeKept(ctx context.Context, tx *sqlx.Tx, periods []int64, limit int) (int, error)
	// ForgetKept returns the statement that deletes the rows of a member in periods.
	ForgetKept(periods []int64, member string) string
}

// AmongPeriods appends the condition that period_id is one of these, in lists of mysql.MaxRows.
func AmongPeriods(t *mysql.Text, ids []int64) *mysql.Text {
	t.Str("(")
	for from := 0; from < len(ids); from += mysql.MaxRows {
		if from > 0 {
			t.Str(" OR ")
		}
		t.Str("period_id IN (").Ints(ids[from:min(from+mysql.MaxRows, len(ids))]).Str(")")
	}
	return t.Str(")")
}
