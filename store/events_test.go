package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

func putEndpoint(t testing.TB, s *store.Store, name string, kinds ...leaderboard.EventKind) leaderboard.Endpoint {
	t.Helper()
	r := leaderboard.EndpointRequest{URL: "https://game.example/" + name, Kinds: kinds, Enabled: true}
	e, _, err := s.Events.PutEndpoint(t.Context(), name, r, leaderboard.NewEndpointSecret(), func(*leaderboard.Endpoint) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// sent delivers all that is due to an endpoint, and returns it.
func sent(t testing.TB, s *store.Store, e leaderboard.Endpoint) []leaderboard.Event {
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
			if _, err := s.Events.Settle(t.Context(), leaderboard.Attempt{EndpointID: e.ID, Event: due[i].Seq, Status: 204}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// closed is what a test reads of the end of a period.
type closed struct {
	ID   string
	Data struct {
		Board, Window, Period, Mode string
		Seq, Total                  int64
		Top                         []struct {
			Member      string
			Rank, Score int64
			Fields      map[string]int64
		}
	}
}

func closedOf(t testing.TB, e *leaderboard.Event) (c closed) {
	t.Helper()
	body, err := e.Body()
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil || c.ID != e.ID {
		t.Fatalf("%s: %v", body, err)
	}
	return c
}

// TestPeriodClosedIsToldOnce: the end of a period is told once, whichever closes it: a submission, a reader, the housekeeping, or all
// of them in two processes at once; with the best entries as they were at the end, tied as the board numbers them.
func TestPeriodClosedIsToldOnce(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		configure := dbtest.ClockBy(&offset)
		s, other := open(t, dsn, configure), open(t, dsn, configure)
		e := putEndpoint(t, s, "game", leaderboard.EventKindPeriodClosed)
		rules := leaderboard.Rules{
			Order: leaderboard.OrderAsc, Mode: leaderboard.ModeTied, Windows: []leaderboard.Window{leaderboard.WindowHour, leaderboard.WindowAllTime},
			Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "level", Bits: 8}}},
		}
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", rules); err != nil {
			t.Fatal(err)
		}
		closers := map[string]func(){
			"submission": func() { _, _ = s.Writer.Submit(t.Context(), withLevel("x", 1)) },
			"reader":     func() { _, _ = s.Boards.Current(t.Context(), "b") },
			"sweep":      func() { _ = other.Housekeeping.Sweep(t.Context()) },
			"all": func() {
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { _, _ = s.Writer.Submit(t.Context(), withLevel("x", 1)) })
					all.Go(func() { _, _ = other.Writer.Submit(t.Context(), withLevel("y", 1)) })
					all.Go(func() { _, _ = other.Boards.Current(t.Context(), "b") })
					all.Go(func() { _ = s.Housekeeping.Sweep(t.Context()) })
				}
				all.Wait()
			},
		}
		for _, how := range []string{"submission", "reader", "sweep", "all"} {
			for i, member := range []string{"c", "a", "b", "late"} {
				if r, err := s.Writer.Submit(t.Context(), withLevel(member, []int64{7, 5, 7, 9}[i])); err != nil || r.Results[0].Status != leaderboard.StatusApplied {
					t.Fatal(r, err)
				}
			}
			sent(t, s, e)
			offset.Add(int64(time.Hour + time.Minute)) // behind what sweeping leaves to others
			closers[how]()
			events := sent(t, s, e)
			if len(events) != 1 {
				t.Fatalf("by %s: %d events", how, len(events))
			}
			c := closedOf(t, &events[0])
			var top []string
			for _, m := range c.Data.Top {
				top = append(top, fmt.Sprint(m.Rank, " ", m.Member, " ", m.Score, " ", m.Fields["level"]))
			}
			want := []string{"1 a 5 3", "2 c 7 3", "2 b 7 3", "4 late 9 3"}
			for _, m := range []string{"x", "y"} { // what closed the period before
				if i := strings.Index(strings.Join(top, ";"), " "+m+" 1 3"); i >= 0 {
					want = nil
				}
			}
			if want != nil && !reflect.DeepEqual(top, want) || c.Data.Board != "b" || c.Data.Window != "hour" || c.Data.Mode != "tied" || int(c.Data.Total) != len(top) {
				t.Errorf("by %s: %+v", how, c)
			}
			if again := sent(t, other, e); len(again) > 0 {
				t.Errorf("by %s: told again: %+v", how, again)
			}
			offset.Add(int64(time.Hour)) // an hour that nothing was submitted into
			_, _ = s.Boards.Current(t.Context(), "b")
			sent(t, s, e)
		}
	})
}

