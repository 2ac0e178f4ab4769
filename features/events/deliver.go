package events

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/api"
	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// eventRow is a row of outbox.
type eventRow struct {
	ID      int64     `db:"id"`
	Dedupe  []byte    `db:"dedupe"`
	Kind    []byte    `db:"kind"`
	Board   []byte    `db:"board"`
	Payload []byte    `db:"payload"`
	Created time.Time `db:"created_at"`
}

const eventColumns = "o.id, o.dedupe, o.kind, o.board, o.payload, o.created_at"

func (r *eventRow) event() leaderboard.Event {
	return leaderboard.Event{
		Seq: r.ID, ID: string(r.Dedupe), Kind: leaderboard.EventKind(r.Kind), Time: leaderboard.MicrosOf(r.Created), Board: string(r.Board), Data: string(r.Payload),
	}
}

// neverTried is next_at of a delivery without an attempt. So the index of due deliveries keeps these apart from deliveries
// that wait for another attempt, in the order of their events.
const neverTried = "'1970-01-01'"

// due finds deliveries for the next attempts, tried ones first.
const (
	due      = "SELECT " + eventColumns + ", d.attempt_count FROM deliveries d FORCE INDEX (deliveries_due) STRAIGHT_JOIN outbox o ON o.id = d.event_id WHERE d.endpoint_id = ? AND d.state = 'waiting'"
	dueOrder = " ORDER BY d.next_at, d.event_id LIMIT ?"
	dueAgain = due + " AND d.next_at > " + neverTried + " AND d.next_at <= %s" + dueOrder
	dueFirst = due + " AND d.next_at = " + neverTried + dueOrder
)

// dueRow is a row of deliveries that is due, with its event.
type dueRow struct {
	eventRow
	Attempts int `db:"attempt_count"`
}

// Due returns deliveries to an endpoint that must be tried now, at most limit. Half of them have been tried before, the
// longest waiting first; the others have not; a half that is not full leaves its room to the other. So neither new events
// nor events that are refused each time delay the others. Errors: ErrUnavailable.
func (s *Store) Due(ctx context.Context, endpoint int64, limit int) ([]Delivery, error) {
	var again, first []dueRow
	err := s.db.Pool.SelectContext(ctx, &again, s.db.Limited(fmt.Sprintf(dueAgain, s.db.Now())), endpoint, limit)
	if err == nil {
		err = s.db.Pool.SelectContext(ctx, &first, s.db.Limited(dueFirst), endpoint, limit-min(len(again), limit/2))
	}
	if err != nil {
		return nil, mysql.Translate(ctx, "due deliveries", err)
	}
	rows := append(again[:min(len(again), limit-len(first))], first...)
	out := make([]Delivery, len(rows))
	events := make([]*leaderboard.Event, len(rows))
	for i := range rows {
		out[i] = Delivery{Event: rows[i].event(), State: api.DeliveryStateWaiting, Attempts: rows[i].Attempts}
		events[i] = &out[i].Event
	}
	return out, mysql.Translate(ctx, "due deliveries", s.addMembers(ctx, events))
}

// addMembers gives events their members.
func (s *Store) addMembers(ctx context.Context, events []*leaderboard.Event) error {
	if len(events) == 0 {
		return nil
	}
	ids, byID := make([]int64, len(events)), make(map[int64]*leaderboard.Event, len(events))
	for i, e := range events {
		ids[i], byID[e.Seq] = e.Seq, e
	}
	var rows []struct {
		Event  int64  `db:"event_id"`
		Member []byte `db:"member"`
		Detail []byte `db:"detail"`
	}
	t := (&mysql.Text{}).Str("SELECT event_id, member, detail FROM outbox_members WHERE event_id IN (").Ints(ids)
	t.Str(") ORDER BY event_id, place LIMIT ").Int(int64(len(ids) * leaderboard.MaxClosedTop))
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(t.String())); err != nil {
		return err
	}
	for i := range rows {
		e := byID[rows[i].Event]
		e.Members = append(e.Members, leaderboard.EventMember{Member: string(rows[i].Member), Detail: string(rows[i].Detail)})
	}
	return nil
}

