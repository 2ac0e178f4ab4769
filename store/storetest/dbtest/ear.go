package dbtest

import (
	"database/sql"
	"encoding/json"
	"testing"

	"leaderboard/leaderboard"
)

// Ear hears the events that are entered for an endpoint.
type Ear struct {
	db   *sql.DB
	want leaderboard.EventFilter
	had  map[heard]bool
}

// heard is an event: by its place, since it may be taken back and entered again, and by its id, since places come again after a restore.
type heard struct {
	seq int64
	id  string
}

// Listen makes an endpoint, which gets what happens from now on: events of these kinds, of all without any. Nobody delivers them.
func Listen(t testing.TB, dsn, name string, kinds ...leaderboard.EventKind) *Ear {
	t.Helper()
	db := Connect(t, dsn)
	text, err := json.Marshal(append([]leaderboard.EventKind{}, kinds...))
	if err != nil {
		t.Fatal(err)
	}
	MustExec(t, db, "INSERT INTO endpoints (name, url, kinds, boards, allow_private, state, secret, low_water, created_at, updated_at)"+
		" VALUES (?, '', ?, '[]', FALSE, 'on', '', (SELECT COALESCE(MAX(id), 0) FROM outbox), NOW(6), NOW(6))", name, string(text))
	MustExec(t, db, "UPDATE table_versions SET version = version + 1 WHERE name = 'endpoints'")
	e := &Ear{db, leaderboard.EventFilter{Kinds: kinds}, map[heard]bool{}}
	e.Heard(t)
	return e
}

// Heard returns the events that have been entered since the last time, in the order in which they were.
func (e *Ear) Heard(t testing.TB) (fresh []leaderboard.Event) {
	t.Helper()
	events := Events(t, e.db)
	for i := range events {
		if one := (heard{events[i].Seq, events[i].ID}); !e.had[one] && e.want.Wants(events[i].Kind, events[i].Board) {
			e.had[one] = true
			fresh = append(fresh, events[i])
		}
	}
	return fresh
}

// Events returns all events that there are, in the order in which they were entered.
func Events(t testing.TB, db *sql.DB) (events []leaderboard.Event) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT o.id, o.dedupe, o.kind, o.board, o.payload, m.member, m.detail FROM outbox o LEFT JOIN outbox_members m ON m.event_id = o.id ORDER BY o.id, m.place")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			id                         int64
			name, kind, board, payload string
			member, detail             sql.NullString
		)
		if err := rows.Scan(&id, &name, &kind, &board, &payload, &member, &detail); err != nil {
			t.Fatal(err)
		}
		if n := len(events); n == 0 || events[n-1].Seq != id {
			events = append(events, leaderboard.Event{Seq: id, ID: name, Kind: leaderboard.EventKind(kind), Board: board, Data: payload})
		}
		if member.Valid {
			last := &events[len(events)-1]
			last.Members = append(last.Members, leaderboard.EventMember{Member: member.String, Detail: detail.String})
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return events
}
