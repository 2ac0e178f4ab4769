package events

import (
	"context"
	"fmt"

	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
)

// deliveredTogether is how many events about erased members are looked at together.
const deliveredTogether = 1000

const (
	erasedEvents = "SELECT id FROM outbox FORCE INDEX (outbox_kind) WHERE kind = 'member.erased' AND id <= ? ORDER BY id LIMIT ?"
	stillWaited  = "SELECT EXISTS (SELECT 1 FROM deliveries d FORCE INDEX (deliveries_event) JOIN endpoints e ON e.id = d.endpoint_id WHERE d.event_id = ? AND d.state = 'waiting')"
)

// removeDelivered deletes events about erased members once every endpoint for them has them: until then such an event has the id
// of the member, so that receivers can delete their data of the member too.
func (s *Store) removeDelivered(ctx context.Context) error {
	bound, err := s.deliveredBound(ctx)
	if err != nil {
		return err
	}
	var ids, told []int64
	if err := s.db.Pool.SelectContext(ctx, &ids, erasedEvents, bound, deliveredTogether); err != nil {
		return err
	}
	for _, id := range ids {
		var waits bool
		if err := s.db.Pool.GetContext(ctx, &waits, stillWaited, id); err != nil {
			return err
		}
		if !waits {
			told = append(told, id)
		}
	}
	return outbox.Remove(ctx, s.db, told)
}

// deliveredBound returns the id up to which each endpoint has a delivery of every event about an erased member that it gets.
func (s *Store) deliveredBound(ctx context.Context) (bound int64, err error) {
	var rows []endpointRow
	if err := s.db.Pool.SelectContext(ctx, &rows, fmt.Sprint("SELECT "+endpointColumns+" FROM endpoints ORDER BY id LIMIT ", outbox.MaxEndpoints)); err != nil {
		return 0, err
	}
	if err := s.db.Pool.GetContext(ctx, &bound, "SELECT COALESCE(MAX(id), 0) FROM outbox"); err != nil {
		return 0, err
	}
	for i := range rows {
		if e, err := rows[i].endpoint(); err == nil && e.Wants(leaderboard.EventKindMemberErased, "") {
			bound = min(bound, rows[i].LowWater)
		}
	}
	return bound, nil
}
