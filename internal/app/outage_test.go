package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/store"
)

// onEngines runs a test with a private MySQL and with a private MariaDB.
func onEngines(t *testing.T, test func(t *testing.T, server *devserver.Server, dsn string)) {
	t.Helper()
	for name, private := range map[string]func(testing.TB) *devserver.Server{
		"mysql": testenv.PrivateMySQL, "mariadb": func(t testing.TB) *devserver.Server { return testenv.PrivateMariaDB(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := private(t)
			dsn, err := server.CreateDatabase(t.Context(), "lb")
			if err != nil {
				t.Fatal(err)
			}
			test(t, server, dsn)
		})
	}
}

const score = `{"entries":[{"member":"ada","score":1}]}`

// outcome is an answer, and how long it took.
type outcome struct {
	status int
	body   string
	took   time.Duration
}

func (a *testApp) answers(method, path, body string) outcome {
	req, err := http.NewRequest(method, a.URL+path, strings.NewReader(body))
	if err != nil {
		return outcome{body: err.Error()}
	}
	req.Header.Set("Authorization", "Bearer "+apptest.AdminKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	began := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return outcome{body: err.Error(), took: time.Since(began)}
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return outcome{body: err.Error(), took: time.Since(began)}
	}
	return outcome{resp.StatusCode, string(text), time.Since(began)}
}

// lines counts the lines of the log above debug that have a text.
func (a *testApp) lines(text string) (n int) {
	for line := range strings.Lines(a.log.String()) {
		if strings.Contains(line, text) && !strings.Contains(line, "level=DEBUG") {
			n++
		}
	}
	return n
}

// awaitLines waits until the log has the wanted number of lines with a text.
func (a *testApp) awaitLines(text string, want int) {
	a.T.Helper()
	apptest.Eventually(a.T, func() string {
		if n := a.lines(text); n != want {
			return fmt.Sprintf("%d lines %q, want %d", n, text, want)
		}
		return ""
	})
}

// TestFrozenMySQL: when MySQL is frozen, requests that were sent, that wait in queues and that come later fail with unavailable as
// soon as the outage is known, well before the limits on their waits. Copies and rules are still answered. When MySQL continues,
// everything works again. The log has one line for each change, and nothing else above debug.
func TestFrozenMySQL(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, server *devserver.Server, dsn string) {
		const limit = 50 * time.Second // any other bound is longer
		a := startReady(t, dsn, testenv.Redis(t), func(c *Config) { c.WriteWait, c.ReadWait = 2*limit, 2*limit })
		for _, b := range []string{"b", "cold", "c", "d", "e", "f"} {
			a.Ask(201, "PUT", "/v1/boards/"+b, `{"title":"The board"}`)
			a.Ask(200, "POST", "/v1/boards/"+b+"/scores", score)
		}
		a.Ask(201, "PUT", "/v1/boards/derived", `{"derive":{"from":[{"board":"b"}]}}`)
		apptest.Eventually(t, func() string { return topLacks(a, `"stale":false`) })
		a.Ask(200, "GET", "/v1/boards/b", "")
		a.awaitLines("a derived board has new sources", 1) // on a busy machine it was later than the outage
		calm := a.lines("level=")
		freeze(t, server, dsn)
		var waiting sync.WaitGroup
		ask := func(method, path, body string) {
			waiting.Go(func() {
				got := a.answers(method, path, body)
				if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "/problems/unavailable") || got.took > limit {
					t.Errorf("%s %s: after %s %d %s", method, path, got.took, got.status, got.body)
				}
			})
		}
		for i := range 20 {
			ask("POST", "/v1/boards/b/scores", score)
			ask("POST", "/v1/boards/c/scores", score)
			ask("GET", fmt.Sprintf("/v1/boards/cold/scores/%d/rank", i), "")
		}
		ask("PUT", "/v1/boards/new", `{}`)
		ask("PUT", "/v1/members/ada", `{"display_name":"Ada"}`)
		waiting.Wait()
		a.awaitLines("MySQL does not answer", 1)
		for range 3 {
			ask("POST", "/v1/boards/b/scores", score)
			ask("POST", "/v1/boards/never/scores", score)
			waiting.Wait()
		}
		apptest.Eventually(t, func() string { return topLacks(a, `"stale":true`) })
		for _, path := range []string{"/v1/boards/b", "/v1/boards"} {
			if got := a.answers("GET", path, ""); got.status != http.StatusOK || !strings.Contains(got.body, "The board") || !strings.Contains(got.body, `"stale":true`) {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
		a.awaitHealth(http.StatusOK, "degraded", `"mysql":"unreachable"`)
		if err := server.Resume(); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, func() string {
			if got := a.answers("POST", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":2}]}`); got.status != http.StatusOK {
				return got.body
			}
			return topLacks(a, `"stale":false`)
		})
		if got := a.answers("GET", "/v1/boards/b", ""); got.status != http.StatusOK || strings.Contains(got.body, `"stale"`) {
			t.Errorf("the rules, of a MySQL that answers: %+v", got)
		}
		a.awaitHealth(http.StatusOK, `"status":"ok"`)
		a.awaitLines("MySQL answers again", 1)
		if n := a.lines("level=") - calm; n != 2 {
			t.Errorf("%d lines of an outage, want 2", n)
		}
	})
}

