package events

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/api"
	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/leaderboard"
)

// endpointState is the audit's record of an endpoint, without its secret.
type endpointState struct {
	Name          string                  `json:"name"`
	URL           string                  `json:"url"`
	Kinds         []leaderboard.EventKind `json:"kinds"`
	Boards        []string                `json:"boards"`
	AllowPrivate  bool                    `json:"allow_private,omitempty"`
	State         api.EndpointState       `json:"state"`
	PreviousUntil *leaderboard.Micros     `json:"previous_until,omitempty"`
}

func stateOf(e *Endpoint) endpointState {
	s := endpointState{e.Name, e.URL, slices.Concat([]leaderboard.EventKind{}, e.Kinds), slices.Concat([]string{}, e.Boards), e.AllowPrivate, e.State, nil}
	if e.PreviousUntil != 0 {
		s.PreviousUntil = &e.PreviousUntil
	}
	return s
}

func ignoreNoRows(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// MayChange returns why a caller may not see or change an endpoint, nil when it may.
type MayChange func(*Endpoint) error

// PutEndpoint creates an endpoint or changes it; created reports which. A new endpoint has the secret, and gets events from
// then on; an existing one keeps its secret. The same again changes nothing. Errors: a *leaderboard.RuleError, the errors
// of may, ErrUnavailable.
func (s *Store) PutEndpoint(
	ctx context.Context, name string, r EndpointRequest, secret Secret, may func(*Endpoint) error,
) (e Endpoint, created bool, err error) {
	if broken := r.Check(name); broken != nil {
		return e, false, mysql.Wrap("put endpoint", broken)
	}
	err = s.change(ctx, name, func(tx *sqlx.Tx, old *Endpoint) error {
		if created = old == nil; created {
			return s.create(ctx, tx, name, &r, secret)
		}
		if err := may(old); err != nil {
			return err
		}
		return s.update(ctx, tx, old, &r)
	})
	if err == nil {
		e, err = s.Endpoint(ctx, name)
	}
	return e, created, mysql.Translate(ctx, "put endpoint", err)
}

// change runs fn in a transaction that has the endpoints alone: nothing enters an event meanwhile. old is nil without an
// endpoint of this name.
func (s *Store) change(ctx context.Context, name string, fn func(tx *sqlx.Tx, old *Endpoint) error) error {
	return s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if err := s.db.NextVersion(ctx, tx, outbox.Version); err != nil {
			return err
		}
		old, err := s.endpointIn(ctx, tx, name)
		if errors.Is(err, leaderboard.ErrEndpointNotFound) {
			return fn(tx, nil)
		}
		if err != nil {
			return err
		}
		return fn(tx, &old)
	})
}

// endpointIn reads an endpoint. Errors: ErrEndpointNotFound.
func (s *Store) endpointIn(ctx context.Context, q sqlx.QueryerContext, name string) (Endpoint, error) {
	var row endpointRow
	err := sqlx.GetContext(ctx, q, &row, "SELECT "+endpointColumns+" FROM endpoints WHERE name = ?", []byte(name))
	if errors.Is(err, sql.ErrNoRows) {
		return Endpoint{}, leaderboard.ErrEndpointNotFound
	}
	if err != nil {
		return Endpoint{}, err
	}
	return row.endpoint()
}

func (s *Store) create(ctx context.Context, tx *sqlx.Tx, name string, r *EndpointRequest, secret Secret) error {
	var n int
	if err := tx.GetContext(ctx, &n, "SELECT COUNT(*) FROM endpoints"); err != nil {
		return err
	}
	if n >= outbox.MaxEndpoints {
		return &leaderboard.RuleError{Code: leaderboard.CodeTooManyEndpoints, Detail: fmt.Sprintf("there are %d endpoints already", outbox.MaxEndpoints)}
	}
	kinds, boards, err := listsOf(r)
	if err != nil {
		return err
	}
	now := s.db.Now()
	_, err = tx.ExecContext(ctx, "INSERT INTO endpoints (name, url, kinds, boards, allow_private, state, secret, low_water, created_at, updated_at)"+
		" VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT COALESCE(MAX(id), 0) FROM outbox), "+now+", "+now+")",
		[]byte(name), []byte(r.URL), kinds, boards, r.AllowPrivate, []byte(nextState(api.EndpointStateOff, r.Enabled)), []byte(secret))
	if err != nil {
		return err
	}
	made, err := s.endpointIn(ctx, tx, name)
	if err != nil {
		return err
	}
	_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionEndpointCreate, After: stateOf(&made)})
	return err
}

func (s *Store) update(ctx context.Context, tx *sqlx.Tx, old *Endpoint, r *EndpointRequest) error {
	e := *old
	e.URL, e.Kinds, e.Boards, e.AllowPrivate, e.State = r.URL, r.Kinds, r.Boards, r.AllowPrivate, nextState(old.State, r.Enabled)
	before, after := stateOf(old), stateOf(&e)
	if old.URL == e.URL && slices.Equal(old.Kinds, e.Kinds) && slices.Equal(old.Boards, e.Boards) && old.AllowPrivate == e.AllowPrivate && old.State == e.State {
		return nil
	}
	kinds, boards, err := listsOf(r)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE endpoints SET url = ?, kinds = ?, boards = ?, allow_private = ?, state = ?, updated_at = "+s.db.Now()+" WHERE id = ?",
		[]byte(e.URL), kinds, boards, e.AllowPrivate, []byte(e.State), e.ID)
	if err == nil {
		_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionEndpointUpdate, Before: before, After: after})
	}
	return err
}

