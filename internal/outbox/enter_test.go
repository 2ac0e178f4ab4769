package outbox_test

import (
	"context"
	"database/sql"
	"os"
	"testing"
	"time"

	"leaderboard/internal/outbox"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// TestListen: a statement that changes a row shows whether there may be an endpoint, and the answer is valid until its
// transaction ends.
func TestListen(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		dbtest.Open(t, dsn, nil)
		pool := dbtest.Connect(t, dsn)
		if _, err := pool.ExecContext(t.Context(), "INSERT INTO periods (id, incarnation, board_id, window_name, starts_at, last_created_time, committed_at)"+
			" VALUES (1, 1, 1, 'day', '2026-01-01', '2026-01-01', '2026-01-01')"); err != nil {
			t.Fatal(err)
		}
		asked := func(to string) (*sql.Tx, bool) {
			tx, err := pool.BeginTx(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tx.Rollback() })
			result, err := tx.ExecContext(t.Context(), "UPDATE periods SET state = IF("+outbox.Listen+", ?, ?) WHERE id = 1", to, to)
			if err != nil {
				t.Fatal(err)
			}
			return tx, outbox.MayListen(result)
		}
		tx, may := asked("closed")
		if may {
			t.Error("without an endpoint there may be one")
		}
		made := make(chan struct{})
		go func() {
			defer close(made)
			dbtest.Listen(t, dsn, "e")
		}()
		select {
		case <-made:
			t.Error("an endpoint was created beside a transaction that knows of none")
		case <-time.After(300 * time.Millisecond): // that it waits cannot be seen otherwise
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		<-made
		if _, may := asked("open"); !may {
			t.Error("with an endpoint there may be none")
		}
	})
}

// TestOnce: an event that happens only once is entered once.
func TestOnce(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		dbtest.Open(t, dsn, nil)
		pool := dbtest.Connect(t, dsn)
		dbtest.Listen(t, dsn, "e")
		for range 2 {
			tx, err := pool.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			event := outbox.Event{Kind: leaderboard.EventKindPeriodClosed, Once: "the end", Data: outbox.Of(struct{}{}, leaderboard.EventMember{Member: "m", Detail: "{}"})}
			if err := outbox.Enter(t.Context(), tx, "NOW(6)", event); err != nil {
				t.Fatal(err)
			}
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if events, members := dbtest.Count(t, pool, "outbox"), dbtest.Count(t, pool, "outbox_members"); events != 1 || members != 1 {
			t.Errorf("%d events and %d members, want one of each", events, members)
		}
	})
}
