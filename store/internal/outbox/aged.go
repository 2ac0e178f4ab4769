package outbox

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

const (
	// removeTogether is how many events are deleted by one statement: each may have MaxClosedTop members, and a delivery for each
	// endpoint.
	removeTogether = 20
	// toldTogether is how many events about erased members are looked at together.
	toldTogether = 1000
)

const (
	agedEvents  = "SELECT id FROM outbox FORCE INDEX (outbox_age) WHERE created_at < ? ORDER BY created_at, id LIMIT ?"
	memberNews  = "SELECT m.event_id FROM outbox_members m FORCE INDEX (outbox_members_member) STRAIGHT_JOIN outbox o ON o.id = m.event_id WHERE m.member = ? AND o.kind LIKE 'member.%' ORDER BY m.event_id LIMIT ?"
	erasedNews  = "SELECT id FROM outbox FORCE INDEX (outbox_kind) WHERE kind = 'member.erased' AND id <= ? ORDER BY id LIMIT ?"
	stillWaited = "SELECT EXISTS (SELECT 1 FROM deliveries d FORCE INDEX (deliveries_event) JOIN endpoints e ON e.id = d.endpoint_id WHERE d.event_id = ? AND d.state = 'waiting')"
)

// RemoveAged deletes events from before a moment, with their deliveries, until over returns true; more reports whether there
// are more.
func (o *Outbox) RemoveAged(ctx context.Context, before time.Time, over func() bool) (more bool, err error) {
	for !over() {
		var ids []int64
		if err := o.db.Pool.SelectContext(ctx, &ids, agedEvents, before, removeTogether); err != nil {
			return false, err
		}
		if err := o.remove(ctx, ids); err != nil || len(ids) < removeTogether {
			return false, err
		}
	}
	return true, nil
}

// remove deletes events with all that goes with them.
func (o *Outbox) remove(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return o.db.InTx(ctx, func(tx *sqlx.Tx) error {
		for _, from := range []string{"outbox_members WHERE event_id", "deliveries WHERE event_id", "outbox WHERE id"} {
			if _, err := tx.ExecContext(ctx, (&mysql.Text{}).Str("DELETE FROM "+from+" IN (").Ints(ids).Str(")").String()); err != nil {
				return err
			}
		}
		return nil
	})
}

// RemoveMember deletes what events have of a member: events about the member alone, and the place in others.
func (o *Outbox) RemoveMember(ctx context.Context, member []byte) error {
	for {
		var ids []int64
		if err := o.db.Pool.SelectContext(ctx, &ids, memberNews, member, removeTogether); err != nil {
			return err
		}
		if err := o.remove(ctx, ids); err != nil {
			return err
		}
		if len(ids) < removeTogether {
			break
		}
	}
	for {
		var n int64
		err := mysql.Retry(mysql.Retryable, func() error {
			result, err := o.db.Pool.ExecContext(ctx, "DELETE FROM outbox_members WHERE member = ? LIMIT ?", member, mysql.MaxRows)
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

// RemoveTold deletes events about erased members that every endpoint has which gets them: until then such an event has the id
// of the member, so that those who keep data of the member can delete it too.
func (o *Outbox) RemoveTold(ctx context.Context) error {
	bound, err := o.toldBound(ctx)
	if err != nil {
		return err
	}
	var ids, told []int64
	if err := o.db.Pool.SelectContext(ctx, &ids, erasedNews, bound, toldTogether); err != nil {
		return err
	}
	for _, id := range ids {
		var waits bool
		if err := o.db.Pool.GetContext(ctx, &waits, stillWaited, id); err != nil {
			return err
		}
		if !waits {
			told = append(told, id)
		}
	}
	for len(told) > 0 {
		n := min(len(told), removeTogether)
		if err := o.remove(ctx, told[:n]); err != nil {
			return err
		}
		told = told[n:]
	}
	return nil
}

// toldBound returns the id up to which each endpoint has a delivery of every event about an erased member that it gets.
func (o *Outbox) toldBound(ctx context.Context) (bound int64, err error) {
	var rows []endpointRow
	if err := o.db.Pool.SelectContext(ctx, &rows, fmt.Sprint("SELECT "+endpointColumns+" FROM endpoints ORDER BY id LIMIT ", leaderboard.MaxEndpoints)); err != nil {
		return 0, err
	}
	if err := o.db.Pool.GetContext(ctx, &bound, "SELECT COALESCE(MAX(id), 0) FROM outbox"); err != nil {
		return 0, err
	}
	for i := range rows {
		if e, err := rows[i].endpoint(); err == nil && e.Wants(leaderboard.EventKindMemberErased, "") {
			bound = min(bound, rows[i].LowWater)
		}
	}
	return bound, nil
}
