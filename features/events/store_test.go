package events

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

const forgotten = "gone-with-the-wind"

// opened is a store and its events.
type opened struct {
	*store.Store
	Events *Store
}

func open(t testing.TB, dsn string, change func(*store.Config)) *opened {
	t.Helper()
	s, e := featuretest.Store(t, dsn, []features.Feature{Feature()}, change)
	return &opened{s, features.Offered[*Store](e)}
}

func putEndpoint(t testing.TB, s *opened, name string, kinds ...leaderboard.EventKind) Endpoint {
	t.Helper()
	r := EndpointRequest{URL: "https://game.example/" + name, Kinds: kinds, Enabled: true}
	e, _, err := s.Events.PutEndpoint(t.Context(), name, r, newSecret(), func(*Endpoint) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// sent delivers all due deliveries to an endpoint, and returns them.
func sent(t testing.TB, s *opened, e Endpoint) []leaderboard.Event {
	t.Helper()
	if _, err := s.Events.Spread(t.Context()); err != nil {
		t.Fatal(err)
	}
	var events []leaderboard.Event
	for {
		due, err := s.Events.Due(t.Context(), e.ID, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(due) == 0 {
			return events
		}
		for i := range due {
			events = append(events, due[i].Event)
			if _, err := s.Events.Settle(t.Context(), Attempt{EndpointID: e.ID, Event: due[i].Seq, Status: 204}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestErasedIsToldAndForgotten: an erasure is reported to the endpoints that ask for it, with the id; as soon as all of
// them have it, the id is stored nowhere. An endpoint that is off keeps it, for as long as events are kept.
func TestErasedIsToldAndForgotten(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{})
		all, other := putEndpoint(t, s, "all"), putEndpoint(t, s, "closed", leaderboard.EventKindPeriodClosed)
		if _, err := s.Erasures.Forget(t.Context(), forgotten, "boss"); err != nil {
			t.Fatal(err)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		events := sent(t, s, all)
		told := events[len(events)-1]
		if told.Kind != leaderboard.EventKindMemberErased || len(told.Members) != 1 || told.Members[0].Member != forgotten {
			t.Fatalf("told %+v", events)
		}
		if got := sent(t, s, other); len(got) > 0 {
			t.Errorf("one that did not ask got %+v", got)
		}
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		dbtest.CheckForgotten(t, db, forgotten)

		off := EndpointRequest{URL: "https://game.example/off", Kinds: []leaderboard.EventKind{leaderboard.EventKindMemberErased}}
		if _, _, err := s.Events.PutEndpoint(t.Context(), "off", off, newSecret(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Erasures.Forget(t.Context(), forgotten, "boss"); err != nil {
			t.Fatal(err)
		}
		sent(t, s, all)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if places := dbtest.PlacesOf(t, db, forgotten); !slices.Equal(places, []string{"outbox_members.member"}) {
			t.Errorf("while an endpoint waits, the id is in %v", places)
		}
		dbtest.MustExec(t, db, "UPDATE outbox SET created_at = created_at - INTERVAL 73 HOUR")
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		dbtest.CheckForgotten(t, db, forgotten)
		if n := dbtest.Count(t, db, "outbox") + dbtest.Count(t, db, "deliveries"); n != 0 {
			t.Errorf("%d rows are left after three days", n)
		}
	})
}

// TestGoneAndReplay: an endpoint that answers 410 is turned off, as the audit records, and gets the missed events when it
// is on again; events are delivered again under their ids, all from a moment on, or a single one.
func TestGoneAndReplay(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		e := putEndpoint(t, s, "game", leaderboard.EventKindBoardChanged)
		dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{})
		if _, err := s.Events.Spread(t.Context()); err != nil {
			t.Fatal(err)
		}
		due, err := s.Events.Due(t.Context(), e.ID, 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		if _, err := s.Events.Settle(t.Context(), Attempt{EndpointID: e.ID, Event: due[0].Seq, Status: 410, Error: "gone", Gone: true}); err != nil {
			t.Fatal(err)
		}
		if gone, err := s.Events.Endpoint(t.Context(), "game"); err != nil || gone.State != api.EndpointStateGone || gone.Waiting != 1 {
			t.Errorf("%+v, %v", gone, err)
		}
		log := dbtest.Audited(t, dbtest.Connect(t, dsn))
		if log = slices.DeleteFunc(log, func(e dbtest.AuditEntry) bool { return e.Action != leaderboard.AuditActionEndpointUpdate }); len(log) != 1 || log[0].Actor != "" || !strings.Contains(log[0].After, `"state":"gone"`) {
			t.Errorf("audit: %+v", log)
		}
		dbtest.MakeBoard(t, s.Store, "c", leaderboard.Rules{})
		putEndpoint(t, s, "game", leaderboard.EventKindBoardChanged)
		got := sent(t, s, e)
		if len(got) != 2 || got[0].ID != due[0].ID {
			t.Errorf("on again: %+v", got)
		}
		anyone := func(*Endpoint) error { return nil }
		if n, err := s.Events.Replay(t.Context(), Replay{Endpoint: "game"}, anyone); n != 2 || err != nil {
			t.Errorf("replayed %d, %v", n, err)
		}
		if again := sent(t, s, e); len(again) != 2 || again[0].ID != got[0].ID || again[1].ID != got[1].ID {
			t.Errorf("once more: %+v", again)
		}
		if n, err := s.Events.Replay(t.Context(), Replay{Endpoint: "game", Event: got[1].ID}, anyone); n != 1 || err != nil {
			t.Errorf("replayed %d, %v", n, err)
		}
		if again := sent(t, s, e); len(again) != 1 || again[0].ID != got[1].ID {
			t.Errorf("one once more: %+v", again)
		}
		if _, err := s.Events.Replay(t.Context(), Replay{Endpoint: "game", Event: leaderboard.NewEventID()}, anyone); !errors.Is(err, leaderboard.ErrEventNotFound) {
			t.Errorf("an event that is not there: %v", err)
		}
		if err := s.Events.DeleteEndpoint(t.Context(), "game", anyone); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Events.Settle(t.Context(), Attempt{EndpointID: e.ID, Event: got[1].Seq, Status: 204}); err != nil {
			t.Errorf("what became of an attempt of a deleted endpoint: %v", err)
		}
		if n := dbtest.Count(t, dbtest.Connect(t, dsn), "deliveries"); n != 0 {
			t.Errorf("%d deliveries are left", n)
		}
	})
}

// TestDeliveryIsGivenUp: a delivery that would be tried three days after its event has failed for good.
func TestDeliveryIsGivenUp(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		e := putEndpoint(t, s, "game")
		dbtest.MakeBoard(t, s.Store, "b", leaderboard.Rules{})
		if _, err := s.Events.Spread(t.Context()); err != nil {
			t.Fatal(err)
		}
		due, err := s.Events.Due(t.Context(), e.ID, 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		attempt := Attempt{EndpointID: e.ID, Event: due[0].Seq, Status: 500, Error: "the answer was 500", Retry: time.Hour}
		for _, c := range []struct {
			old    string
			failed bool
		}{{"70 HOUR", false}, {"72 HOUR", true}} {
			dbtest.MustExec(t, db, "UPDATE deliveries SET event_at = NOW(6) - INTERVAL "+c.old)
			failed, err := s.Events.Settle(t.Context(), attempt)
			if err != nil || failed != c.failed {
				t.Errorf("an event of %s ago: failed %t, %v", c.old, failed, err)
			}
		}
		list, err := s.Events.Deliveries(t.Context(), DeliveriesQuery{Endpoint: "game", State: api.DeliveryStateFailed, Limit: 10})
		if err != nil || len(list) != 1 || list[0].Attempts != 2 || list[0].Status != 500 || list[0].Next != 0 || list[0].Tried == 0 {
			t.Errorf("listed %+v, %v", list, err)
		}
		var next sql.NullTime
		if err := db.QueryRowContext(t.Context(), "SELECT next_at FROM deliveries").Scan(&next); err != nil || time.Until(next.Time) < 50*time.Minute {
			t.Errorf("next at %v, %v", next.Time, err)
		}
	})
}
