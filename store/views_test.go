package store_test

import (
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestSQLDocument runs every query of docs/sql.md, on the boards that the document says it speaks of: a member was
// hidden on the first of two days and has submitted since.
func TestSQLDocument(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/sql.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(doc), "```")
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		race(t, dsn)
		db, ran := dbtest.Connect(t, dsn), 0
		for i := 1; i < len(blocks); i += 2 {
			query, ok := strings.CutPrefix(blocks[i], "sql\n")
			if !ok {
				continue
			}
			ran++
			want := strings.Split(strings.TrimSpace(blocks[i+2]), "\n")
			if got := table(t, db, query); !slices.EqualFunc(got, want, func(a, b string) bool { return a == strings.Join(strings.Fields(b), " ") }) {
				t.Errorf("%s\nsays\n%s\nand the document\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		if ran < 4 {
			t.Errorf("the document has %d queries with answers, want at least 4", ran)
		}
	})
}

// race makes the boards of docs/sql.md: on race fewer milliseconds are better, on points more is. The process that deleted the
// board removed was killed before its rows were gone. A sweep that deleted a period of race was killed too.
func race(t *testing.T, dsn string) {
	t.Helper()
	now := time.Date(2026, time.November, 19, 12, 0, 0, 0, time.UTC)
	s := open(t, dsn, func(c *store.Config) {
		c.Clock = dbtest.ClockAt(func() leaderboard.Micros { return leaderboard.MicrosOf(now) })
	})
	daily := []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}
	dbtest.MakeBoard(t, s, "race", leaderboard.Rules{Order: leaderboard.OrderAsc, Windows: daily})
	dbtest.MakeBoard(t, s, "points", leaderboard.Rules{})
	dbtest.MakeBoard(t, s, "removed", leaderboard.Rules{})
	submit := func(board, member string, score int64) {
		t.Helper()
		now = now.Add(time.Second)
		if _, err := s.Writer.Submit(t.Context(), dbtest.One(board, "", member, score)); err != nil {
			t.Fatal(err)
		}
	}
	for _, board := range []string{"race", "points", "removed"} {
		submit(board, "ann", 61200)
		submit(board, "Bob", 59800)
		submit(board, "speedy", 1000)
	}
	for _, board := range []string{"race", "removed"} {
		if _, err := s.Hidden.Hide(t.Context(), ban(board, "speedy")); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(24 * time.Hour)
	submit("race", "ann", 60100)
	submit("race", "speedy", 900)
	db := dbtest.Connect(t, dsn)
	dbtest.MustExec(t, db, "UPDATE boards SET state = 'deleting' WHERE name = 'removed'")
	dbtest.MustExec(t, db, "INSERT INTO periods (id, incarnation, board_id, window_name, name, starts_at, state, last_created_time, committed_at)"+
		" SELECT 99, 1, board_id, window_name, '2026-11-18', starts_at - INTERVAL 1 DAY, 'deleting', last_created_time, committed_at FROM periods WHERE name = '2026-11-19'")
	dbtest.MustExec(t, db, "INSERT INTO entries (period_id, member, score, created_time) VALUES (99, 'ann', -1, NOW(6)), (-99, 'speedy', -1, NOW(6))")
}

