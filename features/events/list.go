package events

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/api"
	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// deliveryRow is a row of deliveries with its event.
type deliveryRow struct {
	eventRow
	State    []byte       `db:"state"`
	Next     time.Time    `db:"next_at"`
	Attempts int          `db:"attempt_count"`
	Tried    sql.NullTime `db:"tried_at"`
	Status   int          `db:"status"`
	Error    string       `db:"error"`
}

func (r *deliveryRow) delivery() Delivery {
	d := Delivery{
		Event: r.event(), State: api.DeliveryState(r.State), Attempts: r.Attempts, Status: r.Status, Error: r.Error,
	}
	if r.Tried.Valid {
		d.Tried = leaderboard.MicrosOf(r.Tried.Time)
	}
	if d.State == api.DeliveryStateWaiting {
		d.Next = max(leaderboard.MicrosOf(r.Next), d.Time) // before the first attempt it has been due from the beginning
	}
	return d
}

const (
	listed      = "SELECT " + eventColumns + ", d.state, d.next_at, d.attempt_count, d.tried_at, d.status, d.error FROM deliveries d FORCE INDEX ("
	listedRest  = ") STRAIGHT_JOIN outbox o ON o.id = d.event_id WHERE d.endpoint_id = ?"
	listedOrder = " AND d.event_id < ? ORDER BY d.event_id DESC LIMIT ?"
	listedAll   = listed + "PRIMARY" + listedRest + listedOrder
	listedState = listed + "deliveries_state" + listedRest + " AND d.state = ?" + listedOrder
)

// Deliveries lists deliveries of an endpoint, newest event first. Errors: ErrEndpointNotFound, ErrUnavailable.
func (s *Store) Deliveries(ctx context.Context, q DeliveriesQuery) ([]Delivery, error) {
	e, err := s.endpointIn(ctx, s.db.Pool, q.Endpoint)
	if err != nil {
		return nil, mysql.Translate(ctx, "deliveries", err)
	}
	before := q.Before
	if before == 0 {
		before = math.MaxInt64
	}
	var rows []deliveryRow
	if q.State == "" {
		err = s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(listedAll), e.ID, before, max(0, q.Limit))
	} else {
		err = s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(listedState), e.ID, []byte(q.State), before, max(0, q.Limit))
	}
	if err != nil {
		return nil, mysql.Translate(ctx, "deliveries", err)
	}
	out, events := make([]Delivery, len(rows)), make([]*leaderboard.Event, len(rows))
	for i := range rows {
		out[i] = rows[i].delivery()
		events[i] = &out[i].Event
	}
	return out, mysql.Translate(ctx, "deliveries", s.addMembers(ctx, events))
}

// replayed finds events from a moment on.
const replayed = "SELECT id, kind, board, created_at FROM outbox FORCE INDEX (outbox_age) WHERE created_at >= ? AND (created_at > ? OR id > ?) ORDER BY created_at, id LIMIT ?"

// Replay has events delivered to an endpoint again, under their ids, and returns their number. When it fails, some of them
// are delivered. Errors: ErrEndpointNotFound, ErrEventNotFound, the errors of may, ErrUnavailable.
func (s *Store) Replay(ctx context.Context, r Replay, may func(*Endpoint) error) (events int, err error) {
	e, err := s.endpointIn(ctx, s.db.Pool, r.Endpoint)
	if err == nil {
		err = may(&e)
	}
	if err == nil && r.Event != "" {
		events, err = s.replayOne(ctx, &e, r.Event)
	} else if err == nil {
		events, err = s.replaySince(ctx, &e, r.Since)
	}
	if events > 0 {
		err = errors.Join(err, s.auditReplay(ctx, &e, &r, events))
	}
	return events, mysql.Translate(ctx, "replay", err)
}

func (s *Store) replayOne(ctx context.Context, e *Endpoint, id string) (int, error) {
	var row outboxRow
	err := s.db.Pool.GetContext(ctx, &row, s.db.Limited("SELECT id, kind, board FROM outbox WHERE dedupe = ?"), []byte(id))
	if errors.Is(err, sql.ErrNoRows) || err == nil && len(wantedOf(e, []outboxRow{row})) == 0 {
		err = leaderboard.ErrEventNotFound
	}
	if err != nil {
		return 0, err
	}
	return 1, s.deliverTo(ctx, e.ID, []int64{row.ID}, 0, startAgain)
}

func (s *Store) replaySince(ctx context.Context, e *Endpoint, since leaderboard.Micros) (events int, err error) {
	at, id := since.Time(), int64(0)
	for {
		var rows []struct {
			outboxRow
			Created time.Time `db:"created_at"`
		}
		if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(replayed), at, at, id, spreadRows); err != nil || len(rows) == 0 {
			return events, err
		}
		found := make([]outboxRow, len(rows))
		for i := range rows {
			found[i] = rows[i].outboxRow
		}
		wanted := wantedOf(e, found)
		if len(wanted) > 0 {
			if err := s.deliverTo(ctx, e.ID, wanted, 0, startAgain); err != nil {
				return events, err
			}
		}
		events += len(wanted)
		if len(rows) < spreadRows {
			return events, nil
		}
		at, id = rows[len(rows)-1].Created, rows[len(rows)-1].ID
	}
}

// auditReplay records a replay.
func (s *Store) auditReplay(ctx context.Context, e *Endpoint, r *Replay, events int) error {
	type replay struct {
		Name   string              `json:"name"`
		Since  *leaderboard.Micros `json:"since,omitempty"`
		Event  string              `json:"event,omitempty"`
		Events int                 `json:"events"`
	}
	after := replay{Name: e.Name, Event: r.Event, Events: events}
	if r.Event == "" {
		after.Since = &r.Since
	}
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		_, err := audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionEndpointReplay, After: after})
		return err
	})
}
