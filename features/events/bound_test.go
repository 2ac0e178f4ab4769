package events

import (
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/outbox"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

const (
	boundStep = 4 * time.Hour // between two periods that end
	boundDays = 6             // twice as long as an event is kept
)

// TestOutboxIsBounded: for six days a period ends every four hours. Without endpoints there are no rows. With the greatest
// number of endpoints, all dead but one, there are the rows of the last three days, and of the day of the housekeeping;
// commits send the same packets on the last day as on the first, and the live endpoint has each event after one round,
// which takes no more statements than at first. In the end all rows go (promise B10).
func TestOutboxIsBounded(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		o := &outboxBound{dsn: dsn, db: dbtest.Connect(t, dsn)}
		p, through := dbtest.NewProxy(t, dsn)
		o.proxy, o.store = p, open(t, through, dbtest.ClockBy(&o.offset))
		rules := leaderboard.Rules{Policy: leaderboard.PolicyLatest, Windows: []leaderboard.Window{leaderboard.WindowHour}}
		if _, _, err := o.store.Boards.PutBoard(t.Context(), "b", rules); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			o.end(t)
		}
		if n := o.rows(t, "outbox") + o.rows(t, "deliveries"); n > 0 {
			t.Errorf("%d rows without endpoints", n)
		}
		live := putEndpoint(t, o.store, "live", leaderboard.EventKindPeriodClosed)
		var dead []Endpoint
		for i := range testenv.Size(9, outbox.MaxEndpoints-1) {
			dead = append(dead, putEndpoint(t, o.store, fmt.Sprint("dead", i), leaderboard.EventKindPeriodClosed))
		}
		const perDay = int(24 * time.Hour / boundStep)
		most := (int(leaderboard.EventTTL/boundStep) + perDay + 1) * (1 + len(dead))
		var packets, statements int
		for i := range boundDays * perDay {
			sends := o.end(t)
			asks := o.round(t, live)
			if i == 0 {
				packets, statements = sends, asks
			}
			if sends != packets || asks > statements {
				t.Fatalf("on day %d a commit takes %d packets, %d at first; a round %d statements, %d at first", i/perDay, sends, packets, asks, statements)
			}
			o.fail(t, dead)
			if i%perDay == perDay-1 {
				o.sweep(t)
				if n := o.rows(t, "deliveries"); n > most || o.rows(t, "outbox")*(1+len(dead)) > most {
					t.Fatalf("after day %d there are %d events and %d deliveries, want %d at most", i/perDay, o.rows(t, "outbox"), n, most)
				}
			}
		}
		if n := o.rows(t, "deliveries"); n < most/2 {
			t.Errorf("%d deliveries in the end: too little was put off", n)
		}
		t.Logf("%d events, %d deliveries in the end", o.rows(t, "outbox"), o.rows(t, "deliveries"))
		for range 2 { // the first ends the last period, which makes another event
			o.offset.Add(int64(leaderboard.EventTTL + time.Hour))
			o.sweep(t)
		}
		if n := o.rows(t, "outbox") + o.rows(t, "outbox_members") + o.rows(t, "deliveries"); n > 0 {
			t.Errorf("%d rows six days later", n)
		}
	})
}

// outboxBound is a store whose clock is injected, and the proxy between it and the database.
type outboxBound struct {
	dsn    string
	db     *sql.DB
	proxy  *dbtest.Proxy
	store  *opened
	offset atomic.Int64
	score  int64
}

func (o *outboxBound) rows(t *testing.T, table string) int {
	t.Helper()
	return dbtest.Count(t, o.db, table)
}

// end lets a period end, and returns the packets of the commit that ends it.
func (o *outboxBound) end(t *testing.T) int {
	t.Helper()
	o.offset.Add(int64(boundStep))
	o.score++
	return len(o.proxy.Committed(t, func() error {
		_, err := o.store.Writer.Submit(t.Context(), dbtest.One("b", "", "m", o.score))
		return err
	}))
}

// round spreads new events, delivers them to an endpoint that gets one event, and returns the number of statements.
func (o *outboxBound) round(t *testing.T, live Endpoint) int {
	t.Helper()
	var n atomic.Int64
	o.proxy.FaultBy(func(text string) dbtest.Fault {
		for _, table := range []string{"outbox", "deliveries", "endpoints"} {
			if strings.Contains(text, table) {
				n.Add(1)
				break
			}
		}
		return dbtest.FaultPass
	})
	defer o.proxy.Heal()
	if _, err := o.store.Events.Spread(t.Context()); err != nil {
		t.Fatal(err)
	}
	due, err := o.store.Events.Due(t.Context(), live.ID, 10)
	if err != nil || len(due) != 1 {
		t.Fatalf("the live endpoint is to get %d events, %v", len(due), err)
	}
	if _, err := o.store.Events.Settle(t.Context(), Attempt{EndpointID: live.ID, Event: due[0].Seq, Status: 204}); err != nil {
		t.Fatal(err)
	}
	return int(n.Load())
}

// fail tries the due deliveries to dead endpoints.
func (o *outboxBound) fail(t *testing.T, dead []Endpoint) {
	t.Helper()
	for _, e := range dead {
		due, err := o.store.Events.Due(t.Context(), e.ID, 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range due {
			a := Attempt{EndpointID: e.ID, Event: d.Seq, Error: "connection refused", Retry: 24 * time.Hour}
			if _, err := o.store.Events.Settle(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sweep is the housekeeping of a server that has just started: a server that sees the clock leap deletes nothing for an
// hour.
func (o *outboxBound) sweep(t *testing.T) {
	t.Helper()
	if err := open(t, o.dsn, dbtest.ClockBy(&o.offset)).Housekeeping.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}