// nextState returns the state of an endpoint that is to be on or off.
func nextState(is api.EndpointState, on bool) api.EndpointState {
	switch {
	case on:
		return api.EndpointStateOn
	case is == api.EndpointStateGone:
		return is
	default:
		return api.EndpointStateOff
	}
}

func listsOf(r *EndpointRequest) (kinds, boards string, err error) {
	k, err := json.Marshal(slices.Concat([]leaderboard.EventKind{}, r.Kinds)) // not null
	if err != nil {
		return "", "", err
	}
	b, err := json.Marshal(slices.Concat([]string{}, r.Boards))
	return string(k), string(b), err
}

// deleteSteps bounds the statements by which the deliveries of an endpoint are deleted at once. The rest goes with the events.
const deleteSteps = 20

// DeleteEndpoint deletes an endpoint with its deliveries. A delivery under way may still arrive. Errors:
// ErrEndpointNotFound, the errors of may, ErrUnavailable.
func (s *Store) DeleteEndpoint(ctx context.Context, name string, may func(*Endpoint) error) error {
	var id int64
	err := s.change(ctx, name, func(tx *sqlx.Tx, old *Endpoint) error {
		if err := mayChange(old, may); err != nil {
			return err
		}
		id = old.ID
		if _, err := tx.ExecContext(ctx, "DELETE FROM endpoints WHERE id = ?", id); err != nil {
			return err
		}
		_, err := audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionEndpointDelete, Before: stateOf(old)})
		return err
	})
	for range deleteSteps {
		if err != nil {
			break
		}
		result, failed := s.db.Pool.ExecContext(ctx, "DELETE FROM deliveries WHERE endpoint_id = ? ORDER BY event_id LIMIT ?", id, mysql.MaxRows)
		if failed != nil {
			break // the rest is only tidiness
		}
		if n, failed := result.RowsAffected(); failed != nil || n < mysql.MaxRows {
			break
		}
	}
	return mysql.Translate(ctx, "delete endpoint", err)
}

func mayChange(old *Endpoint, may func(*Endpoint) error) error {
	if old == nil {
		return leaderboard.ErrEndpointNotFound
	}
	return may(old)
}

// RotateEndpoint gives an endpoint another secret. During the overlap deliveries are signed with the old secret too.
// Errors: the errors of DeleteEndpoint.
func (s *Store) RotateEndpoint(
	ctx context.Context, name string, secret Secret, overlap time.Duration, may func(*Endpoint) error,
) (e Endpoint, err error) {
	err = s.change(ctx, name, func(tx *sqlx.Tx, old *Endpoint) error {
		if err := mayChange(old, may); err != nil {
			return err
		}
		between := overlap.Microseconds()
		// Assignments are carried out from left to right.
		_, err := tx.ExecContext(ctx, "UPDATE endpoints SET previous_secret = IF(? > 0, secret, NULL), previous_ends_at = IF(? > 0, "+s.db.Now()+" + INTERVAL ? MICROSECOND, NULL),"+
			" secret = ?, updated_at = "+s.db.Now()+" WHERE id = ?", between, between, between, []byte(secret), old.ID)
		if err != nil {
			return err
		}
		if e, err = s.endpointIn(ctx, tx, name); err != nil {
			return err
		}
		_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionEndpointRotate, Before: stateOf(old), After: stateOf(&e)})
		return err
	})
	return e, mysql.Translate(ctx, "rotate endpoint", err)
}

// Recipient returns an endpoint with its secrets, for a test of it, and records the access. Errors: ErrEndpointNotFound,
// the errors of may, ErrUnavailable.
func (s *Store) Recipient(ctx context.Context, name string, may func(*Endpoint) error) (to Recipient, err error) {
	now, err := s.db.Clock(ctx)
	if err != nil {
		return to, mysql.Translate(ctx, "endpoint", err)
	}
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		var row endpointRow
		err := tx.GetContext(ctx, &row, "SELECT "+endpointColumns+" FROM endpoints WHERE name = ?", []byte(name))
		if errors.Is(err, sql.ErrNoRows) {
			return leaderboard.ErrEndpointNotFound
		}
		if err != nil {
			return err
		}
		if to, err = row.recipient(now); err == nil {
			err = may(&to.Endpoint)
		}
		if err == nil {
			_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionEndpointTest, After: stateOf(&to.Endpoint)})
		}
		return err
	})
	return to, mysql.Translate(ctx, "endpoint", err)
}

// Endpoint returns an endpoint with its waiting deliveries. Errors: ErrEndpointNotFound, ErrUnavailable.
func (s *Store) Endpoint(ctx context.Context, name string) (Endpoint, error) {
	e, err := s.endpointIn(ctx, s.db.Pool, name)
	if err == nil {
		err = s.addWaiting(ctx, &e)
	}
	return e, mysql.Translate(ctx, "endpoint", err)
}

// Endpoints lists all endpoints in the order of their names, with their waiting deliveries. Errors: ErrUnavailable.
func (s *Store) Endpoints(ctx context.Context) ([]Endpoint, error) {
	var rows []endpointRow
	query := fmt.Sprint("SELECT "+endpointColumns+" FROM endpoints ORDER BY name LIMIT ", outbox.MaxEndpoints)
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(query)); err != nil {
		return nil, mysql.Translate(ctx, "endpoints", err)
	}
	out := make([]Endpoint, len(rows))
	for i := range rows {
		var err error
		if out[i], err = rows[i].endpoint(); err == nil {
			err = s.addWaiting(ctx, &out[i])
		}
		if err != nil {
			return nil, mysql.Translate(ctx, "endpoints", err)
		}
	}
	return out, nil
}