// TestWaitsAreNoOutage: row locks, a change of a table and a flush, of three seconds each, cause no refusals. Writes wait for
// them and then commit.
func TestWaitsAreNoOutage(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, _ *devserver.Server, dsn string) {
		a := startReady(t, dsn, "", func(c *Config) { c.WriteWait = apptest.MaxWait })
		a.Ask(201, "PUT", "/v1/boards/b", `{}`)
		a.Ask(201, "PUT", "/v1/boards/other", `{}`)
		a.Ask(200, "POST", "/v1/boards/b/scores", score)
		for _, c := range []struct{ what, begin, end string }{
			{"row locks", "SELECT id FROM boards WHERE name = 'b' FOR UPDATE", "ROLLBACK"},
			{"a flush", "FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"},
			{"a change of a table, and what it waits for", "SELECT COUNT(*) FROM entries", "ROLLBACK"},
		} {
			for range 3 {
				if got := a.answers("POST", "/v1/boards/b/scores", score); got.status != 200 {
					t.Fatalf("before %s: %+v", c.what, got)
				}
			}
			conn := holding(t, dsn)
			must := func(statement string) {
				t.Helper()
				if _, err := conn.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			must("START TRANSACTION")
			must(c.begin)
			var all sync.WaitGroup
			if strings.HasPrefix(c.what, "a change") {
				all.Go(func() { execute(t, dsn, "ALTER TABLE entries COMMENT = 'changed'") })
			}
			for i := range 10 {
				board := []string{"b", "other"}[i%2]
				all.Go(func() {
					if got := a.answers("POST", "/v1/boards/"+board+"/scores", fmt.Sprintf(`{"entries":[{"member":"m%d","score":%d}]}`, i, i)); got.status != 200 {
						t.Errorf("during %s: %+v", c.what, got)
					}
				})
			}
			<-time.After(3 * time.Second) // for so long it is held
			must(c.end)
			all.Wait()
			_ = conn.Close()
		}
		if n := a.lines("MySQL does not answer") + a.lines("no write can be committed"); n != 0 {
			t.Errorf("%d outages:\n%s", n, a.log)
		}
	})
}

// TestNoWriteCanCommit: while another session keeps all tables locked, one write at a time tries and the others are refused.
// /readyz says since when no write could commit, and stays 200. When the locks are gone, writes work again.
func TestNoWriteCanCommit(t *testing.T) {
	t.Parallel()
	for name, lock := range map[string]string{"a lock on tables": "LOCK TABLES entries READ", "a flush": "FLUSH TABLES WITH READ LOCK"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onEngines(t, func(t *testing.T, _ *devserver.Server, dsn string) {
				a := startReady(t, dsn, "", func(c *Config) { c.WriteWait = apptest.MaxWait })
				a.Ask(201, "PUT", "/v1/boards/b", `{}`)
				a.Ask(200, "POST", "/v1/boards/b/scores", score)
				conn := holding(t, dsn)
				if _, err := conn.ExecContext(t.Context(), lock); err != nil {
					t.Fatal(err)
				}
				var all sync.WaitGroup
				for i := range 20 {
					all.Go(func() {
						got := a.answers("POST", "/v1/boards/b/scores", fmt.Sprintf(`{"entries":[{"member":"ada","score":%d}]}`, i+2))
						if got.status != 503 || !strings.Contains(got.body, "/problems/unavailable") || got.took > apptest.MaxWait {
							t.Errorf("what waited: %+v", got)
						}
					})
				}
				a.awaitLines("no write can be committed", 1)
				a.awaitHealth(200, `"degraded"`, "no write could commit since ")
				all.Wait()
				tries, over := context.WithCancel(t.Context())
				defer over()
				for range 2 {
					all.Go(func() {
						for n := 1000; tries.Err() == nil; n++ { // each has something to write: a write that changes nothing commits in spite of the locks
							a.answers("POST", "/v1/boards/b/scores", fmt.Sprintf(`{"entries":[{"member":"ada","score":%d}]}`, n))
						}
					})
				}
				apptest.Eventually(t, func() string { // while another write tries
					got := a.answers("POST", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":100}]}`)
					if got.status != 503 || !strings.Contains(got.body, "/problems/unavailable") {
						t.Errorf("a write: %+v", got)
					}
					if got.took > 500*time.Millisecond {
						return "it waits"
					}
					return ""
				})
				over()
				if _, err := conn.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
					t.Fatal(err)
				}
				apptest.Eventually(t, func() string {
					if got := a.answers("POST", "/v1/boards/b/scores", `{"entries":[{"member":"bob","score":7}]}`); got.status != 200 {
						return got.body
					}
					return ""
				})
				a.awaitHealth(200, `"status":"ok"`)
				a.awaitLines("are committed again", 1)
				all.Wait()
			})
		})
	}
}

