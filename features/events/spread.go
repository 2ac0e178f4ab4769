package events

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
)

// How each event gets a delivery for each endpoint.
//
// An id is given when a row is inserted, and shown when its transaction commits: a later id may be seen before an earlier
// one. So no round may continue after the greatest id that it has seen. Each endpoint has a low-water mark, up to which no
// event lacks its delivery, nor ever will; above it a round looks for events without one, so it does not matter in which
// order they come. The mark moves up to the greatest id that is there at a moment at which no transaction is between an id
// and its commit: each shares the lock of one row from before it gets an id until it commits, so that moment is when the
// round has that lock alone. It does not wait for it: as long as others share it, the mark stays where it is, and a few
// more rows are looked at.

// Store is the events that wait, and the endpoints that they wait for. All methods may be called concurrently.
type Store struct {
	db    *mysql.DB
	point func(name string)
}

// NewStore returns the events of a database. point is called at named points of the work, for tests; nil: nothing is.
func NewStore(d *mysql.DB, point func(name string)) *Store {
	if point == nil {
		point = func(string) {}
	}
	return &Store{db: d, point: point}
}

// spreadRows is how many events are spread in one transaction.
const spreadRows = mysql.MaxRows

// leadLock is the lock of the process that sends.
func leadLock() mysql.Lock { return mysql.Lock{Kind: "events"} }

// LeadEvents reports whether this process sends; it takes the lead if no process has it. It does not wait for another
// process. The caller calls again from time to time: the server releases the lock with the connection. Errors:
// ErrUnavailable.
func (s *Store) LeadEvents(ctx context.Context) (bool, error) {
	have, err := s.db.Locks.Hold(ctx, []mysql.Lock{leadLock()})
	if err != nil {
		return false, mysql.Translate(ctx, "lead events", err)
	}
	return have[0], nil
}

// YieldEvents lets another process send.
func (s *Store) YieldEvents(ctx context.Context) error {
	return mysql.Translate(ctx, "yield events", s.db.Locks.Release(ctx, leadLock()))
}

// Spread gives each event its deliveries, and returns the endpoints that are on. The next round finds events that came too
// late for this one. Two processes may call it at once. Errors: ErrUnavailable.
func (s *Store) Spread(ctx context.Context) ([]Recipient, error) {
	rows, now, err := s.endpointsOn(ctx)
	if err != nil {
		return nil, mysql.Translate(ctx, "spread events", err)
	}
	recipients := make([]Recipient, 0, len(rows))
	low := leastMark(rows)
	for i := range rows {
		to, err := rows[i].recipient(now)
		if err != nil {
			s.db.Log.ErrorContext(ctx, "an endpoint cannot be read and gets nothing", "endpoint", string(rows[i].Name), "error", err)
			continue
		}
		recipients = append(recipients, to)
	}
	var any bool
	if len(rows) > 0 {
		err = s.db.Pool.GetContext(ctx, &any, s.db.Limited("SELECT EXISTS (SELECT 1 FROM outbox WHERE id > ?)"), low)
	}
	if err != nil || !any {
		return recipients, mysql.Translate(ctx, "spread events", err)
	}
	bound, err := s.settled(ctx)
	if err != nil {
		return nil, mysql.Translate(ctx, "spread events", err)
	}
	for i := range recipients {
		if err := s.spreadTo(ctx, &recipients[i].Endpoint, markOf(rows, recipients[i].ID), bound); err != nil {
			return nil, mysql.Translate(ctx, "spread events", err)
		}
	}
	return recipients, nil
}

func leastMark(rows []endpointRow) (low int64) {
	for i := range rows {
		if i == 0 || rows[i].LowWater < low {
			low = rows[i].LowWater
		}
	}
	return low
}

func markOf(rows []endpointRow, id int64) int64 {
	for i := range rows {
		if rows[i].ID == id {
			return rows[i].LowWater
		}
	}
	return 0
}

