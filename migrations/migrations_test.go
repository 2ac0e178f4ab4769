package migrations_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

func openDB(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	option := "?parseTime=true"
	if strings.Contains(dsn, "?") {
		option = "&parseTime=true"
	}
	db, err := sql.Open("mysql", dsn+option)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func dialects(t *testing.T, test func(t *testing.T, db *sql.DB)) {
	t.Run("mysql", func(t *testing.T) { t.Parallel(); test(t, openDB(t, testenv.MySQL(t))) })
	t.Run("mariadb", func(t *testing.T) { t.Parallel(); test(t, openDB(t, testenv.MariaDB(t))) })
}

// schema returns the output of SHOW CREATE for every table and view, in order of name.
func schema(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT table_name, table_type FROM information_schema.tables"+
		" WHERE table_schema = DATABASE() AND table_name <> 'goose_db_version' ORDER BY table_name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var database string
	if err := db.QueryRowContext(t.Context(), "SELECT DATABASE()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	var names, kinds []string
	for rows.Next() {
		var name, kind string
		if err := rows.Scan(&name, &kind); err != nil {
			t.Fatal(err)
		}
		names, kinds = append(names, name), append(kinds, kind)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, name := range names {
		var ignored, create string
		dest, what := []any{&ignored, &create}, "TABLE"
		if kinds[i] == "VIEW" {
			dest, what = append(dest, new(string), new(string)), "VIEW"
		}
		if err := db.QueryRowContext(t.Context(), "SHOW CREATE "+what+" "+name).Scan(dest...); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s;\n\n", strings.ReplaceAll(tidy(create), "`"+database+"`.", ""))
	}
	return out.String()
}

// tidy takes out what depends on the server and not on the migrations: the account that ran them, counters, the names
// of default collations, the hexadecimal digits in which MariaDB 11 shows some defaults.
func tidy(create string) string {
	for pattern, with := range map[string]string{
		" ALGORITHM=\\w+ DEFINER=\\S+ SQL SECURITY DEFINER": "", " AUTO_INCREMENT=\\d+": "", " COLLATE[= ]\\w+": "",
	} {
		create = regexp.MustCompile(pattern).ReplaceAllString(create, with)
	}
	return regexp.MustCompile("DEFAULT x'([0-9a-f]+)'").ReplaceAllStringFunc(create, func(found string) string {
		text, err := hex.DecodeString(found[len("DEFAULT x'") : len(found)-1])
		if err != nil {
			return found
		}
		return "DEFAULT '" + string(text) + "'"
	})
}

// TestSchema holds the schema that the migrations lead to against schema.sql, which is there to be read, and
// schema-mariadb.sql, which has MariaDB's words for it. After a new migration: UPDATE_SCHEMA=1 go test ./migrations -run
// TestSchema
func TestSchema(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, db *sql.DB) {
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		// A MariaDB may stand in for MySQL: the server says which of them it is.
		var version string
		if err := db.QueryRowContext(t.Context(), "SELECT VERSION()").Scan(&version); err != nil {
			t.Fatal(err)
		}
		file, server := "testdata/schema.sql", "MySQL"
		if strings.Contains(version, "MariaDB") {
			file, server = "testdata/schema-mariadb.sql", "MariaDB"
		}
		got := "-- The schema that the migrations lead to, as " + server + " tells it. Written by TestSchema.\n\n" + schema(t, db)
		if os.Getenv("UPDATE_SCHEMA") != "" {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("the schema is not that of %s:\n%s", file, got)
		}
	})
}

// TestUpDownUp takes every migration back and applies all again; each step down restores the schema before it.
func TestUpDownUp(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, db *sql.DB) {
		first, err := migrations.Up(t.Context(), db)
		if err != nil || int64(len(first)) != migrations.Latest() || first[0].Version != 1 || first[0].Name != "00001_baseline.sql" {
			t.Fatalf("up: %+v, %v", first, err)
		}
		full := schema(t, db)
		if again, err := migrations.Up(t.Context(), db); err != nil || len(again) != 0 {
			t.Errorf("up twice: %+v, %v", again, err)
		}
		for version := migrations.Latest(); version > 0; version-- {
			if got, err := migrations.Version(t.Context(), db); err != nil || got != version {
				t.Errorf("version is %d, %v; want %d", got, err, version)
			}
			down, err := migrations.Down(t.Context(), db)
			if err != nil || down == nil || down.Version != version {
				t.Fatalf("down from %d: %+v, %v", version, down, err)
			}
			if pending, err := migrations.Pending(t.Context(), db); err != nil || !pending {
				t.Errorf("nothing is pending after a step down: %v, %v", pending, err)
			}
		}
		if got := schema(t, db); got != "" {
			t.Errorf("after all steps down there is\n%s", got)
		}
		if down, err := migrations.Down(t.Context(), db); err != nil || down != nil {
			t.Errorf("down from nothing: %+v, %v", down, err)
		}
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got := schema(t, db); got != full {
			t.Errorf("up, down, up leads to\n%s\nand not to\n%s", got, full)
		}
	})
}

