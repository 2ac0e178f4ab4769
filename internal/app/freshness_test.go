package app

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/feed"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// maxAge is how old an answer may be unless it is marked stale.
const maxAge = 200 * time.Millisecond

// pair is two servers on one database and one Redis, with a board that is in the caches of both.
func pair(t *testing.T, redisURL string) (dsn string, servers []*testApp) {
	t.Helper()
	dsn = testenv.MySQL(t)
	return dsn, pairOn(t, dsn, redisURL)
}

// pairOn is pair on a database that is there.
func pairOn(t *testing.T, dsn, redisURL string) (servers []*testApp) {
	t.Helper()
	for range 2 {
		servers = append(servers, startReady(t, dsn, redisURL))
	}
	servers[0].Ask(201, "PUT", "/v1/boards/b", `{}`)
	submit(servers[0], "ada", 10)
	submit(servers[0], "bob", 20)
	servers[0].Ask(200, "POST", "/v1/boards/b/rebuild?wait=30s", `{}`)
	for _, a := range servers {
		apptest.Eventually(t, func() string { return differs(a, "bob", 20, 1) })
	}
	return servers
}

func submit(a *testApp, member string, score int) {
	a.T.Helper()
	a.Ask(200, "POST", "/v1/boards/b/scores", fmt.Sprintf(`{"entries":[{"member":%q,"score":%d}]}`, member, score))
}

// differs returns how the standing of a member in fresh answers differs from a score and a rank, "" if it does not. The lack of a
// fresh answer counts as a difference.
func differs(a *testApp, member string, score, rank int) string {
	for _, path := range []string{"/v1/boards/b/top", "/v1/boards/b/members/" + member} {
		status, body := a.Fresh(path)
		text := string(body)
		if status != http.StatusOK || strings.Contains(text, `"stale":true`) {
			return fmt.Sprintf("%s gives %d %s", path, status, text)
		}
		if want := fmt.Sprintf(`"rank":%d,"member":%q,"score":%d,`, rank, member, score); !strings.Contains(text, want) {
			return fmt.Sprintf("%s gives %s, want %s", path, text, want)
		}
	}
	return ""
}

// TestRedisRefusesWrites: Redis refuses writes, for several reasons. An acknowledged score is in every answer to a question
// that comes more than maxAge later, on every server, and no answer stays stale. The log, /readyz and failed runs name the reason.
func TestRedisRefusesWrites(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]struct {
		begin, end []any
		text       string // in the log, once, and in /readyz
	}{
		"too few replicas": {[]any{"CONFIG", "SET", "min-replicas-to-write", "1"}, []any{"CONFIG", "SET", "min-replicas-to-write", "0"}, "too few replicas"},
		"full":             {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}, "its memory is full"},
		"a replica":        {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}, "Redis is a replica"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testenv.PrivateRedis(t)
			_, servers := pair(t, server.URL)
			client := redis.NewClient(redisOptions(t, server.URL))
			defer client.Close()
			if err := client.Do(t.Context(), fault.begin...).Err(); err != nil {
				t.Fatal(err)
			}
			if err := client.Set(t.Context(), "x", "y", 0).Err(); err == nil {
				t.Fatal("Redis takes writes")
			}
			for round := range 5 {
				member := fmt.Sprint("member-", round)
				submit(servers[round%2], member, 100+round)
				time.Sleep(maxAge)
				for i, a := range servers {
					if wrong := differs(a, member, 100+round, 1); wrong != "" {
						t.Errorf("server %d, round %d: %s", i, round, wrong)
					}
					if _, among := a.Fresh("/v1/boards/b/members/" + member + "/friends"); !strings.Contains(string(among), `"ranked":1,`) {
						t.Errorf("server %d, round %d: among its friends %s", i, round, among)
					}
				}
			}
			for i, a := range servers {
				a.MostlyFresh()
				apptest.Eventually(t, func() string {
					if _, body := a.Get("/metrics"); strings.Contains(string(body), "leaderboard_copy_apply_failures_total 0\n") {
						return fmt.Sprintf("server %d has counted no copy that could not be written to", i)
					}
					return ""
				})
			}
			servers[0].awaitHealth(http.StatusOK, "degraded", fault.text)
			if n := strings.Count(servers[0].log.String(), fault.text); n != 1 {
				t.Errorf("the log says %q %d times", fault.text, n)
			}
			if failed := servers[0].Ask(503, "POST", "/v1/boards/b/rebuild?wait=30s", `{}`); !strings.Contains(fmt.Sprint(failed), "Redis refuses: ") {
				t.Errorf("a rebuild: %v", failed)
			}
			if err := client.Do(t.Context(), fault.end...).Err(); err != nil {
				t.Fatal(err)
			}
			servers[0].awaitHealth(http.StatusOK, `"redis":"ok"`)
			p := period(t, servers[0], "b")
			apptest.Eventually(t, func() string {
				if info, err := servers[0].copies.Info(t.Context(), p); err != nil || info.Seq != 7 {
					return fmt.Sprintf("when Redis takes writes again the copy is at seq %d, not 7, %v", info.Seq, err)
				}
				return ""
			})
		})
	}
}

