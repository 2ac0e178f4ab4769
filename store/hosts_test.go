package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/devserver"
	"leaderboard/internal/serverfault"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// replicated starts a MySQL and a replica of it, and returns a DSN that names both, the replica first.
func replicated(t *testing.T) (source, replica *devserver.Server, dsn string) {
	t.Helper()
	source, replica = testenv.PrivateMySQL(t), testenv.PrivateMySQL(t)
	from, to := root(t, source), root(t, replica)
	var file, position string
	rows, err := from.QueryContext(t.Context(), "SHOW BINARY LOG STATUS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	row := make([]any, len(columns))
	for i := range row {
		row[i] = new(sql.RawBytes)
	}
	row[0], row[1] = &file, &position
	if !rows.Next() || rows.Scan(row...) != nil || rows.Close() != nil {
		t.Fatal("there is no binary log")
	}
	for _, q := range []string{
		"SET GLOBAL server_id = 2",
		fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = %s, SOURCE_USER = 'root', SOURCE_LOG_FILE = '%s', SOURCE_LOG_POS = %s, GET_SOURCE_PUBLIC_KEY = 1",
			source.Addr[strings.LastIndexByte(source.Addr, ':')+1:], file, position),
		"START REPLICA", "SET GLOBAL super_read_only = ON",
	} {
		execOn(t, to, q)
	}
	execOn(t, from, "CREATE DATABASE lb")
	cfg, err := mysql.ParseDSN(source.DSN + "lb")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Addr = replica.Addr
	return source, replica, strings.Replace(cfg.FormatDSN(), replica.Addr, replica.Addr+","+source.Addr, 1)
}

// groupRounds is how often TestGroup has a primary end.
func groupRounds() int {
	if os.Getenv("LEADERBOARD_TORTURE") != "" {
		return 20
	}
	return 2
}

// groupWait bounds the waits for a group: a frozen primary runs into the time-outs of every connection.
const groupWait = 4 * dbtest.MaxWait

