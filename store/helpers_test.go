package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/features/review"
	"leaderboard/internal/app/features"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
	"leaderboard/store/storetest"
)

// open returns a migrated store on a database.
func open(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	db := connect(t, dsn)
	if _, err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	cfg := store.Config{DSN: dsn, Parts: features.Parts()}
	if change != nil {
		change(&cfg)
	}
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// desk is where held submissions of a store are decided.
func desk(s *store.Store) review.Desk { return review.Desk{Finder: s.Held, Writer: s.Writer} }

// patient has a store refuse and give up nothing because the machine is slow, which is not what a history is about.
func patient(c *store.Config) {
	c.StatementTimeout, c.ReadTimeout, c.WriteTimeout, c.WriteWait = maxWait, maxWait, maxWait, maxWait
}

// clockBy has the clock of a store ahead of the real one, by an amount that the test changes.
func clockBy(ahead *atomic.Int64) func(*store.Config) {
	return func(c *store.Config) {
		c.Clock = storetest.ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
	}
}

// connect returns a pool of its own, for what a test does behind the store's back.
func connect(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// dialects runs a test on MySQL and on MariaDB.
func dialects(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("mysql", func(t *testing.T) { t.Parallel(); test(t, testenv.MySQL(t)) })
	t.Run("mariadb", func(t *testing.T) { t.Parallel(); test(t, testenv.MariaDB(t)) })
}

// makeBoard makes a board and returns what readers need to know of its period.
func makeBoard(t testing.TB, s *store.Store, name string, rules leaderboard.Rules) leaderboard.PeriodRef {
	t.Helper()
	b, _, err := s.Boards.PutBoard(t.Context(), name, rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Boards.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	return p.Ref(&b)
}

// one returns a request for one member.
func one(board, key, member string, score int64) leaderboard.SubmitRequest {
	return leaderboard.SubmitRequest{Board: board, Key: key, Entries: []leaderboard.Submission{{Member: member, Score: score}}}
}

// scoreOf returns a member's score, -1 when it has none.
func scoreOf(t testing.TB, s *store.Store, ref leaderboard.PeriodRef, member string) int64 {
	t.Helper()
	out, err := s.Entries.Members(t.Context(), ref, leaderboard.MembersQuery{Members: []string{member}})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Entries) == 0 {
		return -1
	}
	return out.Entries[0].Score
}

// maxWait bounds every wait of a test; it is long because machines are shared.
const maxWait = 30 * time.Second

// eventually polls until cond is true.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	poll(t, 2*time.Millisecond, what, cond)
}

func poll(t testing.TB, every time.Duration, what string, cond func() bool) {
	t.Helper()
	pollFor(t, maxWait, every, what, cond)
}

func pollFor(t testing.TB, limit, every time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// await receives from a channel.
func await[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(maxWait):
		t.Fatalf("waited in vain for %s", what)
	}
	var none T
	return none
}

// hold runs a locking SELECT in a transaction of another connection; release ends it.
func hold(t testing.TB, dsn, query string, args ...any) (release func()) {
	t.Helper()
	tx, err := connect(t, dsn).BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	rows, err := tx.QueryContext(context.Background(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		n++
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || n == 0 {
		t.Fatal(fmt.Errorf("%d rows are locked: %w", n, err))
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// holdPeriod keeps writers of a period waiting.
func holdPeriod(t testing.TB, dsn string, ref leaderboard.PeriodRef) (release func()) {
	t.Helper()
	return hold(t, dsn, "SELECT id FROM periods WHERE id = ? FOR UPDATE", ref.ID)
}
