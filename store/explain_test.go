package store

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"leaderboard"
	"leaderboard/internal/testenv"
	"leaderboard/migrations"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
)

// plan is the line of EXPLAIN about one table.
type plan struct{ table, kind, key, extra string }

// explain returns the plan of a statement, one line per table that is read.
func explain(t *testing.T, db *sql.DB, query string) []plan {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "EXPLAIN "+query)
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

// TestPlans: every statement that is sent often reads through the index meant for it and sorts nothing.
func TestPlans(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, err := Connect(dsn(t))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := migrations.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			fillForPlans(t, db)
			for what, c := range plannedStatements(t) {
				for _, p := range explain(t, db, c.query) {
					key, ok := c.keys[p.table]
					if !ok {
						continue // a derived table
					}
					if p.key != key || p.kind == "ALL" || p.kind == "index" || strings.Contains(p.extra, "filesort") || strings.Contains(p.extra, "temporary") {
						t.Errorf("%s: table %s by %s %q, %s; want key %s\n%s", what, p.table, p.kind, p.key, p.extra, key, c.query)
					}
				}
			}
		})
	}
}

// fillForPlans makes a period large enough that a plan matters, beside others.
func fillForPlans(t *testing.T, db *sql.DB) {
	t.Helper()
	const digit = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
	const numbers = "(SELECT a.d*1000 + b.d*100 + c.d*10 + d.d n FROM " + digit + " a," + digit + " b," + digit + " c," + digit + " d) numbers"
	for _, q := range []string{
		"INSERT INTO boards (name, rules, created_at, updated_at) SELECT CONCAT('b', n), '{}', NOW(6), NOW(6) FROM " + numbers + " WHERE n < 500",
		"INSERT INTO periods (board_id, window_name, starts_at, last_created_at, committed_at) SELECT id, 'all_time', '1970-01-01', NOW(6), NOW(6) FROM boards",
		"INSERT INTO entries (period_id, member, score, tiebreak, created_at) SELECT 1 + n MOD 2, CONCAT('m', n), n DIV 4, n MOD 3, NOW(6) FROM " + numbers,
		"INSERT INTO changes (period_id, last_seq, first_seq, prev_committed_at, committed_at, entry_count, payload) SELECT 1, n + 1, n + 1, NOW(6), NOW(6), 1, '' FROM " + numbers,
		"INSERT INTO board_labels (label, value, name, board_id) SELECT 'type', CONCAT('v', id MOD 3), name, id FROM boards",
		"INSERT INTO board_labels (label, value, name, board_id) SELECT 'aspect', CONCAT('v', id MOD 5), name, id FROM boards",
		"INSERT INTO hidden_members (board_id, member, state, reason, hidden_at) SELECT 7 * (n MOD 3), CONCAT('m', n), 'hidden', 'r', NOW(6) FROM " + numbers,
		"INSERT INTO hidden_log (board_id, member, action, logged_at) SELECT 0, CONCAT('m', n), 'hide', NOW(6) FROM " + numbers,
		"INSERT INTO profiles (member, display_name, avatar_url, attributes, updated_at) SELECT CONCAT('m', n), '', '', '{}', NOW(6) FROM " + numbers,
		"INSERT INTO friends (member, friend) SELECT CONCAT('m', n MOD 100), CONCAT('m', n) FROM " + numbers,
		"INSERT INTO friend_lists (member, updated_at) SELECT CONCAT('m', n), NOW(6) FROM " + numbers,
		"ANALYZE TABLE hidden_members, hidden_log, boards, board_labels, periods, entries, changes, profiles, friends, friend_lists",
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

type planned struct {
	query string
	keys  map[string]string // per table or alias the index that it must be read by
}

// plannedStatements are the statements of reads and of the writer.
func plannedStatements(t *testing.T) map[string]planned {
	t.Helper()
	key := rank.Codec{}.Key(leaderboard.Entry{Member: "m4000", Score: 1000, Tiebreak: 1, CreatedTime: 1_750_000_000_000_000})
	here, err := keyCut(key, false)
	if err != nil {
		t.Fatal(err)
	}
	behind, group := here, groupCut(here.score, here.tiebreak, false)
	behind.behind = true
	later := here
	later.score, later.member = 900, "m3600"
	ordered := map[string]string{"entries": "entries_order", "p": "PRIMARY"}
	out := map[string]planned{}
	for name, sc := range map[string]scan{
		"top": {iv: everything(), limit: 10}, "offset": {iv: everything(), offset: 3000, limit: 10},
		"behind a key": {iv: interval{behind, end()}, limit: 10}, "last": {iv: everything(), limit: 10, last: true},
		"bucket": {iv: interval{here, later}, limit: 10},
	} {
		qu := question{scans: []scan{sc}}
		out["scan "+name] = planned{qu.text(1), ordered}
		if !sc.last {
			out["run "+name] = planned{qu.run(1), ordered}
		}
	}
	for name, iv := range map[string]interval{
		"ahead of a key": {beginning(), here}, "ahead of a group": {beginning(), group}, "in a group": {group, here},
		"in a bucket": {here, later},
	} {
		qu := question{counts: []tally{{iv: iv}, {iv: iv, wide: true}}}
		out["count "+name] = planned{qu.text(1), ordered}
	}
	members := question{members: []string{"m1", "m2", "m77"}}
	plannedSteps(out)
	out["members"] = planned{members.text(1), map[string]string{"e": "PRIMARY", "p": "PRIMARY"}}
	several := &merged{views: []*view{{ref: leaderboard.PeriodRef{ID: 1}}, {ref: leaderboard.PeriodRef{ID: 2}}}}
	part := scan{iv: interval{here, later}, limit: 10}
	out["parts of several"] = planned{several.rowsText([]scan{part, part}), map[string]string{"entries": "entries_order"}}
	out["member of several"] = planned{several.entriesText("m2"), map[string]string{"entries": "PRIMARY"}}
	out["states of several"] = planned{several.lookText(), map[string]string{"p": "PRIMARY"}}
	labelled := map[string]string{"l0": "PRIMARY", "l1": "PRIMARY", "b": "PRIMARY"}
	out["labels"] = planned{labelledQuery(leaderboard.Labels{"type": "v1"}, "b2", 10), labelled}
	out["two labels"] = planned{labelledQuery(leaderboard.Labels{"type": "v1", "aspect": "v2"}, "b2", 10), labelled}
	out["boards"] = planned{labelledQuery(nil, "b2", 10), map[string]string{"b": "boards_name"}}
	peoplePlans(out)
	writerPlans(out)
	planHidden(out)
	return out
}

// planHidden adds the statements about hidden members.
func planHidden(out map[string]planned) {
	reads := &db.Text{}
	(&reading{boardID: 7, periods: []int64{1, 2}, members: []string{"m2", "m4"}, withHidden: []int64{7}}).appendHidden(reads)
	out["read of hidden members"] = planned{strings.TrimSuffix(reads.String(), ";"), map[string]string{"h": "PRIMARY", "e": "PRIMARY"}}
	past := &db.Text{}
	appendLockPast(past, 7, []int64{3, 5, 900})
	out["lock of past periods"] = planned{past.String(), map[string]string{"p": "PRIMARY"}}
	for name, row := range map[string]hiddenRow{
		"hiding": {State: stateHiding}, "restoring": {State: stateRestoring}, "reopen": {State: stateHiding, Reopen: true},
	} {
		keys := map[string]string{"periods": "periods_open", "e": "PRIMARY"}
		if row.Reopen {
			keys["periods"] = "periods_board"
		}
		out["misplaced, "+name] = planned{literal(misplacedQuery(&row), 7, 3, 500, "'m7'"), keys}
	}
	for name, q := range map[string]leaderboard.HidingsQuery{
		"all": {}, "behind": {AfterBoard: 7, AfterMember: "m4"}, "of a board": {Board: "b7"}, "of a member": {Member: "m7"},
	} {
		key := "PRIMARY"
		if q.Member != "" {
			key = "hidden_members_member"
		}
		q.Limit = 10
		query, args := hiddenQuery(q, 7)
		out["hidden, "+name] = planned{literal(query, args...), map[string]string{"h": key, "b": "PRIMARY"}}
	}
}

// literal puts arguments into a statement.
func literal(query string, args ...any) string {
	for _, a := range args {
		if b, ok := a.([]byte); ok {
			a = "'" + string(b) + "'"
		}
		query = strings.Replace(query, "?", fmt.Sprint(a), 1)
	}
	return query
}

// plannedSteps adds the statements of a step behind the sources of a derived board.
func plannedSteps(out map[string]planned) {
	var many []string
	for i := range lookUps / 8 {
		many = append(many, fmt.Sprint("m", i))
	}
	entries := map[string]string{"entries": "PRIMARY"}
	out["look-up of a step"] = planned{lookUpQuery([]int64{1, -1, 2, 3, 4, 5, 6, 7}, many), entries}
	out["stream of a step"] = planned{streamQuery("member, score, tiebreak, created_at", 1, "m1", listedMembers), entries}
	places := []place{{1, leaderboard.WindowAllTime, 0}, {2, leaderboard.WindowDay, 1_750_000_000_000_000}, {2, leaderboard.WindowDay, 1_750_086_400_000_000}}
	out["sources of a step"] = planned{placesQuery(places), map[string]string{"periods": "periods_start"}}
}
