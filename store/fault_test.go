package store_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/devserver"
	"leaderboard/internal/mysql"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest"
	"leaderboard/store/storetest/dbtest"
)

// TestCommitLost: a write whose COMMIT ended in the dark has an unknown outcome. The same key then returns the one true
// result, whether the transaction was committed or not, and the score counts once.
func TestCommitLost(t *testing.T) {
	t.Parallel()
	dbtest.LoseCommits(t, open, func(t *testing.T, l *dbtest.LostCommit) {
		ref := dbtest.MakeBoard(t, l.Direct, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		if _, err := l.Lossy.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 10)); err != nil {
			t.Fatal(err)
		}
		l.Lose()
		r, err := l.Lossy.Writer.Submit(t.Context(), dbtest.One("b", "key", "m", 5))
		if !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
			t.Fatalf("%+v, %v; want an unknown outcome", r, err)
		}
		if got := dbtest.ScoreOf(t, l.Direct, ref, "m"); got != l.After {
			t.Fatalf("the score in MySQL is %d, want %d: the fault is not the one to test", got, l.After)
		}
		var first leaderboard.Receipt
		for i := range 3 {
			r, err := l.Lossy.Writer.Submit(t.Context(), dbtest.One("b", "key", "m", 5))
			if err != nil || r.Seq != 2 || *r.Results[0].Score != 15 || *r.Results[0].Previous != 10 {
				t.Errorf("retry %d: %+v, %v", i, r, err)
			}
			if r.Replayed != (i > 0 || l.After == 15) {
				t.Errorf("retry %d, after a COMMIT that left %d: replayed %t", i, l.After, r.Replayed)
			}
			if r.Replayed = true; i == 0 {
				first = r
			} else if !reflect.DeepEqual(r, first) {
				t.Errorf("retry %d: %+v, the one before got %+v", i, r, first)
			}
		}
		if got := dbtest.ScoreOf(t, l.Direct, ref, "m"); got != 15 {
			t.Errorf("the score is %d in the end, want 15", got)
		}
		storetest.CheckLog(t, storetest.Of(l.Direct, storetest.Added{}), ref)
		if want := map[bool][]int64{true: {1}, false: {1, 2}}[l.After == 15]; !reflect.DeepEqual(l.Heard, want) {
			t.Errorf("heard of commits %v, want %v: those with a known outcome", l.Heard, want)
		}
	})
}

// TestLostBeforeCommit: a connection that breaks ahead of COMMIT changed nothing. One such fault is repaired unseen;
// when it comes again the error says that nothing was done, which is true.
func TestLostBeforeCommit(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{"FOR UPDATE", "INSERT INTO entries"} {
		for _, f := range []dbtest.Fault{dbtest.FaultCutBefore, dbtest.FaultCutAfter} {
			dsn := testenv.MySQL(t)
			p, through := dbtest.NewProxy(t, dsn)
			s := open(t, through, nil)
			ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
			p.On(statement, f, 1)
			if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "k1", "m", 1)); err != nil || *r.Results[0].Score != 1 || r.Seq != 1 {
				t.Errorf("%s, fault %d once: %+v, %v", statement, f, r, err)
			}
			p.On(statement, f, 0)
			if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "k2", "m", 1)); !errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOutcomeUnknown) {
				t.Errorf("%s, fault %d always: %+v, %v", statement, f, r, err)
			}
			p.Heal()
			if got := dbtest.ScoreOf(t, s, ref, "m"); got != 1 {
				t.Errorf("%s, fault %d: the score is %d, want 1", statement, f, got)
			}
			if r, err := s.Writer.Submit(t.Context(), dbtest.One("b", "k2", "m", 1)); err != nil || *r.Results[0].Score != 2 {
				t.Errorf("%s, fault %d healed: %+v, %v", statement, f, r, err)
			}
			storetest.CheckLog(t, storetest.Of(s, storetest.Added{}), ref)
		}
	}
}

