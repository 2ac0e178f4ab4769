package events

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/outbox"
	"leaderboard/internal/plantest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store/storetest/dbtest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// newOutbox returns the outbox of an empty database, and a pool for transactions of the test.
func newOutbox(t *testing.T, dsn string) (*Store, *sql.DB) {
	t.Helper()
	cfg := mysql.Config{
		DSN: dsn, MaxConns: 16, StatementTimeout: 5 * time.Second, LockWait: 5 * time.Second, ProbeWait: 30 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		Clock: func(now string) string { return now }, Logger: slog.New(slog.DiscardHandler),
	}
	pool, err := mysql.Connect(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	if _, err := migrations.Up(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	d, err := mysql.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return NewStore(d, nil), pool
}

func anyone(*Endpoint) error { return nil }

func (s *Store) put(t *testing.T, name string, kinds ...leaderboard.EventKind) {
	t.Helper()
	r := EndpointRequest{URL: "https://game.example/" + name, Kinds: kinds, Enabled: true}
	if _, _, err := s.PutEndpoint(t.Context(), name, r, newSecret(), anyone); err != nil {
		t.Fatal(err)
	}
}

// ids reads a list of numbers.
func ids(t *testing.T, pool *sql.DB, query string, args ...any) (out []int64) {
	t.Helper()
	rows, err := pool.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		out = append(out, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// entering is a transaction that has entered an event and has not ended.
type entering struct {
	tx *sql.Tx
	id int64
}

func enter(t *testing.T, pool *sql.DB, kind leaderboard.EventKind) entering {
	t.Helper()
	tx, err := pool.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	e := entering{tx: tx}
	if err := outbox.Enter(t.Context(), tx, "NOW(6)", outbox.Event{Kind: kind, Data: outbox.Of(struct{}{})}); err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRowContext(t.Context(), "SELECT LAST_INSERT_ID()").Scan(&e.id); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestSpreadMissesNone: transactions that enter events commit and roll back in any order, and endpoints come in between.
// After every round each event that is committed and that an endpoint gets has its delivery; no low-water mark is above an
// id whose transaction has not ended; and once nothing is open the marks reach the end (promise B9).
func TestSpreadMissesNone(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		o, pool := newOutbox(t, dsn)
		seed := rand.Uint64()
		random := rand.New(rand.NewPCG(seed, 1))
		t.Logf("seed %d", seed)
		kinds := leaderboard.EventKinds()
		o.put(t, "e0")
		o.put(t, "e1", kinds[0], kinds[1])
		var open []entering
		late, moved := 0, 0
		check := func() {
			t.Helper()
			if missed := ids(t, pool, "SELECT o.id FROM outbox o JOIN endpoints e ON o.id > 0 LEFT JOIN deliveries d ON d.endpoint_id = e.id AND d.event_id = o.id"+
				" WHERE d.event_id IS NULL AND o.created_at > e.created_at AND (JSON_LENGTH(e.kinds) = 0 OR JSON_CONTAINS(e.kinds, JSON_QUOTE(CONVERT(o.kind USING utf8mb4))))"); len(missed) > 0 {
				t.Fatalf("seed %d: events %v have no delivery", seed, missed)
			}
			for _, mark := range ids(t, pool, "SELECT low_water FROM endpoints") {
				for _, e := range open {
					if e.id <= mark {
						t.Fatalf("seed %d: the mark is %d, and event %d is still to come", seed, mark, e.id)
					}
				}
			}
		}
		end := func(i int) {
			if open[i].id < ids(t, pool, "SELECT COALESCE(MAX(id), 0) FROM outbox")[0] {
				late++
			}
			ends := open[i].tx.Commit
			if random.IntN(4) == 0 {
				ends = open[i].tx.Rollback
			}
			if err := ends(); err != nil {
				t.Fatal(err)
			}
			open = append(open[:i], open[i+1:]...)
		}
		for step := range 400 {
			if random.IntN(12) == 0 {
				for len(open) > 0 {
					end(random.IntN(len(open)))
				}
			}
			switch n := random.IntN(10); {
			case n < 4 && len(open) < 6:
				open = append(open, enter(t, pool, kinds[random.IntN(len(kinds))]))
			case n < 7 && len(open) > 0:
				end(random.IntN(len(open)))
			case n == 9 && len(open) == 0 && step < 300:
				o.put(t, fmt.Sprint("later", step), kinds[random.IntN(len(kinds))])
			default:
				before := ids(t, pool, "SELECT low_water FROM endpoints WHERE name = 'e0'")[0]
				if _, err := o.Spread(t.Context()); err != nil {
					t.Fatal(err)
				}
				check()
				if after := ids(t, pool, "SELECT low_water FROM endpoints WHERE name = 'e0'")[0]; after > before {
					moved++
				}
			}
		}
		for len(open) > 0 {
			end(0)
		}
		if _, err := o.Spread(t.Context()); err != nil {
			t.Fatal(err)
		}
		check()
		last := ids(t, pool, "SELECT MAX(id) FROM outbox")[0]
		if marks := ids(t, pool, "SELECT low_water FROM endpoints WHERE low_water <> ?", last); len(marks) > 0 {
			t.Errorf("with nothing open the marks are %v, want %d", marks, last)
		}
		if late < 20 || moved < 3 {
			t.Errorf("seed %d: %d events committed after later ones, the mark moved %d times: the test tells nothing", seed, late, moved)
		}
	})
}

// TestEndpointWaitsForEvents: an endpoint gets events that are committed after its creation, also if their transactions
// began before: its creation waits for transactions that enter events, since they may have found no endpoint for their
// events.
func TestEndpointWaitsForEvents(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		o, pool := newOutbox(t, dsn)
		first := enter(t, pool, leaderboard.EventKindBoardChanged) // there is no endpoint, so nothing is entered
		made := make(chan struct{})
		go func() {
			defer close(made)
			o.put(t, "e")
		}()
		select {
		case <-made:
			t.Error("an endpoint was created beside a transaction that knows of none")
		case <-time.After(300 * time.Millisecond): // that it waits cannot be seen otherwise
		}
		if err := first.tx.Commit(); err != nil {
			t.Fatal(err)
		}
		<-made
		second := enter(t, pool, leaderboard.EventKindBoardChanged)
		if err := second.tx.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, err := o.Spread(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ids(t, pool, "SELECT event_id FROM deliveries"); len(got) != 1 {
			t.Errorf("deliveries %v, want that of the second", got)
		}
	})
}

// TestDueIsShared: deliveries that were tried before and new ones share the batch, also when there are many of either; the
// room that one kind leaves the other gets.
func TestDueIsShared(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		o, pool := newOutbox(t, dsn)
		o.put(t, "e")
		endpoint := ids(t, pool, "SELECT id FROM endpoints")[0]
		spread := func(n int) {
			for range n {
				if err := enter(t, pool, leaderboard.EventKindBoardChanged).tx.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := o.Spread(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		// look returns how many of the due deliveries were tried before, and their number, and lets the attempts fail.
		look := func(limit int, retry time.Duration) string {
			due, err := o.Due(t.Context(), endpoint, limit)
			if err != nil {
				t.Fatal(err)
			}
			again := 0
			for _, d := range due {
				if d.Attempts > 0 {
					again++
				}
				if _, err := o.Settle(t.Context(), Attempt{EndpointID: endpoint, Event: d.Seq, Status: 500, Error: "500", Retry: retry}); err != nil {
					t.Fatal(err)
				}
			}
			return fmt.Sprint(again, " of ", len(due))
		}
		spread(20)
		got := []string{look(8, time.Microsecond), look(8, time.Microsecond), look(2, time.Microsecond), look(1, time.Hour), look(20, time.Microsecond), look(8, time.Hour)}
		if want := []string{"0 of 8", "4 of 8", "1 of 2", "0 of 1", "13 of 19", "8 of 8"}; !slices.Equal(got, want) {
			t.Errorf("tried before: %v, want %v", got, want)
		}
	})
}

// TestPlans: no statement reads more than it works on, or sorts.
func TestPlans(t *testing.T) {
	t.Parallel()
	plantest.Run(t, map[string]plantest.Planned{
		"missing":      {Query: plantest.Literal(missing, 5, 1, 500), Keys: map[string]string{"o": "PRIMARY", "d": "PRIMARY"}},
		"due again":    {Query: plantest.Literal(fmt.Sprintf(dueAgain, "NOW(6)"), 1, 8), Keys: map[string]string{"d": "deliveries_due", "o": "PRIMARY"}},
		"due first":    {Query: plantest.Literal(dueFirst, 1, 8), Keys: map[string]string{"d": "deliveries_due", "o": "PRIMARY"}},
		"waiting":      {Query: plantest.Literal(waitingCount, 1, 100), Keys: map[string]string{"deliveries": "deliveries_state"}},
		"oldest":       {Query: plantest.Literal(waitingFirst, 1), Keys: map[string]string{"deliveries": "deliveries_state"}},
		"listed":       {Query: plantest.Literal(listedAll, 1, 1000, 20), Keys: map[string]string{"d": "PRIMARY", "o": "PRIMARY"}},
		"listed state": {Query: plantest.Literal(listedState, 1, "'failed'", 1000, 20), Keys: map[string]string{"d": "deliveries_state", "o": "PRIMARY"}},
		"replayed":     {Query: plantest.Literal(replayed, "'2026-01-01'", "'2026-01-01'", 0, 500), Keys: map[string]string{"outbox": "outbox_age"}},
		"erased":       {Query: plantest.Literal(erasedEvents, 1000, 1000), Keys: map[string]string{"outbox": "outbox_kind"}},
		"older":        {Query: plantest.Literal(fmt.Sprintf(olderThan, "NOW(6)"), 60_000_000), Keys: map[string]string{"outbox": "outbox_age"}},
		"any above":    {Query: plantest.Literal(anyAbove, "'member.passed'", 1000), Keys: map[string]string{"outbox": "outbox_kind"}},
		"above":        {Query: plantest.Literal(above, "'member.passed'", 1000, 500), Keys: map[string]string{"o": "outbox_kind"}},
		"still waited": {Query: plantest.Literal(stillWaited, 1), Keys: map[string]string{"d": "deliveries_event"}},
	})
}

// TestNewEndpointGetsNothingOld: an endpoint gets the events from its creation on, and no earlier ones.
func TestNewEndpointGetsNothingOld(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		o, pool := newOutbox(t, dsn)
		happen := func() int64 {
			t.Helper()
			e := enter(t, pool, leaderboard.EventKinds()[0])
			if err := e.tx.Commit(); err != nil {
				t.Fatal(err)
			}
			if _, err := o.Spread(t.Context()); err != nil {
				t.Fatal(err)
			}
			return e.id
		}
		o.put(t, "before")
		for range 3 {
			happen()
		}
		o.put(t, "after")
		last := happen()
		const query = "SELECT event_id FROM deliveries WHERE endpoint_id = (SELECT id FROM endpoints WHERE name = ?) ORDER BY event_id"
		if got := ids(t, pool, query, "after"); !slices.Equal(got, []int64{last}) {
			t.Errorf("a new endpoint gets the events %v, want %d", got, last)
		}
		if got := ids(t, pool, query, "before"); len(got) != 4 {
			t.Errorf("the other one gets %v", got)
		}
	})
}
