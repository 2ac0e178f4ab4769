package outbox

import (
	"context"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
)

// removeTogether is how many events are deleted by one statement: each may have MaxClosedTop members, and a delivery for each
// endpoint.
const removeTogether = 20

const (
	agedEvents = "SELECT id FROM outbox FORCE INDEX (outbox_age) WHERE created_at < ? ORDER BY created_at, id LIMIT ?"
	memberNews = "SELECT m.event_id FROM outbox_members m FORCE INDEX (outbox_members_member) STRAIGHT_JOIN outbox o ON o.id = m.event_id WHERE m.member = ? AND o.kind LIKE 'member.%' ORDER BY m.event_id LIMIT ?"
)

// RemoveAged deletes events from before a moment, with their deliveries, until over returns true; more reports whether there
// are more.
func RemoveAged(ctx context.Context, db *mysql.DB, before time.Time, over func() bool) (more bool, err error) {
	for !over() {
		var ids []int64
		if err := db.Pool.SelectContext(ctx, &ids, agedEvents, before, removeTogether); err != nil {
			return false, err
		}
		if err := Remove(ctx, db, ids); err != nil || len(ids) < removeTogether {
			return false, err
		}
	}
	return true, nil
}

// Remove deletes events and everything that belongs to them, including their deliveries.
func Remove(ctx context.Context, db *mysql.DB, ids []int64) error {
	for some := range slices.Chunk(ids, removeTogether) {
		err := db.InTx(ctx, func(tx *sqlx.Tx) error {
			for _, from := range []string{"outbox_members WHERE event_id", "deliveries WHERE event_id", "outbox WHERE id"} {
				if _, err := tx.ExecContext(ctx, (&mysql.Text{}).Str("DELETE FROM "+from+" IN (").Ints(some).Str(")").String()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveMember deletes what events have of a member: events about the member alone, and the place in others.
func RemoveMember(ctx context.Context, db *mysql.DB, member []byte) error {
	for {
		var ids []int64
		if err := db.Pool.SelectContext(ctx, &ids, memberNews, member, removeTogether); err != nil {
			return err
		}
		if err := Remove(ctx, db, ids); err != nil {
			return err
		}
		if len(ids) < removeTogether {
			break
		}
	}
	for {
		var n int64
		err := mysql.Retry(mysql.Retryable, func() error {
			result, err := db.Pool.ExecContext(ctx, "DELETE FROM outbox_members WHERE member = ? LIMIT ?", member, mysql.MaxRows)
			if err == nil {
				n, err = result.RowsAffected()
			}
			return err
		})
		if err != nil || n < mysql.MaxRows {
			return err
		}
	}
}