// TestSilentSession: a writer that says nothing in the middle of its transaction, as if it were frozen, loses its locks:
// another writer writes to the board a few seconds later. When it continues it repeats its work, which counts once.
func TestSilentSession(t *testing.T) {
	t.Parallel()
	for _, statement := range []string{"INSERT INTO entries", "COMMIT"} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			dbtest.Dialects(t, func(t *testing.T, dsn string) {
				p, through := dbtest.NewProxy(t, dsn)
				frozen, other := open(t, through, nil), open(t, dsn, nil)
				ref := dbtest.MakeBoard(t, other, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
				if _, err := frozen.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 10)); err != nil {
					t.Fatal(err)
				}
				p.On(statement, dbtest.FaultFreeze, 1)
				errs := make(chan error, 1)
				go func() {
					_, err := frozen.Writer.Submit(context.Background(), dbtest.One("b", "key", "m", 5))
					errs <- err
				}()
				watch := dbtest.Connect(t, dsn)
				dbtest.Eventually(t, "the frozen writer holds the board", func() bool {
					_, err := watch.ExecContext(t.Context(), "SELECT id FROM boards WHERE name = 'b' FOR UPDATE NOWAIT")
					return err != nil
				})
				began := time.Now()
				if _, err := other.Writer.Submit(t.Context(), dbtest.One("b", "", "other", 1)); err != nil {
					t.Errorf("beside a frozen writer: %v", err)
				}
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("a frozen writer was waited for %s", took)
				}
				// MySQL reports that it has ended the session, and so that nothing was committed. MariaDB reports nothing.
				err := dbtest.Await(t, "the frozen writer's answer", errs)
				if errors.Is(err, leaderboard.ErrOutcomeUnknown) && statement == "COMMIT" && isMariaDB(t, watch) {
					_, err = frozen.Writer.Submit(t.Context(), dbtest.One("b", "key", "m", 5))
				}
				if err != nil {
					t.Errorf("the frozen writer: %v", err)
				}
				if got := dbtest.ScoreOf(t, other, ref, "m"); got != 15 {
					t.Errorf("the score is %d, want 15", got)
				}
				storetest.CheckLog(t, storetest.Of(other, storetest.Added{}), ref)
			})
		})
	}
}

// isMariaDB reports whether a server is a MariaDB, which may stand in for MySQL.
func isMariaDB(t *testing.T, server *sql.DB) bool {
	t.Helper()
	var version string
	if err := server.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(version, "MariaDB")
}

// repeats is a log handler that reports repeated batches.
type repeats struct {
	slog.Handler
	seen chan string
}

func (r repeats) Enabled(context.Context, slog.Level) bool { return true }

func (r repeats) Handle(_ context.Context, rec slog.Record) error {
	if rec.Message == "batch is repeated" {
		rec.Attrs(func(a slog.Attr) bool {
			if a.Key == "error" {
				r.seen <- a.Value.String()
			}
			return true
		})
	}
	return nil
}