func withLevel(member string, score int64) leaderboard.SubmitRequest {
	r := dbtest.One("b", "", member, score)
	r.Entries[0].Fields = map[string]int64{"level": 3}
	return r
}

// TestClosedAndOpenedAgain: a period that a leaping clock closed is not told as closed once it is open again, and when it ends it
// is, under the same id.
func TestClosedAndOpenedAgain(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		var offset atomic.Int64
		s := open(t, dsn, dbtest.ClockBy(&offset))
		e := putEndpoint(t, s, "game", leaderboard.EventKindPeriodClosed)
		if _, _, err := s.Boards.PutBoard(t.Context(), "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}}); err != nil {
			t.Fatal(err)
		}
		at := func(d time.Duration, member string) {
			offset.Store(int64(d))
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", member, 5)); err != nil {
				t.Fatal(err)
			}
		}
		at(0, "a")
		at(25*time.Hour, "b")
		early := sent(t, s, e)
		at(0, "c")
		if again := sent(t, s, e); len(early) != 1 || len(again) != 0 {
			t.Fatalf("%d events of the leap, %d after it", len(early), len(again))
		}
		at(25*time.Hour, "d")
		late := sent(t, s, e)
		if len(late) != 1 || late[0].ID != early[0].ID || len(late[0].Members) != 2 || len(early[0].Members) != 1 {
			t.Errorf("early %+v, late %+v", early, late)
		}
	})
}

// TestSubmissionsAskNothingOfEvents: a commit that enters no event sends the same statements, with endpoints or without, with the rule notify or without.
func TestSubmissionsAskNothingOfEvents(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		s := open(t, through, nil)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		dbtest.MakeBoard(t, s, "notify", leaderboard.Rules{Notify: &leaderboard.Notify{Passed: leaderboard.NotifyPassedFriends}})
		statements := func(board string) int {
			_, _ = s.Writer.Submit(t.Context(), dbtest.One(board, "", "m", 1)) // which learns of the board
			packets := p.Committed(t, func() error {
				_, err := s.Writer.Submit(t.Context(), dbtest.One(board, "k", "m", 2))
				return err
			})
			if dbtest.About(packets, "outbox")+dbtest.About(packets, "endpoints") > 0 {
				t.Errorf("asks about events: %q", packets)
			}
			return len(packets)
		}
		n := statements("b")
		if n < 2 || n > 4 {
			t.Errorf("%d packets, want lock, write and COMMIT", n)
		}
		if with := statements("notify"); with != n {
			t.Errorf("%d packets with the rule notify, %d without", with, n)
		}
	})
}

// TestClosingAsksNothingOfEvents: without endpoints a commit that closes a period sends no statement more for that.
func TestClosingAsksNothingOfEvents(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		p, through := dbtest.NewProxy(t, dsn)
		var offset atomic.Int64
		s := open(t, through, dbtest.ClockBy(&offset))
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}})
		closing := func() (statements []string) {
			_, _ = s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)) // which learns of the board
			offset.Add(int64(25 * time.Hour))
			packets := p.Committed(t, func() error {
				_, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 2))
				return err
			})
			for _, text := range packets {
				if strings.Contains(text, "outbox") || strings.HasPrefix(text, "SELECT") && strings.Contains(text, "endpoints") {
					statements = append(statements, text)
				}
			}
			return statements
		}
		if asked := closing(); len(asked) > 0 {
			t.Errorf("without endpoints: %q", asked)
		}
		putEndpoint(t, s, "other", leaderboard.EventKindMemberErased)
		if asked := closing(); len(asked) != 2 {
			t.Errorf("with one that does not get it: %q", asked)
		}
	})
}

// TestErasedIsToldAndForgotten: an erasure is told to the endpoints that ask for it, with the id; as soon as all of them have it, the
// id is nowhere. One that is off holds it, for as long as events are kept.
func TestErasedIsToldAndForgotten(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
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
		checkForgotten(t, db)

		off := leaderboard.EndpointRequest{URL: "https://game.example/off", Kinds: []leaderboard.EventKind{leaderboard.EventKindMemberErased}}
		if _, _, err := s.Events.PutEndpoint(t.Context(), "off", off, leaderboard.NewEndpointSecret(), nil); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Erasures.Forget(t.Context(), forgotten, "boss"); err != nil {
			t.Fatal(err)
		}
		sent(t, s, all)
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if places := placesOf(t, db, forgotten); !reflect.DeepEqual(places, []string{"outbox_members.member"}) {
			t.Errorf("while an endpoint waits, the id is in %v", places)
		}
		dbtest.MustExec(t, db, "UPDATE outbox SET created_at = created_at - INTERVAL 73 HOUR")
		if err := s.Housekeeping.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkForgotten(t, db)
		if n := dbtest.Count(t, db, "outbox") + dbtest.Count(t, db, "deliveries"); n != 0 {
			t.Errorf("%d rows are left after three days", n)
		}
	})
}

