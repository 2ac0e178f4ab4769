// Package outbox enters events in the transaction of the change that they describe, and removes old ones. It does not know
// who delivers them.
//
// Read enter.go (how an event is entered), then closed.go (the event with a list of members), then aged.go (how rows are
// deleted).
package outbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// Tx is a transaction.
type Tx interface {
	mysql.Querier
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// Event is an event that a transaction may enter.
type Event struct {
	Kind  leaderboard.EventKind
	Board string // its name; "" for none or all
	// Once is a text that identifies an event that happens only once; "" for an event that may happen again.
	Once string
	// Always: it is entered also while no endpoint gets it, for streams.
	Always bool
	// Data returns the additional data of the event. It is called only when the event is entered.
	Data func(ctx context.Context, tx Tx) (data any, members []leaderboard.EventMember, err error)
}

// Of returns the Data of an event whose content is known.
func Of(data any, members ...leaderboard.EventMember) func(context.Context, Tx) (any, []leaderboard.EventMember, error) {
	return func(context.Context, Tx) (any, []leaderboard.EventMember, error) { return data, members, nil }
}

// Version is the row of table_versions that goes with the table endpoints. Whatever enters an event shares its lock until
// it commits; whatever changes an endpoint, and whatever must know that no earlier id will still come, takes it alone.
const Version = "endpoints"

// Listen is an expression for a statement that changes one row: the result, passed to MayListen, then shows whether there
// may be endpoints, without a separate statement. It shares the lock of Version as Enter does, so the answer is valid until
// the transaction ends.
const Listen = "LAST_INSERT_ID((SELECT version FROM table_versions WHERE name = '" + Version + "' LOCK IN SHARE MODE))"

// MayListen reports whether there may be endpoints, by the result of a statement with Listen. It is false until the first
// endpoint was made.
func MayListen(r sql.Result) bool {
	version, err := r.LastInsertId()
	return err != nil || version != 0
}

// Enter enters events at the moment of an SQL expression, if an endpoint gets them, or Event.Always is set. Without any endpoint
// it costs one statement. It is called late in a transaction, since its locks are held until the commit.
func Enter(ctx context.Context, tx Tx, at string, events ...Event) error {
	if len(events) == 0 {
		return nil
	}
	listening, err := endpointsIn(ctx, tx)
	if err != nil {
		return err
	}
	for i := range events {
		if events[i].Always || listening.want(&events[i]) {
			if err := events[i].enter(ctx, tx, at); err != nil {
				return fmt.Errorf("enter %s: %w", events[i].Kind, err)
			}
		}
	}
	return nil
}

// MaxEndpoints is how many endpoints there may be.
const MaxEndpoints = 50

// listening is the filters of the existing endpoints, enabled or not.
type listening []leaderboard.EventFilter

func (l listening) want(n *Event) bool {
	for i := range l {
		if l[i].Wants(n.Kind, n.Board) {
			return true
		}
	}
	return false
}

// endpointsIn returns the filters of the endpoints, which do not change until the transaction ends.
func endpointsIn(ctx context.Context, tx Tx) (listening, error) {
	var version int64
	err := tx.QueryRowContext(ctx, "SELECT version FROM table_versions WHERE name = '"+Version+"' LOCK IN SHARE MODE").Scan(&version)
	if errors.Is(err, sql.ErrNoRows) || err == nil && version == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := tx.QueryContext(ctx, fmt.Sprint("SELECT kinds, boards FROM endpoints ORDER BY id LIMIT ", MaxEndpoints))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found listening
	for rows.Next() {
		var (
			e             leaderboard.EventFilter
			kinds, boards []byte
		)
		if err := rows.Scan(&kinds, &boards); err != nil {
			return nil, err
		}
		if err := errors.Join(json.Unmarshal(kinds, &e.Kinds), json.Unmarshal(boards, &e.Boards)); err != nil {
			return nil, fmt.Errorf("an endpoint: %w", err)
		}
		found = append(found, e)
	}
	return found, errors.Join(rows.Err(), rows.Close())
}

// enter writes an event, unless it happens only once and was entered before.
func (n *Event) enter(ctx context.Context, tx Tx, at string) error {
	data, members, err := n.Data(ctx, tx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	id := leaderboard.NewEventID()
	if n.Once != "" {
		id = leaderboard.EventIDOf(n.Once)
	}
	t := (&mysql.Text{}).Str("INSERT INTO outbox (dedupe, kind, board, payload, created_at) VALUES (").Hex(id).Str(",").Hex(string(n.Kind)).Str(",")
	t.Hex(n.Board).Str(",").HexText(string(text)).Str(",").Str(at).Str(") ON DUPLICATE KEY UPDATE dedupe = VALUES(dedupe)")
	result, err := tx.ExecContext(ctx, t.String())
	if err != nil {
		return err
	}
	if entered, err := result.RowsAffected(); err != nil || entered == 0 || len(members) == 0 {
		return err
	}
	event, err := result.LastInsertId()
	if err != nil {
		return err
	}
	t.Reset()
	t.Str("INSERT INTO outbox_members (event_id, place, member, detail) VALUES ")
	for i, m := range members {
		t.Comma(i).Str("(").Int(event).Str(",").Int(int64(i)).Str(",").Hex(m.Member).Str(",").HexText(m.Detail).Str(")")
	}
	_, err = tx.ExecContext(ctx, t.String())
	return err
}

// Withdraw takes back an event that happens only once, when it has not happened after all.
func Withdraw(ctx context.Context, tx Tx, once string) error {
	id := leaderboard.EventIDOf(once)
	for _, query := range []string{
		"DELETE m FROM outbox_members m JOIN outbox o ON o.id = m.event_id WHERE o.dedupe = ",
		"DELETE d FROM deliveries d JOIN outbox o ON o.id = d.event_id WHERE o.dedupe = ",
		"DELETE FROM outbox WHERE dedupe = ",
	} {
		if _, err := tx.ExecContext(ctx, (&mysql.Text{}).Str(query).Hex(id).String()); err != nil {
			return err
		}
	}
	return nil
}