// Settle records the result of an attempt. A delivery whose next attempt would be later than leaderboard.EventTTL after its
// event has failed for good, which failed reports. Nothing is recorded for an endpoint that was deleted meanwhile. Errors:
// ErrUnavailable.
func (s *Store) Settle(ctx context.Context, a Attempt) (failed bool, err error) {
	s.point("events-sent")
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if a.Gone {
			if err := s.turnOff(ctx, tx, a.EndpointID); err != nil {
				return err
			}
		}
		const note = "UPDATE deliveries SET attempt_count = attempt_count + 1, status = ?, error = ?, tried_at = "
		const which = " WHERE endpoint_id = ? AND event_id = ? AND state = 'waiting'"
		now := s.db.Now()
		if a.Delivered() {
			_, err := tx.ExecContext(ctx, note+now+", state = 'delivered'"+which, a.Status, "", a.EndpointID, a.Event)
			return err
		}
		retry := a.Retry.Microseconds()
		_, err := tx.ExecContext(ctx, note+now+", next_at = "+now+" + INTERVAL ? MICROSECOND, state = IF(next_at > event_at + INTERVAL ? SECOND, 'failed', 'waiting')"+which,
			a.Status, mysql.CutText(a.Error, 200), retry, int64(leaderboard.EventTTL/time.Second), a.EndpointID, a.Event)
		if err != nil {
			return err
		}
		return tx.GetContext(ctx, &failed, "SELECT EXISTS (SELECT 1 FROM deliveries WHERE endpoint_id = ? AND event_id = ? AND state = 'failed')", a.EndpointID, a.Event)
	})
	s.point("events-settled")
	return failed, mysql.Translate(ctx, "settle", err)
}

// turnOff turns an endpoint off that is on, because it is gone.
func (s *Store) turnOff(ctx context.Context, tx *sqlx.Tx, endpoint int64) error {
	var row endpointRow
	if err := tx.GetContext(ctx, &row, "SELECT "+endpointColumns+" FROM endpoints WHERE id = ? AND state = 'on' FOR UPDATE", endpoint); err != nil {
		return ignoreNoRows(err)
	}
	before, err := row.endpoint()
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE endpoints SET state = 'gone', updated_at = "+s.db.Now()+" WHERE id = ?", endpoint); err != nil {
		return err
	}
	after := before
	after.State = api.EndpointStateGone
	_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionEndpointUpdate, Before: stateOf(&before), After: stateOf(&after)})
	return err
}

// Backlog returns the waiting deliveries of the endpoints that are on. Errors: ErrUnavailable.
func (s *Store) Backlog(ctx context.Context) (b Backlog, err error) {
	rows, _, err := s.endpointsOn(ctx)
	for i := range rows {
		if err != nil {
			break
		}
		e := Endpoint{ID: rows[i].ID}
		if err = s.addWaiting(ctx, &e); err == nil && e.Waiting > 0 {
			b.Waiting += e.Waiting
			if b.Oldest == 0 || e.OldestWaiting < b.Oldest {
				b.Oldest = e.OldestWaiting
			}
		}
	}
	return b, mysql.Translate(ctx, "backlog", err)
}

const (
	waitingCount = "SELECT COUNT(*) FROM (SELECT 1 FROM deliveries FORCE INDEX (deliveries_state) WHERE endpoint_id = ? AND state = 'waiting' LIMIT ?) waiting"
	waitingFirst = "SELECT event_at, error FROM deliveries FORCE INDEX (deliveries_state) WHERE endpoint_id = ? AND state = 'waiting' ORDER BY event_id LIMIT 1"
)

// addWaiting adds an endpoint's waiting deliveries to it.
func (s *Store) addWaiting(ctx context.Context, e *Endpoint) error {
	err := s.db.Pool.GetContext(ctx, &e.Waiting, s.db.Limited(waitingCount), e.ID, maxWaiting)
	if err != nil || e.Waiting == 0 {
		return err
	}
	var oldest struct {
		At    time.Time `db:"event_at"`
		Error string    `db:"error"`
	}
	err = s.db.Pool.GetContext(ctx, &oldest, s.db.Limited(waitingFirst), e.ID)
	if errors.Is(err, sql.ErrNoRows) { // it was delivered meanwhile
		e.Waiting = 0
		return nil
	}
	e.OldestWaiting, e.LastError = leaderboard.MicrosOf(oldest.At), oldest.Error
	return err
}
