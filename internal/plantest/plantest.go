// Package plantest holds statements against the plans that MySQL and MariaDB make for them.
package plantest

import (
	"database/sql"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/mysql"
	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

// Planned is a statement, and per table or alias the index that it must be read by.
type Planned struct {
	Query string
	Keys  map[string]string
}

// Run fails the test for each statement that does not read through the index meant for it, or sorts, on a database of
// each dialect with a period large enough that a plan matters.
func Run(t *testing.T, statements map[string]Planned) {
	t.Helper()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := mysql.Connect(mysql.Config{DSN: dsn(t), MaxConns: 2, LockWait: 5 * time.Second, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			if _, err := migrations.Up(t.Context(), server); err != nil {
				t.Fatal(err)
			}
			fill(t, server)
			for what, c := range statements {
				for _, p := range explain(t, server, c.Query) {
					key, ok := c.Keys[p.table]
					if !ok {
						continue // a derived table
					}
					if p.key != key || p.kind == "ALL" || p.kind == "index" || strings.Contains(p.extra, "filesort") || strings.Contains(p.extra, "temporary") {
						t.Errorf("%s: table %s by %s %q, %s; want key %s\n%s", what, p.table, p.kind, p.key, p.extra, key, c.Query)
					}
				}
			}
		})
	}
}

// Literal puts arguments into a statement.
func Literal(query string, args ...any) string {
	for _, a := range args {
		if b, ok := a.([]byte); ok {
			a = "'" + string(b) + "'"
		}
		query = strings.Replace(query, "?", fmt.Sprint(a), 1)
	}
	return query
}

// plan is the line of EXPLAIN about one table.
type plan struct{ table, kind, key, extra string }

// explain returns the plan of a statement, one line per table that is read.
func explain(t *testing.T, server *sql.DB, query string) []plan {
	t.Helper()
	rows, err := server.QueryContext(t.Context(), "EXPLAIN "+query)
	if err != nil {
		t.Fatalf("%v: %s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var plans []plan
	for rows.Next() {
		values := make([]sql.NullString, len(columns))
		dest, named := make([]any, len(columns)), map[string]string{}
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		for i, c := range columns {
			named[strings.ToLower(c)] = values[i].String
		}
		plans = append(plans, plan{named["table"], named["type"], named["key"], named["extra"]})
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plans
}

// fill makes a period large enough that a plan matters, among others.
func fill(t *testing.T, server *sql.DB) {
	t.Helper()
	const digit = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
	const numbers = "(SELECT a.d*1000 + b.d*100 + c.d*10 + d.d n FROM " + digit + " a," + digit + " b," + digit + " c," + digit + " d) numbers"
	for _, q := range []string{
		"INSERT INTO boards (name, rules, created_at, updated_at) SELECT CONCAT('b', n), '{}', NOW(6), NOW(6) FROM " + numbers + " WHERE n < 500",
		"INSERT INTO periods (incarnation, board_id, window_name, starts_at, last_created_time, committed_at) SELECT id, id, 'all_time', '1970-01-01', NOW(6), NOW(6) FROM boards",
		"INSERT INTO entries (period_id, member, score, tiebreak, created_time) SELECT 1 + n MOD 2, CONCAT('m', n), n DIV 4, n MOD 3, NOW(6) FROM " + numbers,
		"INSERT INTO changes (period_id, last_seq, first_seq, prev_committed_at, committed_at, entry_count, payload) SELECT 1, n + 1, n + 1, NOW(6), NOW(6), 1, '' FROM " + numbers,
		"INSERT INTO board_labels (label, value, name, board_id) SELECT 'type', CONCAT('v', id MOD 3), name, id FROM boards",
		"INSERT INTO board_labels (label, value, name, board_id) SELECT 'aspect', CONCAT('v', id MOD 5), name, id FROM boards",
		"INSERT INTO hidden_members (board_id, member, state, reason, hidden_at) SELECT 7 * (n MOD 3), CONCAT('m', n), 'hidden', 'r', NOW(6) FROM " + numbers,
		"INSERT INTO audit (logged_at, actor, action, board, member, request_id) SELECT NOW(6) - INTERVAL n MINUTE, CONCAT('k', n MOD 10)," +
			" ELT(1 + n MOD 3, 'member.hide', 'member.restore', 'board.update'), CONCAT('b', n MOD 50), CONCAT('m', n MOD 100), '' FROM " + numbers,
		"INSERT INTO profiles (member, display_name, avatar_url, attributes, updated_at) SELECT CONCAT('m', n), '', '', '{}', NOW(6) FROM " + numbers,
		"INSERT INTO friends (member, friend) SELECT CONCAT('m', n MOD 100), CONCAT('m', n) FROM " + numbers,
		"INSERT INTO friend_lists (member, updated_at) SELECT CONCAT('m', n), NOW(6) FROM " + numbers,
		"INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt)" +
			" SELECT 1, CONCAT('k', n), '', NOW(6) - INTERVAL n MINUTE, '' FROM " + numbers,
		"INSERT INTO runs (board_id, period_id, kind, reason, state, started_at, alive_at)" +
			" SELECT 1, 1, 'full', 'schedule', IF(n MOD 1000 = 0, 'running', 'done'), NOW(6), NOW(6) FROM " + numbers,
		"INSERT INTO entry_metadata (period_id, member, score, tiebreak, created_time, body_id, emptied_at) SELECT 1 + n MOD 2, CONCAT('m', n), 1, 1, NOW(6), IF(n MOD 10 = 0, 0, n + 1), IF(n MOD 10 = 0, NOW(6), NULL) FROM " + numbers,
		"INSERT INTO metadata_bodies (member, id, refs, body) SELECT CONCAT('m', n), n + 1, 1, '{}' FROM " + numbers,
		"ANALYZE TABLE entry_metadata, metadata_bodies, runs, idempotency_keys, audit, hidden_members, boards, board_labels, periods, entries, changes, profiles, friends, friend_lists",
	} {
		if _, err := server.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}