// holding returns a connection on which a test holds locks.
func holding(t *testing.T, dsn string) *sql.Conn {
	t.Helper()
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = conn.ExecContext(context.WithoutCancel(t.Context()), "UNLOCK TABLES")
		_ = conn.Close()
		_ = db.Close()
	})
	return conn
}

// freeze stops a server, and returns when it no longer answers.
func freeze(t *testing.T, server *devserver.Server, dsn string) {
	t.Helper()
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := errors.Join(db.PingContext(t.Context()), server.Pause()); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if db.PingContext(ctx) == nil {
			return "it answers"
		}
		return ""
	})
}

// TestRedisIsBackWithoutReaders: readers have found out that Redis is away, and then nobody reads. The log still reports when it
// is back.
func TestRedisIsBackWithoutReaders(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	a := startReady(t, testenv.MySQL(t), server.URL, func(c *Config) { c.RedisURL = server.URL })
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	a.Ask(200, "POST", "/v1/boards/b/scores", score)
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	breaker := func() string {
		_, metrics := a.Get("/metrics")
		for line := range strings.Lines(string(metrics)) {
			if strings.HasPrefix(line, "leaderboard_redis_breaker_open ") {
				return strings.TrimSpace(line)
			}
		}
		return ""
	}
	const closed = "leaderboard_redis_breaker_open 0"
	offset := 0
	apptest.Eventually(t, func() string {
		offset++
		a.answers("GET", fmt.Sprintf("/v1/boards/b/top?limit=1&offset=%d", offset), "")
		if breaker() == closed {
			return "readers do not leave it alone"
		}
		return ""
	})
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		if got := breaker(); got != closed || a.lines(`"Redis answers again" after=`) == 0 {
			return "the log says nothing, " + got
		}
		return ""
	})
}

// TestRedisAwayIsToldOnce: six boards are written to, read and refreshed while Redis is gone, or hangs. The log has one line about
// that, and one when Redis is back.
func TestRedisAwayIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ away, back func(*devserver.Server) error }{
		"gone":  {(*devserver.Server).Kill, func(s *devserver.Server) error { return s.Restart(context.Background()) }},
		"hangs": {(*devserver.Server).Pause, (*devserver.Server).Resume},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := testenv.PrivateRedis(t)
			a := startReady(t, testenv.MySQL(t), server.URL, func(c *Config) { c.RedisURL = server.URL })
			boards := []string{"a", "b", "c", "d", "e", "f"}
			for _, b := range boards {
				a.Ask(201, "PUT", "/v1/boards/"+b, `{"refresh":{"incremental":"1s"}}`)
				a.Ask(200, "POST", "/v1/boards/"+b+"/scores", score)
				a.Ask(200, "POST", "/v1/boards/"+b+"/rebuild?wait=30s", `{}`)
			}
			warnings := func() int { return a.lines("level=WARN") + a.lines("level=ERROR") }
			before := warnings()
			if err := c.away(server); err != nil {
				t.Fatal(err)
			}
			play := func() {
				for _, b := range boards {
					a.Ask(200, "POST", "/v1/boards/"+b+"/scores", fmt.Sprintf(`{"entries":[{"member":"ada","score":%d}]}`, time.Now().UnixMicro()))
					if got := a.answers("GET", "/v1/boards/"+b+"/top", ""); got.status != http.StatusOK {
						t.Errorf("without Redis: %+v", got)
					}
				}
			}
			apptest.Eventually(t, func() string {
				if play(); a.lines("Redis does not answer") == 0 {
					return "the log says nothing"
				}
				return ""
			})
			for began := time.Now(); time.Since(began) < 5*time.Second; {
				play()
			}
			if away, back := a.lines("Redis does not answer"), a.lines("Redis answers again"); away != 1 || back != 0 {
				t.Errorf("%d lines that it is away, %d that it is back", away, back)
			}
			if n, mysql := warnings()-before, a.lines("MySQL does not answer"); n != 1+mysql {
				t.Errorf("%d warnings, %d of them about MySQL, want 1 besides", n, mysql)
			}
			if err := c.back(server); err != nil {
				t.Fatal(err)
			}
			apptest.Eventually(t, func() string {
				if play(); a.lines("Redis answers again") == 0 {
					return "the log says nothing"
				}
				return ""
			})
			// A busy machine may have it away again.
			if away, back := a.lines("Redis does not answer"), a.lines("Redis answers again"); away < back || away > back+1 {
				t.Errorf("%d lines that it is away, %d that it is back", away, back)
			}
		})
	}
}