// TestLockWait: when another connection holds a row for too long, MySQL rolls back the one statement (error 1205) and
// leaves the transaction open, with the idempotency key in it that says the request is done. The writer must roll back
// itself; then it repeats the whole batch.
func TestLockWait(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		seen := make(chan string, 10)
		s := open(t, dsn, func(c *store.Config) {
			c.LockWait, c.MaxConns = time.Second, 4 // one connection for writes: the retry gets the same one
			c.Logger = slog.New(repeats{slog.DiscardHandler, seen})
		})
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		for _, m := range []string{"a", "b"} {
			if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", m, 10)); err != nil {
				t.Fatal(err)
			}
		}
		const row = "SELECT member FROM entries WHERE period_id = ? AND member = 'b' FOR UPDATE"
		release := dbtest.Hold(t, dsn, row, ref.ID)
		errs := make(chan error, 1)
		req := leaderboard.SubmitRequest{Board: "b", Key: "key", Entries: []leaderboard.Submission{{Member: "a", Score: 5}, {Member: "b", Score: 7}}}
		go func() {
			_, err := s.Writer.Submit(context.Background(), req)
			errs <- err
		}()
		if cause := dbtest.Await(t, "the first attempt to fail", seen); !strings.Contains(cause, "1205") {
			t.Errorf("the first attempt failed with %s, want 1205", cause)
		}
		release()
		if err := dbtest.Await(t, "the answer", errs); err != nil {
			t.Error(err)
		}
		if a, b := dbtest.ScoreOf(t, s, ref, "a"), dbtest.ScoreOf(t, s, ref, "b"); a != 15 || b != 17 {
			t.Errorf("scores are %d and %d, want 15 and 17", a, b)
		}
		// When the row stays locked the batch is given up, and nothing of it remains.
		release = dbtest.Hold(t, dsn, row, ref.ID)
		req.Key = "key 2"
		if _, err := s.Writer.Submit(t.Context(), req); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("while the row is locked: %v", err)
		}
		release()
		dbtest.Eventually(t, "the batch has ended", func() bool { return !s.Writing(req.Board) })
		storetest.CheckLog(t, storetest.Of(s, storetest.Added{}), ref)
		r, err := s.Writer.Submit(t.Context(), req)
		if err != nil || *r.Results[0].Score != 20 || *r.Results[1].Score != 24 {
			t.Errorf("when it is free again: %+v, %v", r, err)
		}
		if a, b := dbtest.ScoreOf(t, s, ref, "a"), dbtest.ScoreOf(t, s, ref, "b"); a != 20 || b != 24 {
			t.Errorf("scores are %d and %d, want 20 and 24", a, b)
		}
		storetest.CheckLog(t, storetest.Of(s, storetest.Added{}), ref)
	})
}

// TestDeadlock: the client does not see a deadlock that another session provokes.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		seen := make(chan string, 10)
		s := open(t, dsn, func(c *store.Config) { c.Logger = slog.New(repeats{slog.DiscardHandler, seen}) })
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil {
			t.Fatal(err)
		}
		// The outsider has changed many rows, so the server rolls the writer back and not it.
		tx, err := dbtest.Connect(t, dsn).BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		for _, q := range []string{
			"INSERT INTO rank_indexes (period_id, chunk, chunks, incarnation, seq, saved_at, payload) SELECT 1000 + p.id, b.n, 1, 1, 1, NOW(6), REPEAT('x', 100)" +
				" FROM periods p, (SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7) b",
			"UPDATE entries SET score = score WHERE member = 'm'",
			"DELETE FROM entries WHERE member = 'm'",
		} {
			if _, err := tx.ExecContext(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		errs := make(chan error, 1)
		go func() {
			_, err := s.Writer.Submit(context.Background(), dbtest.One("b", "", "m", 2))
			errs <- err
		}()
		watch := dbtest.Connect(t, dsn)
		dbtest.Eventually(t, "the writer holds the period", func() bool {
			_, err := watch.ExecContext(t.Context(), "SELECT id FROM periods WHERE id = ? FOR UPDATE NOWAIT", ref.ID)
			return err != nil
		})
		if _, err := tx.ExecContext(t.Context(), "UPDATE periods SET ends_at = NULL, state = 'open', entry_count = entry_count + 0 WHERE id = ?", ref.ID); err != nil {
			t.Fatalf("the outsider was chosen as the victim: %v", err)
		}
		if cause := dbtest.Await(t, "the first attempt to fail", seen); !strings.Contains(cause, "1213") {
			t.Errorf("the first attempt failed with %s, want 1213", cause)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if err := dbtest.Await(t, "the answer", errs); err != nil {
			t.Error(err)
		}
		if got := dbtest.ScoreOf(t, s, ref, "m"); got != 3 {
			t.Errorf("the score is %d, want 3", got)
		}
	})
}

