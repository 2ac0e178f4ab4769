// Package dbtest gives tests of the store and of features stores on MySQL and MariaDB, and a proxy that breaks their connections.
//
// Read dbtest.go (stores, boards, waiting), then proxy.go (faults) and clock.go.
package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

// Open returns a migrated store on a database. It has the parts of features that change sets.
func Open(t testing.TB, dsn string, change func(*store.Config)) *store.Store {
	t.Helper()
	db := Connect(t, dsn)
	if _, err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	cfg := store.Config{DSN: dsn}
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

// Patient has a store refuse and give up nothing because the machine is slow, which is not what a history is about.
func Patient(c *store.Config) {
	c.StatementTimeout, c.ReadTimeout, c.WriteTimeout, c.WriteWait, c.ProbeWait = MaxWait, MaxWait, MaxWait, MaxWait, MaxWait
}

// ClockBy has the clock of a store ahead of the real one, by an amount that the test changes.
func ClockBy(ahead *atomic.Int64) func(*store.Config) {
	return func(c *store.Config) {
		c.Clock = ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
	}
}

// Connect returns a separate pool, for the statements of a test that bypass the store.
func Connect(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Dialects runs a test on MySQL and on MariaDB.
func Dialects(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("mysql", func(t *testing.T) { t.Parallel(); test(t, testenv.MySQL(t)) })
	t.Run("mariadb", func(t *testing.T) { t.Parallel(); test(t, testenv.MariaDB(t)) })
}

// MakeBoard makes a board and returns what readers need to know of its period.
func MakeBoard(t testing.TB, s *store.Store, name string, rules leaderboard.Rules) leaderboard.PeriodRef {
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

// One returns a request for one member.
func One(board, key, member string, score int64) leaderboard.SubmitRequest {
	return leaderboard.SubmitRequest{Board: board, Key: key, Entries: []leaderboard.Submission{{Member: member, Score: score}}}
}

// ScoreOf returns a member's score, -1 without an entry.
func ScoreOf(t testing.TB, s *store.Store, ref leaderboard.PeriodRef, member string) int64 {
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

// MaxWait bounds every wait of a test; it is long because machines are shared.
const MaxWait = 30 * time.Second

// Eventually polls until cond is true.
func Eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	Poll(t, 2*time.Millisecond, what, cond)
}

// Poll is Eventually with the time between two looks.
func Poll(t testing.TB, every time.Duration, what string, cond func() bool) {
	t.Helper()
	PollFor(t, MaxWait, every, what, cond)
}

// PollFor is Poll with the time after which it is in vain.
func PollFor(t testing.TB, limit, every time.Duration, what string, cond func() bool) {
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

// Await receives from a channel.
func Await[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(MaxWait):
		t.Fatalf("waited in vain for %s", what)
	}
	var none T
	return none
}

// Hold runs a locking SELECT in a transaction of another connection; release ends it.
func Hold(t testing.TB, dsn, query string, args ...any) (release func()) {
	t.Helper()
	tx, err := Connect(t, dsn).BeginTx(context.Background(), nil)
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

// HoldPeriod keeps writers of a period waiting.
func HoldPeriod(t testing.TB, dsn string, ref leaderboard.PeriodRef) (release func()) {
	t.Helper()
	return Hold(t, dsn, "SELECT id FROM periods WHERE id = ? FOR UPDATE", ref.ID)
}

// MustExec runs a statement behind the store's back.
func MustExec(t testing.TB, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// Count returns the number of rows that match the text after FROM.
func Count(t testing.TB, db *sql.DB, query string, args ...any) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// AuditEntry is the record of one change.
type AuditEntry struct {
	ID        int64
	Time      leaderboard.Micros // database clock
	Actor     string             // id of the key; the scope of a key from the settings; "" for the service itself
	Action    leaderboard.AuditAction
	Board     string // its name at the time, "" for none
	Member    string // "" for none
	Before    string // the state before, a JSON object; "" for nothing
	After     string // the state after
	RequestID string // of the request that made the change, "" for none
}

// Audited returns the records of changes, newest first.
func Audited(t testing.TB, db *sql.DB) (out []AuditEntry) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT id, logged_at, actor, action, board, member, COALESCE(before_json, ''), COALESCE(after_json, ''), request_id FROM audit ORDER BY logged_at DESC, id DESC")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var (
			e  AuditEntry
			at time.Time
		)
		if err := rows.Scan(&e.ID, &at, &e.Actor, &e.Action, &e.Board, &e.Member, &e.Before, &e.After, &e.RequestID); err != nil {
			t.Fatal(err)
		}
		e.Time = leaderboard.MicrosOf(at)
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