// table returns the answer to a query: a line with the names of the columns, then one per row, each with one space
// between.
func table(t *testing.T, db *sql.DB, query string) (lines []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	lines = append(lines, strings.Join(names, " "))
	for rows.Next() {
		values, dest := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		fields := make([]string, len(names))
		for i, v := range values {
			switch v := v.(type) {
			case time.Time:
				fields[i] = v.Format("2006-01-02 15:04:05.000000")
			case []byte:
				fields[i] = string(v)
			default:
				fields[i] = fmt.Sprint(v)
			}
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestViewsAgreeWithTheTables counts by hand what the views count.
func TestViewsAgreeWithTheTables(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		race(t, dsn)
		db := dbtest.Connect(t, dsn)
		const counts = "SELECT period_id, visible_count, hidden_count FROM period_counts ORDER BY period_id"
		const byHand = "SELECT p.id AS period_id, (SELECT COUNT(*) FROM entries e WHERE e.period_id = p.id) AS visible_count," +
			" (SELECT COUNT(*) FROM entries e WHERE e.period_id = -p.id) AS hidden_count" +
			" FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.state = 'open' AND p.id <> 99 ORDER BY p.id"
		got, want := table(t, db, counts), table(t, db, byHand)
		if !slices.Equal(got, want) || len(got) != 1+4 {
			t.Errorf("the view counts\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if n := dbtest.Count(t, db, "entries WHERE period_id < 0"); n != 5 {
			t.Errorf("%d hidden entries with those that are being deleted, want 5: the test has nothing to find", n)
		}
		for view, want := range map[string]string{
			"scores":        "race Bob 59800,race ann 60100,race Bob 59800,race ann 61200,race ann 60100,points Bob 59800,points ann 61200,points speedy 1000",
			"hidden_scores": "race speedy 900,race speedy 1000,race speedy 900",
		} {
			got, want := table(t, db, "SELECT board, member, score FROM "+view)[1:], strings.Split(want, ",")
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s has %q, want %q", view, got, want)
			}
		}
		for query, want := range map[string]int{
			"scores WHERE member = 'bob'": 0, // names are compared exactly
			"scores WHERE member = 'Bob' AND board = 'race' AND period = '2026-11-19'": 1,
			"period_counts WHERE board = 'removed'":                                    0,
			"hidden_scores WHERE board = 'removed'":                                    0,
		} {
			if got := dbtest.Count(t, db, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

// TestViewsCompareExactly: a space at the end of a name makes it another one, in each text column of each view.
func TestViewsCompareExactly(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		members := []string{"bob", "bob ", "bob  ", "Bob"}
		for _, view := range []string{"scores", "hidden_scores"} {
			for _, member := range members {
				if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", member, 5)); err != nil {
					t.Fatal(err)
				}
			}
			for _, member := range members {
				if got := dbtest.Count(t, db, view+" WHERE member = '"+member+"'"); got != 1 {
					t.Errorf("%s has %d rows of %q, want 1", view, got, member)
				}
			}
			if got := dbtest.Count(t, db, "(SELECT member FROM "+view+" GROUP BY member) m"); got != len(members) {
				t.Errorf("%s has %d members, want %d", view, got, len(members))
			}
			for _, member := range members {
				if _, err := s.Hidden.Hide(t.Context(), ban("b", member)); err != nil {
					t.Fatal(err)
				}
			}
		}
		for view, columns := range map[string][]string{
			"scores": {"board", "window_name", "period"}, "hidden_scores": {"board", "window_name", "period"},
			"period_counts": {"board", "window_name", "period", "state"},
		} {
			for _, column := range columns {
				if got := dbtest.Count(t, db, fmt.Sprintf("%s WHERE %s = CONCAT(%[2]s, ' ')", view, column)); got != 0 {
					t.Errorf("%s.%s takes a name and a space for the name", view, column)
				}
			}
		}
	})
}

// TestViewsAreCheap: a look at a large table reads only the rows that it shows, and the hidden entries are found without the
// others.
func TestViewsAreCheap(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		s, db := open(t, dsn, nil), dbtest.Connect(t, dsn)
		ref := dbtest.MakeBoard(t, s, "b", leaderboard.Rules{})
		if _, err := s.Writer.Submit(t.Context(), dbtest.One("b", "", "cheat", 5)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Hidden.Hide(t.Context(), ban("b", "cheat")); err != nil {
			t.Fatal(err)
		}
		const digit = "(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7)"
		const many = "INSERT INTO entries (period_id, member, score, created_time) SELECT ?, CONCAT(a.d, b.d, c.d, d.d), a.d, NOW(6)" +
			" FROM " + digit + " a, " + digit + " b, " + digit + " c, " + digit + " d"
		cheap := func(queries ...string) {
			t.Helper()
			dbtest.MustExec(t, db, "ANALYZE TABLE entries, periods, boards")
			for _, query := range queries {
				if read := rowsRead(t, db, query); read == 0 || read > 50 {
					t.Errorf("%s reads %d rows of %d", query, read, dbtest.Count(t, db, "entries"))
				}
			}
		}
		dbtest.MustExec(t, db, many, ref.ID)
		cheap(
			"SELECT * FROM scores LIMIT 3",
			"SELECT * FROM scores WHERE board = 'b' LIMIT 3",
			fmt.Sprintf("SELECT * FROM scores WHERE period_id = %d LIMIT 3", ref.ID),
			"SELECT * FROM hidden_scores",
			"SELECT * FROM hidden_scores WHERE board = 'b' AND period = 'all_time'",
			"SELECT * FROM period_counts",
			"SELECT * FROM period_counts WHERE board = 'b'",
		)
		dbtest.MustExec(t, db, many, -dbtest.MakeBoard(t, s, "cheats", leaderboard.Rules{}).ID)
		cheap(fmt.Sprintf("SELECT * FROM hidden_scores WHERE period_id = %d", ref.ID))
	})
}

// rowsRead returns how many rows the server reads for a query, in its temporary tables too.
func rowsRead(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range []string{"FLUSH STATUS", query, "SHOW SESSION STATUS LIKE 'Handler_read%'"} {
		rows, err := conn.QueryContext(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var name string
			var value int
			if strings.HasPrefix(q, "SHOW") {
				if err := rows.Scan(&name, &value); err != nil {
					t.Fatal(err)
				}
				n += value
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
	return n
}