// TestReadOnlyServer: a server that became a replica refuses writes; nothing is done, as the error says.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateMySQL(t)
	if _, err := dbtest.Connect(t, server.DSN+"mysql").ExecContext(t.Context(), "CREATE DATABASE lb"); err != nil {
		t.Fatal(err)
	}
	root := dbtest.Connect(t, server.DSN+"lb")
	s := open(t, server.DSN+"lb", nil)
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1)); err != nil {
		t.Fatal(err)
	}
	exec := func(q string) {
		t.Helper()
		if _, err := root.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	readOnly := "super_read_only"
	if server.Kind == devserver.KindMariaDB { // MariaDB has no read_only_admin
		readOnly = "read_only"
	}
	exec("SET GLOBAL " + readOnly + " = ON")
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "k", "m", 2)); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("submit to a read-only server: %v", err)
	}
	if _, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("a page of a read-only server: %v", err)
	}
	exec("SET GLOBAL read_only = OFF")
	if got := dbtest.ScoreOf(t, s, ref, "m"); got != 1 {
		t.Errorf("the score is %d", got)
	}
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "k", "m", 2)); err != nil {
		t.Errorf("submit when it is writable again: %v", err)
	}
	lock := mysql.Lock{Kind: "test", ID: 1}
	if held, err := s.Database().Locks.Hold(t.Context(), []mysql.Lock{lock}); err != nil || !held[0] {
		t.Fatalf("holds %t, %v", held, err)
	}
	exec("SET GLOBAL read_only = ON") // the account of the store may write all the same
	if _, err := s.Entries.Revisions(t.Context(), []int64{ref.ID}); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("the feed of a read-only server: %v", err)
	}
	// Locks at a server that was given up are worth nothing: another process holds them at the new primary.
	if held, err := s.Database().Locks.Hold(t.Context(), []mysql.Lock{lock}); held[0] || !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("at a read-only server: holds %t, %v", held, err)
	}
	exec("SET GLOBAL read_only = OFF")
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 2)); err != nil {
		t.Fatal(err)
	}
	exec("SET GLOBAL read_only = ON")
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 9)); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("submit by an account that may write to a read-only server: %v", err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("ping of a read-only server: %v", err)
	}
	exec("SET GLOBAL read_only = OFF")
	if got := dbtest.ScoreOf(t, s, ref, "m"); got != 2 {
		t.Errorf("the score is %d", got)
	}
	// Killed and gone: every call fails with that error, and works again with the server.
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 3)); !errors.Is(err, leaderboard.ErrUnavailable) && !errors.Is(err, leaderboard.ErrOutcomeUnknown) {
		t.Errorf("submit without a server: %v", err)
	}
	if _, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("page without a server: %v", err)
	}
	if err := s.Ping(t.Context()); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Errorf("ping without a server: %v", err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	dbtest.Eventually(t, "the store works again", func() bool {
		_, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 4))
		return err == nil
	})
	if got := dbtest.ScoreOf(t, s, ref, "m"); got != 4 {
		t.Errorf("the score is %d", got)
	}
}

// TestClockUnderLock: the moment of the lock decides ties, not the moment at which the wait for it began.
func TestClockUnderLock(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s := open(t, dsn, nil)
		name := fmt.Sprint("clock-", time.Now().UnixNano())
		ref := dbtest.MakeBoard(t, s, name, leaderboard.Rules{})
		release := dbtest.HoldPeriod(t, dsn, ref)
		receipts := make(chan leaderboard.Receipt, 1)
		go func() {
			r, err := s.Writer.Submit(context.Background(), dbtest.One(name, "", "m", 1))
			if err != nil {
				t.Error(err)
			}
			receipts <- r
		}()
		watch := dbtest.Connect(t, dsn)
		dbtest.Eventually(t, "the writer waits for the lock", func() bool {
			return waiting(t, watch, hex.EncodeToString([]byte(name)), "FOR UPDATE") > 0
		})
		before, err := s.Now(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
		if r := dbtest.Await(t, "the receipt", receipts); *r.Results[0].CreatedTime < before {
			t.Errorf("created at %s, though the lock was held until after %s", r.Results[0].CreatedTime, before)
		}
	})
}