// TestGoneAndReplay: an endpoint that answers 410 is turned off, of which the audit tells, and gets what it missed when it is on
// again; events are delivered once more under their ids, all from a moment on, or one.
func TestGoneAndReplay(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		e := putEndpoint(t, s, "game", leaderboard.EventKindBoardChanged)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Events.Spread(t.Context()); err != nil {
			t.Fatal(err)
		}
		due, err := s.Events.Due(t.Context(), e.ID, 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		if _, err := s.Events.Settle(t.Context(), leaderboard.Attempt{EndpointID: e.ID, Event: due[0].Seq, Status: 410, Error: "gone", Gone: true}); err != nil {
			t.Fatal(err)
		}
		if gone, err := s.Events.Endpoint(t.Context(), "game"); err != nil || gone.State != leaderboard.EndpointStateGone || gone.Waiting != 1 {
			t.Errorf("%+v, %v", gone, err)
		}
		log, _, err := s.Audit.Audit(t.Context(), leaderboard.AuditQuery{Action: leaderboard.AuditActionEndpointUpdate, Limit: 10})
		if err != nil || len(log) != 1 || log[0].Actor != "" || !strings.Contains(log[0].After, `"state":"gone"`) {
			t.Errorf("audit: %+v, %v", log, err)
		}
		dbtest.MakeBoard(t, s, "c", leaderboard.Rules{})
		putEndpoint(t, s, "game", leaderboard.EventKindBoardChanged)
		got := sent(t, s, e)
		if len(got) != 2 || got[0].ID != due[0].ID {
			t.Errorf("on again: %+v", got)
		}
		anyone := func(*leaderboard.Endpoint) error { return nil }
		if n, err := s.Events.Replay(t.Context(), leaderboard.Replay{Endpoint: "game"}, anyone); n != 2 || err != nil {
			t.Errorf("replayed %d, %v", n, err)
		}
		if again := sent(t, s, e); len(again) != 2 || again[0].ID != got[0].ID || again[1].ID != got[1].ID {
			t.Errorf("once more: %+v", again)
		}
		if n, err := s.Events.Replay(t.Context(), leaderboard.Replay{Endpoint: "game", Event: got[1].ID}, anyone); n != 1 || err != nil {
			t.Errorf("replayed %d, %v", n, err)
		}
		if again := sent(t, s, e); len(again) != 1 || again[0].ID != got[1].ID {
			t.Errorf("one once more: %+v", again)
		}
		if _, err := s.Events.Replay(t.Context(), leaderboard.Replay{Endpoint: "game", Event: leaderboard.NewEventID()}, anyone); !errors.Is(err, leaderboard.ErrEventNotFound) {
			t.Errorf("an event that is not there: %v", err)
		}
		if err := s.Events.DeleteEndpoint(t.Context(), "game", anyone); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Events.Settle(t.Context(), leaderboard.Attempt{EndpointID: e.ID, Event: got[1].Seq, Status: 204}); err != nil {
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
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Events.Spread(t.Context()); err != nil {
			t.Fatal(err)
		}
		due, err := s.Events.Due(t.Context(), e.ID, 10)
		if err != nil || len(due) != 1 {
			t.Fatal(due, err)
		}
		attempt := leaderboard.Attempt{EndpointID: e.ID, Event: due[0].Seq, Status: 500, Error: "the answer was 500", Retry: time.Hour}
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
		list, err := s.Events.Deliveries(t.Context(), leaderboard.DeliveriesQuery{Endpoint: "game", State: leaderboard.DeliveryStateFailed, Limit: 10})
		if err != nil || len(list) != 1 || list[0].Attempts != 2 || list[0].Status != 500 || list[0].Next != 0 || list[0].Tried == 0 {
			t.Errorf("listed %+v, %v", list, err)
		}
		var next sql.NullTime
		if err := db.QueryRowContext(t.Context(), "SELECT next_at FROM deliveries").Scan(&next); err != nil || time.Until(next.Time) < 50*time.Minute {
			t.Errorf("next at %v, %v", next.Time, err)
		}
	})
}