// TestNewBoardElsewhere: one server has just answered that a board does not exist, another creates it and takes a score. A read of the
// first with the seq of that score sees it.
func TestNewBoardElsewhere(t *testing.T) {
	t.Parallel()
	_, servers := pair(t, testenv.Redis(t))
	for i := range 5 {
		path := fmt.Sprint("/v1/boards/new-", i)
		servers[1].Ask(404, "GET", path+"/top", "")
		servers[0].Ask(201, "PUT", path, `{}`)
		servers[0].Ask(200, "POST", path+"/scores", `{"entries":[{"member":"ada","score":1}]}`)
		servers[1].Ask(200, "GET", path+"/members/ada?min_seq=1", "")
	}
}

// period returns the only period of a board.
func period(t *testing.T, a *testApp, board string) leaderboard.PeriodRef {
	t.Helper()
	l, err := a.store.Boards.Current(t.Context(), board)
	if err != nil {
		t.Fatal(err)
	}
	return l.Periods[0].Ref(&l.Board)
}

// TestCombinedAreFresh: rankings over several boards are as fresh as the ranking of one board, on both servers.
func TestCombinedAreFresh(t *testing.T) {
	t.Parallel()
	_, servers := pair(t, testenv.Redis(t))
	servers[0].Ask(201, "PUT", "/v1/boards/c", `{}`)
	for round := range 10 {
		member := fmt.Sprint("member-", round)
		submit(servers[round%2], member, 100+round)
		time.Sleep(maxAge)
		for i, a := range servers {
			for path, want := range map[string]string{
				"/v1/rankings/top?boards=b,c&limit=3": fmt.Sprintf(`"rank":1,"board":"b","member":%q`, member),
				"/v1/rankings/members/bob?boards=b,c": fmt.Sprintf(`"rank":%d,"board":"b","member":"bob"`, round+2),
			} {
				status, body := a.Fresh(path)
				if text := string(body); status != http.StatusOK || strings.Contains(text, `"stale":true`) || !strings.Contains(text, want) {
					t.Errorf("server %d, round %d: %s gives %d %s, want %s", i, round, path, status, text, want)
				}
			}
		}
	}
	for _, a := range servers {
		a.MostlyFresh()
	}
}

// TestRestoredUnderServers: the database is restored from a backup under running servers. Entries that are not in the backup
// leave the answers as soon as a server notices, and new writes show as before.
func TestRestoredUnderServers(t *testing.T) {
	t.Parallel()
	for _, incremental := range []string{"10s", "off"} {
		t.Run(incremental, func(t *testing.T) { t.Parallel(); restoredUnderServers(t, incremental) })
	}
}