// TestGroup: the primary of a group of three is killed or frozen again and again under writers who repeat unacknowledged
// submissions. Each submission is counted once, seqs have no gaps, and writes continue at the next primary (promise A9).
func TestGroup(t *testing.T) {
	t.Parallel()
	g := testenv.PrivateMySQLGroup(t)
	dsn, err := g.DSN(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dsn, nil)
	if _, faults, err := s.Faults(t.Context(), 1); err != nil || slices.ContainsFunc(faults, isReplication) {
		t.Errorf("of a group is said %+v, %v", faults, err)
	}
	ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
	const writers = 8
	var acknowledged, keys atomic.Int64
	for round := range groupRounds() {
		stop := make(chan struct{})
		var writing sync.WaitGroup
		for range writers {
			writing.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					request := dbtest.One("b", fmt.Sprint("k", keys.Add(1)), "m", 1)
					dbtest.PollFor(t, groupWait, 10*time.Millisecond, "a submission is acknowledged", func() bool {
						_, err := s.Writer.Submit(context.Background(), request)
						return err == nil
					})
					acknowledged.Add(1)
				}
			})
		}
		grown := func(what string) {
			from := acknowledged.Load()
			dbtest.PollFor(t, groupWait, 10*time.Millisecond, what, func() bool { return acknowledged.Load() >= from+20*writers })
		}
		grown("writes go on")
		primary := g.Primary(t.Context())
		if primary == nil {
			t.Fatal("the group has no primary")
		}
		frozen := round%2 == 1
		end := primary.Kill
		if frozen {
			end = primary.Pause
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		grown("writes go on at the next primary")
		t.Logf("round %d, frozen %t: %d more writes %s after the end of the primary", round, frozen, 20*writers, time.Since(began).Round(100*time.Millisecond))
		if frozen {
			err = primary.Resume()
		} else {
			err = primary.Restart(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		grown("writes go on when the old primary is back")
		close(stop)
		writing.Wait()
		dbtest.PollFor(t, groupWait, 10*time.Millisecond, "the old primary is a member again", func() bool { return g.Rejoin(t.Context(), primary) == nil })
		if got := dbtest.ScoreOf(t, s, ref, "m"); got != acknowledged.Load() {
			t.Fatalf("the score is %d, of %d submissions of 1 that were acknowledged", got, acknowledged.Load())
		}
	}
	var from int64
	for {
		commits, err := s.Entries.Changes(t.Context(), ref.ID, from, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(commits) == 0 {
			break
		}
		for i := range commits {
			if commits[i].From().Seq != from {
				t.Fatalf("a commit begins at seq %d, the one before ends at %d", commits[i].From().Seq, from)
			}
			from = commits[i].LastSeq
		}
	}
	if from != acknowledged.Load() {
		t.Errorf("the log ends at seq %d after %d submissions", from, acknowledged.Load())
	}
}

// root returns connections to a server that the store would refuse while it is read-only.
func root(t *testing.T, server *devserver.Server) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", server.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func execOn(t *testing.T, db *sql.DB, q string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), q); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

func isReplication(f serverfault.Fault) bool {
	return f.Check == serverfault.CheckReplication
}

// TestHosts: of several hosts the store uses the host that takes writes, also when it is killed or frozen and the other is
// promoted. When the old host is back and takes writes too, a store that has used the new host stays with it, and a new
// store uses neither until one of them is read-only (promise A9).
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, end := range []struct {
		name string
		end  func(*devserver.Server) error
		back func(*testing.T, *devserver.Server) error
	}{
		{"killed", (*devserver.Server).Kill, func(t *testing.T, s *devserver.Server) error { return s.Restart(t.Context()) }},
		{"frozen", (*devserver.Server).Pause, func(_ *testing.T, s *devserver.Server) error { return s.Resume() }},
	} {
		t.Run(end.name, func(t *testing.T) {
			t.Parallel()
			source, replica, dsn := replicated(t)
			to := root(t, replica)
			s := open(t, dsn, nil)
			if _, faults, err := s.Faults(t.Context(), 1); err != nil || !slices.ContainsFunc(faults, isReplication) {
				t.Errorf("of hosts that replicate asynchronously is said %+v, %v", faults, err)
			}
			ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
			var acknowledged int64
			submit := func() error {
				_, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "m", 1))
				if err == nil {
					acknowledged++
				}
				return err
			}
			for range 100 {
				if err := submit(); err != nil {
					t.Fatal(err)
				}
			}
			dbtest.Eventually(t, "the replica has all", func() bool {
				var score int64
				return to.QueryRowContext(t.Context(), "SELECT score FROM lb.entries WHERE period_id = ? AND member = 'm'", ref.ID).Scan(&score) == nil && score == acknowledged
			})
			if err := end.end(source); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Entries.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, leaderboard.ErrUnavailable) {
				t.Errorf("without a primary: %v", err)
			}
			began := time.Now()
			for _, q := range []string{"STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL read_only = OFF"} {
				execOn(t, to, q)
			}
			dbtest.Eventually(t, "the promoted host is used", func() bool { return submit() == nil })
			t.Logf("%s: writes are back %s after the promotion", end.name, time.Since(began).Round(100*time.Millisecond))
			if got := dbtest.ScoreOf(t, s, ref, "m"); got != acknowledged {
				t.Errorf("the score is %d, of %d that were acknowledged", got, acknowledged)
			}
			if err := end.back(t, source); err != nil {
				t.Fatal(err)
			}
			from := root(t, source)
			dbtest.Eventually(t, "the old primary is back", func() bool { return from.PingContext(t.Context()) == nil })
			for range 100 {
				if err := submit(); err != nil {
					t.Fatal(err)
				}
			}
			if got := dbtest.ScoreOf(t, s, ref, "m"); got != acknowledged {
				t.Errorf("the score is %d, of %d that were acknowledged", got, acknowledged)
			}
			late, err := store.Open(t.Context(), store.Config{DSN: dsn})
			if err != nil {
				t.Fatal(err)
			}
			if err := late.Ping(t.Context()); !errors.Is(err, store.ErrTwoPrimaries) {
				t.Errorf("two hosts take writes: %v", err)
			}
			execOn(t, from, "SET GLOBAL super_read_only = ON")
			dbtest.Eventually(t, "the store that was opened late finds the primary", func() bool { return late.Ping(t.Context()) == nil })
			if got := dbtest.ScoreOf(t, late, ref, "m"); got != acknowledged {
				t.Errorf("a store that was opened late shows %d, of %d", got, acknowledged)
			}
			if err := late.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