func (s *Store) endpointsOn(ctx context.Context) (rows []endpointRow, now leaderboard.Micros, err error) {
	query := fmt.Sprint("SELECT "+endpointColumns+" FROM endpoints WHERE state = 'on' ORDER BY id LIMIT ", outbox.MaxEndpoints)
	if err = s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(query)); err == nil && len(rows) > 0 {
		now, err = s.db.Clock(ctx)
	}
	return rows, now, err
}

// settled returns an id up to which all events are present that ever will be; 0 when others are entering events just now.
func (s *Store) settled(ctx context.Context) (bound int64, err error) {
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		var version int64
		err := tx.GetContext(ctx, &version, "SELECT version FROM table_versions WHERE name = '"+outbox.Version+"' FOR UPDATE NOWAIT")
		if mysql.IsLocked(err) {
			return nil
		}
		if err == nil {
			err = tx.GetContext(ctx, &bound, "SELECT COALESCE(MAX(id), 0) FROM outbox")
		}
		return err
	})
	return bound, err
}

// outboxRow is the part of an event that decides whether an endpoint gets it.
type outboxRow struct {
	ID    int64  `db:"id"`
	Kind  []byte `db:"kind"`
	Board []byte `db:"board"`
}

// missing finds the events above a mark that have no delivery for an endpoint.
const missing = "SELECT o.id, o.kind, o.board FROM outbox o FORCE INDEX (PRIMARY) WHERE o.id > ?" +
	" AND NOT EXISTS (SELECT 1 FROM deliveries d FORCE INDEX (PRIMARY) WHERE d.endpoint_id = ? AND d.event_id = o.id) ORDER BY o.id LIMIT ?"

// spreadTo gives an endpoint the events that it lacks above its mark, and moves the mark as far as that is certain: up to
// bound.
func (s *Store) spreadTo(ctx context.Context, e *Endpoint, mark, bound int64) error {
	for after := mark; ; {
		var rows []outboxRow
		if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(missing), after, e.ID, spreadRows); err != nil {
			return err
		}
		next := max(mark, bound)
		if len(rows) == spreadRows {
			after = rows[len(rows)-1].ID
			next = min(next, max(mark, after))
		}
		wanted := wantedOf(e, rows)
		if len(wanted) > 0 || next > mark {
			s.point("events-spread")
			if err := s.deliverTo(ctx, e.ID, wanted, next, keepWaiting); err != nil {
				return err
			}
			s.point("events-spread-done")
		}
		if len(rows) < spreadRows {
			return nil
		}
	}
}

func wantedOf(e *Endpoint, rows []outboxRow) (ids []int64) {
	for i := range rows {
		if e.Wants(leaderboard.EventKind(rows[i].Kind), string(rows[i].Board)) {
			ids = append(ids, rows[i].ID)
		}
	}
	return ids
}

// The cases of an existing delivery.
const (
	keepWaiting = "endpoint_id = VALUES(endpoint_id)"
	startAgain  = "state = 'waiting', next_at = VALUES(next_at), attempt_count = 0, status = 0, error = ''"
)

// deliverTo makes deliveries of events to an endpoint, if it still exists, and moves its mark up to an id.
func (s *Store) deliverTo(ctx context.Context, endpoint int64, events []int64, mark int64, again string) error {
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		var id int64
		if err := tx.GetContext(ctx, &id, "SELECT id FROM endpoints WHERE id = ? FOR UPDATE", endpoint); err != nil {
			return ignoreNoRows(err) // it was deleted meanwhile
		}
		if _, err := tx.ExecContext(ctx, "UPDATE endpoints SET low_water = GREATEST(low_water, ?) WHERE id = ?", mark, endpoint); err != nil || len(events) == 0 {
			return err
		}
		t := (&mysql.Text{}).Str("INSERT INTO deliveries (endpoint_id, event_id, state, event_at, next_at) SELECT ").Int(endpoint)
		t.Str(", id, 'waiting', created_at, " + neverTried + " FROM outbox WHERE id IN (").Ints(events).Str(") ON DUPLICATE KEY UPDATE " + again)
		_, err := tx.ExecContext(ctx, t.String())
		return err
	})
}
