package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

const (
	// aboveRows is how many events are read by one statement, and maxAbove after how many a call ends.
	aboveRows = mysql.MaxRows
	maxAbove  = 20 * aboveRows
)

const (
	olderThan = "SELECT id FROM outbox FORCE INDEX (outbox_age) WHERE created_at < %s - INTERVAL ? MICROSECOND ORDER BY created_at DESC, id DESC LIMIT 1"
	anyAbove  = "SELECT EXISTS (SELECT 1 FROM outbox FORCE INDEX (outbox_kind) WHERE kind = ? AND id > ?)"
	above     = "SELECT " + eventColumns + " FROM outbox o FORCE INDEX (outbox_kind) WHERE o.kind = ? AND o.id > ? ORDER BY o.id LIMIT ?"
)

// EventsMark returns a mark above which are all events of the last time d and all future events. Errors: ErrUnavailable.
func (s *Store) EventsMark(ctx context.Context, d time.Duration) (mark int64, err error) {
	err = s.db.Pool.GetContext(ctx, &mark, s.db.Limited(fmt.Sprintf(olderThan, s.db.Now())), d.Microseconds())
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return mark, mysql.Translate(ctx, "events", err)
}

// EventsAbove returns the events of a kind above a mark whose Seq known does not have, and a mark for the next call: no
// later event comes below it, and events above it may be returned again. The order is the order of their commits as far as
// the calls show it; an event that commits late comes in a later call. Errors: ErrUnavailable.
func (s *Store) EventsAbove(ctx context.Context, kind leaderboard.EventKind, mark int64, known func(seq int64) bool) (events []leaderboard.Event, next int64, err error) {
	var any bool
	if err := s.db.Pool.GetContext(ctx, &any, s.db.Limited(anyAbove), []byte(kind), mark); err != nil || !any {
		return nil, mark, mysql.Translate(ctx, "events", err)
	}
	bound, err := s.settled(ctx) // before they are read
	if err != nil {
		return nil, mark, mysql.Translate(ctx, "events", err)
	}
	next = max(mark, bound)
	for after := mark; ; {
		var rows []eventRow
		if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(above), []byte(kind), after, aboveRows); err != nil {
			return nil, mark, mysql.Translate(ctx, "events", err)
		}
		page := make([]*leaderboard.Event, 0, len(rows))
		for i := range rows {
			if after = rows[i].ID; !known(after) {
				e := rows[i].event()
				page = append(page, &e)
			}
		}
		if err := s.addMembers(ctx, page); err != nil {
			return nil, mark, mysql.Translate(ctx, "events", err)
		}
		for _, e := range page {
			events = append(events, *e)
		}
		if len(rows) < aboveRows {
			return events, next, nil
		}
		if len(events) >= maxAbove {
			return events, min(next, after), nil
		}
	}
}