// downTo takes back all migrations after a version.
func downTo(ctx context.Context, db *sql.DB, version int64) error {
	for range migrations.Latest() - version {
		if _, err := migrations.Down(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

func TestStatus(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, db *sql.DB) {
		if version, err := migrations.Version(t.Context(), db); err != nil || version != 0 {
			t.Errorf("version of an empty database is %d, %v", version, err)
		}
		if pending, err := migrations.Pending(t.Context(), db); err != nil || !pending {
			t.Errorf("pending in an empty database: %v, %v", pending, err)
		}
		var tables int
		if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&tables); err != nil || tables != 0 {
			t.Errorf("asking for the version made %d tables, %v", tables, err)
		}
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if _, err := migrations.Down(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		states, err := migrations.Status(t.Context(), db)
		if err != nil || int64(len(states)) != migrations.Latest() {
			t.Fatalf("%+v, %v", states, err)
		}
		for i, s := range states {
			last := i == len(states)-1
			if s.Version != int64(i+1) || s.Applied == last || s.AppliedAt.IsZero() != last || !strings.HasPrefix(s.Name, fmt.Sprintf("%05d_", i+1)) {
				t.Errorf("state %d: %+v", i, s)
			}
		}
	})
}

// TestConcurrentUp: of several processes that start at once one migrates, the others wait and find nothing to do
// (promise F2).
func TestConcurrentUp(t *testing.T) {
	t.Parallel()
	for range testenv.Size(1, 50) {
		dialects(t, concurrentUp)
	}
}

func concurrentUp(t *testing.T, db *sql.DB) {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var done []int64
	for range testenv.Size(6, 10) {
		wg.Go(func() {
			applied, err := migrations.Up(t.Context(), db)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, a := range applied {
				done = append(done, a.Version)
			}
		})
	}
	wg.Wait()
	if int64(len(done)) != migrations.Latest() || !slices.IsSorted(done) {
		t.Errorf("applied %v, want each version once, in order", done)
	}
}

// TestLockIsWaitedFor: while another session holds the lock nothing happens, and the wait ends with the context.
func TestLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, db *sql.DB) {
		other, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		const lock = "SELECT GET_LOCK(CONCAT('leaderboard-', LEFT(SHA2(DATABASE(), 256), 40)), 0)"
		var got int
		if err := other.QueryRowContext(t.Context(), lock).Scan(&got); err != nil || got != 1 {
			t.Fatal(got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if applied, err := migrations.Up(ctx, db); err == nil || len(applied) != 0 {
			t.Errorf("up beside another: %+v, %v", applied, err)
		}
		if version, err := migrations.Version(t.Context(), db); err != nil || version != 0 {
			t.Errorf("version is %d, %v", version, err)
		}
	})
}

// ofGalera reports whether a server is a node of a Galera cluster.
func ofGalera(t *testing.T, db *sql.DB) bool {
	t.Helper()
	var name, value string
	err := db.QueryRowContext(t.Context(), "SHOW VARIABLES LIKE 'wsrep_on'").Scan(&name, &value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		t.Fatal(err)
	}
	return value == "ON"
}

// TestTableInUse: a migration of a table that a long transaction uses keeps no other session from the table for long: it gives
// up waiting for it, lets the others through and tries again until the transaction has ended. A node of Galera ends the transaction.
func TestTableInUse(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := openDB(t, dsn(t)+"?lock_wait_timeout=1")
			if _, err := migrations.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			export, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer export.Rollback()
			read := func(q interface {
				QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
			},
			) error {
				var n int
				return q.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM entries").Scan(&n)
			}
			if err := read(export); err != nil {
				t.Fatal(err)
			}
			migrated := make(chan error, 1)
			go func() {
				migrated <- downTo(t.Context(), db, 0)
			}()
			if ofGalera(t, db) {
				err := <-migrated
				var ended *mysql.MySQLError
				if said := read(export); err != nil || !errors.As(said, &ended) || ended.Number != 1213 {
					t.Errorf("the migration: %v; the transaction after it: %v", err, said)
				}
				return
			}
			for began := time.Now(); time.Since(began) < 5*time.Second; {
				start := time.Now()
				if err := read(db); err != nil && !strings.Contains(err.Error(), "1205") {
					t.Errorf("beside a migration: %v", err)
				}
				if took := time.Since(start); took > 3*time.Second {
					t.Errorf("a statement waited for a migration for %s", took)
				}
				select {
				case err := <-migrated:
					t.Fatalf("it has not waited for the table: %v", err)
				case <-time.After(50 * time.Millisecond):
				}
			}
			if err := export.Rollback(); err != nil {
				t.Fatal(err)
			}
			if err := <-migrated; err != nil {
				t.Errorf("once the table is free: %v", err)
			}
		})
	}
}

// TestView reads the view as people do: true scores, also of boards where lower is better.
func TestView(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, db *sql.DB) {
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{
			`INSERT INTO boards (id, name, rules, created_at, updated_at) VALUES
			 (1, 'up', '{"order":"desc","tiebreak":{"order":"asc"}}', NOW(6), NOW(6)), (2, 'down', '{"order":"asc","tiebreak":{"order":"desc"}}', NOW(6), NOW(6))`,
			`INSERT INTO periods (id, incarnation, board_id, window_name, starts_at, last_created_time, committed_at) VALUES
			 (10, 100, 1, 'all_time', '1970-01-01', NOW(6), NOW(6)), (20, 200, 2, 'all_time', '1970-01-01', NOW(6), NOW(6))`,
			`INSERT INTO entries (period_id, member, score, tiebreak, created_time) VALUES
			 (10, 'é', 9223372036854775807, ~5, NOW(6)), (20, 'b', -9223372036854775808, 5, NOW(6)), (20, 'c', -1 - 7, 0, NOW(6))`,
		} {
			if _, err := db.ExecContext(t.Context(), strings.ReplaceAll(q, "~5", "-6")); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := db.QueryContext(t.Context(), "SELECT board, member, score, tiebreak FROM scores ORDER BY member")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var got []string
		for rows.Next() {
			var board, member string
			var score, tiebreak int64
			if err := rows.Scan(&board, &member, &score, &tiebreak); err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(board, " ", member, " ", score, " ", tiebreak))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		want := []string{"down b 9223372036854775807 5", "down c 7 0", "up é 9223372036854775807 5"}
		if !slices.Equal(got, want) {
			t.Errorf("view says %q, want %q", got, want)
		}
	})
}
