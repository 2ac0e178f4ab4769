package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"leaderboard"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/store"
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

// TestHosts: of several hosts the one that takes writes is used, also when that is killed or frozen and the other one promoted. When the
// old one is back and takes writes too, a store that has used the new one stays with it, and one that starts uses neither until one of them
// is read-only.
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
			ref := makeBoard(t, s, "b", leaderboard.Rules{Policy: leaderboard.PolicySum})
			var acknowledged int64
			submit := func() error {
				_, err := s.Submit(t.Context(), one("b", "", "m", 1))
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
			eventually(t, "the replica has all", func() bool {
				var score int64
				return to.QueryRowContext(t.Context(), "SELECT score FROM lb.entries WHERE period_id = ? AND member = 'm'", ref.ID).Scan(&score) == nil && score == acknowledged
			})
			if err := end.end(source); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Page(t.Context(), ref, leaderboard.PageQuery{Limit: 1}); !errors.Is(err, leaderboard.ErrUnavailable) {
				t.Errorf("without a primary: %v", err)
			}
			for _, q := range []string{"STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL read_only = OFF"} {
				execOn(t, to, q)
			}
			eventually(t, "the promoted host is used", func() bool { return submit() == nil })
			if got := scoreOf(t, s, ref, "m"); got != acknowledged {
				t.Errorf("the score is %d, of %d that were acknowledged", got, acknowledged)
			}
			if err := end.back(t, source); err != nil {
				t.Fatal(err)
			}
			from := root(t, source)
			eventually(t, "the old primary is back", func() bool { return from.PingContext(t.Context()) == nil })
			for range 100 {
				if err := submit(); err != nil {
					t.Fatal(err)
				}
			}
			if got := scoreOf(t, s, ref, "m"); got != acknowledged {
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
			eventually(t, "the store that was opened late finds the primary", func() bool { return late.Ping(t.Context()) == nil })
			if got := scoreOf(t, late, ref, "m"); got != acknowledged {
				t.Errorf("a store that was opened late shows %d, of %d", got, acknowledged)
			}
			if err := late.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