func restoredUnderServers(t *testing.T, incremental string) {
	t.Helper()
	dsn, servers := pair(t, testenv.Redis(t))
	servers[0].Ask(200, "PUT", "/v1/boards/b", fmt.Sprintf(`{"refresh":{"incremental":%q}}`, incremental))
	backup := dump(t, dsn)
	submit(servers[0], "lost", 500)
	for _, a := range servers {
		apptest.Eventually(t, func() string { return differs(a, "lost", 500, 1) })
	}
	backup.restore(t, dsn)
	restored := time.Now()
	for _, a := range servers {
		apptest.Eventually(t, func() string { return differs(a, "bob", 20, 1) })
	}
	if took := time.Since(restored); took > 5*time.Second { // 1 s on a machine that has nothing else to do; the next refresh, after 10 s, would repair the copy too
		t.Errorf("the restore was noticed after %s", took)
	}
	time.Sleep(maxAge)
	for range 20 { // it does not come back
		for i, a := range servers {
			if wrong := differs(a, "bob", 20, 1); wrong != "" {
				t.Fatalf("server %d: %s", i, wrong)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	submit(servers[1], "new", 300)
	time.Sleep(maxAge)
	for i, a := range servers {
		if wrong := differs(a, "new", 300, 1); wrong != "" {
			t.Errorf("server %d: %s", i, wrong)
		}
	}
}

// TestLostBoard: a board that is made after a restore may have the id and the name of a board that was lost. It never shows
// entries of that board, on any server.
func TestLostBoard(t *testing.T) {
	t.Parallel()
	for _, incremental := range []string{"10s", "off"} {
		for _, name := range []string{"lost", "new"} {
			t.Run(incremental+" "+name, func(t *testing.T) { t.Parallel(); lostBoard(t, incremental, name) })
		}
	}
}

func lostBoard(t *testing.T, incremental, name string) {
	t.Helper()
	dsn, servers := pair(t, testenv.Redis(t))
	backup := dump(t, dsn)
	rules := fmt.Sprintf(`{"refresh":{"incremental":%q}}`, incremental)
	servers[0].Ask(201, "PUT", "/v1/boards/lost", rules)
	for i := range 5 { // more changes than the new one will have
		servers[0].Ask(200, "POST", "/v1/boards/lost/scores", fmt.Sprintf(`{"entries":[{"member":"ghost-%d","score":100}]}`, i))
	}
	servers[0].Ask(200, "POST", "/v1/boards/lost/rebuild?wait=30s", `{}`)
	for _, a := range servers {
		a.Ask(200, "GET", "/v1/boards/lost/top", "")
		a.Ask(200, "GET", "/v1/boards/lost/members/ghost-1", "")
	}
	lost := period(t, servers[0], "lost")
	backup.restore(t, dsn)
	withDatabase(t, dsn, func(db *sql.DB) { // as after the tables were made by a dump
		for _, table := range []string{"boards", "periods"} {
			if _, err := db.ExecContext(t.Context(), "ALTER TABLE "+table+" AUTO_INCREMENT = 1"); err != nil {
				t.Fatal(err)
			}
		}
	})
	path := "/v1/boards/" + name
	servers[0].Ask(201, "PUT", path, rules)
	made := time.Now()
	if p := period(t, servers[0], name); p.ID != lost.ID || p.Incarnation == lost.Incarnation {
		t.Fatalf("the new period is %+v, the lost one was %+v", p, lost)
	}
	for i := 0; i < 25 || time.Since(made) < 2*time.Second; i++ {
		if i == 20 {
			servers[1].Ask(200, "POST", path+"/scores", `{"entries":[{"member":"ada","score":1}]}`)
		}
		for n, a := range servers {
			for _, question := range []string{"/top", "/members/ghost-1", "/scores/1/rank", "/distribution"} {
				known := name == "new" || n == 0 || time.Since(made) > 1100*time.Millisecond // who knows names for a second
				_, body := a.Get(path + question)
				text := string(body)
				if known && (strings.Contains(text, `"ghost`) || strings.Contains(text, `"total":5`)) {
					t.Fatalf("server %d, %s after the board was made: %s gives %s", n, time.Since(made), question, text)
				}
			}
		}
	}
	for i, a := range servers { // ada's entry may be of the last moment, and an answer 200 ms older
		apptest.Eventually(t, func() string {
			if _, top := a.Fresh(path + "/top"); !strings.Contains(string(top), `"member":"ada"`) || strings.Contains(string(top), `"stale":true`) {
				return fmt.Sprintf("server %d: %s", i, top)
			}
			return ""
		})
	}
}

// tables is a backup of the tables that a write changes.
type tables map[string][][]any

func backupTables() []string { return []string{"boards", "entries", "changes", "periods"} }

func dump(t *testing.T, dsn string) tables {
	t.Helper()
	saved := tables{}
	withDatabase(t, dsn, func(db *sql.DB) {
		for _, table := range backupTables() {
			rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			columns, err := rows.Columns()
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
				row, dest := make([]any, len(columns)), make([]any, len(columns))
				for i := range row {
					dest[i] = &row[i]
				}
				if err := rows.Scan(dest...); err != nil {
					t.Fatal(err)
				}
				saved[table] = append(saved[table], row)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		}
	})
	return saved
}

func (b tables) restore(t *testing.T, dsn string) {
	t.Helper()
	withDatabase(t, dsn, func(db *sql.DB) {
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range backupTables() {
			if _, err := tx.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
				t.Fatal(err)
			}
			for _, row := range b[table] {
				if table == "boards" { // JSON is no binary string
					for i, v := range row {
						if text, ok := v.([]byte); ok {
							row[i] = string(text)
						}
					}
				}
				marks := strings.TrimSuffix(strings.Repeat("?,", len(row)), ",")
				if _, err := tx.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES ("+marks+")", row...); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
	})
}

func withDatabase(t *testing.T, dsn string, use func(*sql.DB)) {
	t.Helper()
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	use(db)
}

func redisOptions(t *testing.T, url string) *redis.Options {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return opts
}

// TestWatchOfTheStore: the store returns the revisions of periods and boards that exist, and of no others.
func TestWatchOfTheStore(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startReady(t, dsn(t), "")
			a.Ask(201, "PUT", "/v1/boards/b", `{}`)
			submit(a, "ada", 1)
			submit(a, "ada", 2)
			listing, err := a.store.Boards.Current(t.Context(), "b")
			if err != nil {
				t.Fatal(err)
			}
			p := listing.Periods[0]
			var source feed.Source = a.store.Entries
			got, err := source.Revisions(context.WithoutCancel(t.Context()), []int64{p.ID, p.ID + 1000})
			if err != nil || len(got) != 2 || got[leaderboard.ClockPeriod].AsOf < p.Committed || got[p.ID] != p.Revision() || got[p.ID].Seq != 2 {
				t.Errorf("revisions %v, %v; want that of %+v", got, err, p)
			}
			a.Ask(200, "PUT", "/v1/boards/b", `{"mode":"tied"}`)
			if listing, err = a.store.Boards.Current(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			board, none := leaderboard.BoardPeriod(listing.Board.ID), leaderboard.BoardPeriod(listing.Board.ID+1)
			got, err = source.Revisions(t.Context(), []int64{board, none})
			if want := listing.Board.Revision(); err != nil || len(got) != 2 || got[board] != want || want.Seq != 2 {
				t.Errorf("revisions %v, %v; want %v of the board", got, err, want)
			}
			a.Ask(204, "DELETE", "/v1/boards/b", "")
			if got, err := source.Revisions(t.Context(), []int64{board}); err != nil || len(got) != 1 {
				t.Errorf("of a board that was deleted: %v, %v", got, err)
			}
			if got, err := source.Revisions(t.Context(), nil); err != nil || len(got) != 0 {
				t.Errorf("of none: %v, %v", got, err)
			}
		})
	}
}
