package app

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"leaderboard/features/keys"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// with sends a request with a key and returns the status, 0 when there was no answer.
func (a *testApp) with(ctx context.Context, key, path string) int {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, nil)
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestRevokedUnderLoad: a key in use at three servers stops working at all of them within a second of the answer to its
// revocation, and another key continues to work. No part of a secret is written anywhere (promise G2).
func TestRevokedUnderLoad(t *testing.T) {
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	servers := []*testApp{startReady(t, dsn, redisURL), startReady(t, dsn, redisURL), startReady(t, dsn, redisURL)}
	first := servers[0]
	first.Ask(201, "PUT", "/v1/boards/b", `{"visibility":"private"}`)
	first.Ask(200, "POST", "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1}]}`)
	made := first.Ask(201, "POST", "/v1/keys", `{"name":"leaked","scope":"read"}`)
	leaked := made.Text("secret")
	kept := first.Ask(201, "POST", "/v1/keys", `{"name":"kept","scope":"read"}`).Text("secret")

	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	var mu sync.Mutex
	last, answers := map[string]time.Time{}, map[string]int{}
	for i, s := range servers {
		for name, key := range map[string]string{"leaked": leaked, "kept": kept} {
			load.Go(func() {
				for tick := time.NewTicker(5 * time.Millisecond); ctx.Err() == nil; {
					select {
					case <-ctx.Done():
						return
					case sent := <-tick.C:
						status := s.with(ctx, key, "/v1/boards/b/top")
						mu.Lock()
						answers[fmt.Sprint(name, " ", status)]++
						if status == 200 {
							last[fmt.Sprint(name, i)] = sent
						}
						mu.Unlock()
					}
				}
			})
		}
	}
	seen := func(what string) bool {
		mu.Lock()
		defer mu.Unlock()
		return answers[what] >= 60
	}
	apptest.Eventually(t, func() string {
		if !seen("leaked 200") || !seen("kept 200") {
			return "the load has not begun"
		}
		return ""
	})
	first.Ask(204, "DELETE", "/v1/keys/"+made.Text("id"), "")
	revoked := time.Now()
	apptest.Eventually(t, func() string {
		if !seen("leaked 401") {
			return "the key is not refused"
		}
		return ""
	})
	if left := time.Second - time.Since(revoked); left > 0 {
		select { // for a server that would let it in later
		case <-time.After(left):
		case <-ctx.Done():
		}
	}
	stop()
	load.Wait()
	for i := range servers {
		if late := last[fmt.Sprint("leaked", i)].Sub(revoked); late > time.Second {
			t.Errorf("server %d let the key in %s after it was revoked", i, late)
		} else {
			t.Logf("server %d: last let in %s after the answer", i, late)
		}
	}
	if answers["kept 401"] > 0 {
		t.Errorf("the other key was refused too: %v", answers)
	}
	_, metrics := first.Get("/metrics")
	for _, s := range servers {
		s.stop()
	}
	texts := map[string]string{"metrics": string(metrics), "database": dumpOf(t, dsn), "Redis": dumpOfRedis(t, redisURL)}
	for i, s := range servers {
		texts[fmt.Sprint("log ", i)] = s.log.String()
	}
	for _, text := range []string{leaked, kept, apptest.AdminKey} {
		secret := text[strings.LastIndex(text, "_")+1:]
		for what, in := range texts {
			if strings.Contains(in, secret) || len(secret) > 12 && strings.Contains(in, secret[:12]) {
				t.Errorf("a part of a secret is in the %s", what)
			}
		}
	}
}

// dumpOfRedis returns all keys and values.
func dumpOfRedis(t *testing.T, url string) string {
	t.Helper()
	opts, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	defer client.Close()
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, key := range keys {
		value, err := client.Dump(t.Context(), key).Result()
		if err != nil && !errors.Is(err, redis.Nil) { // it may have expired
			t.Fatal(err)
		}
		out.WriteString(key + "\n" + value + "\n")
	}
	return out.String()
}

// dumpOf returns all text in all columns of all tables.
func dumpOf(t *testing.T, dsn string) string {
	t.Helper()
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables, err := db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'")
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	var names []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	var out strings.Builder
	for _, name := range names {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM `"+name+"`")
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new([]byte)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				out.Write(*v.(*[]byte))
				out.WriteByte('\n')
			}
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(out.String(), "leaked") {
		t.Error("the dump lacks the name of a key")
	}
	return out.String()
}

// TestNobodyCanWrite: a server without a key that can write reports this in its log and in /readyz, which stays 200, until such a
// key exists.
func TestNobodyCanWrite(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	a := startReady(t, dsn, "", func(c *Config) { c.Keys = nil })
	a.awaitHealth(http.StatusOK, "degraded", "nobody can write", "LEADERBOARD_KEYS=admin:SECRET")
	made := keys.NewStore(a.store.Database())
	read := leaderboard.Key{ID: "kr", Name: "n", Scope: leaderboard.ScopeRead}
	ended := leaderboard.Key{ID: "ke", Name: "n", Scope: leaderboard.ScopeAdmin, ExpiresAt: leaderboard.MicrosOf(time.Now().Add(time.Hour))}
	revoked := leaderboard.Key{ID: "kv", Name: "n", Scope: leaderboard.ScopeWrite}
	for i, k := range []leaderboard.Key{read, ended, revoked} {
		if _, err := made.CreateKey(t.Context(), k, leaderboard.HashKey(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := made.RevokeKey(t.Context(), revoked.ID); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("mysql", dsn)
	if err == nil {
		_, err = db.ExecContext(t.Context(), "UPDATE api_keys SET expires_at = created_at WHERE id = ?", ended.ID) // which no change does
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if can, err := a.anyWriter(t.Context()); can || err != nil {
		t.Errorf("with keys that cannot write: %t, %v", can, err)
	}
	if _, err := made.CreateKey(t.Context(), leaderboard.Key{ID: "kw", Name: "n", Scope: leaderboard.ScopeWrite, Boards: []string{"b"}}, leaderboard.HashKey("writes")); err != nil {
		t.Fatal(err)
	}
	a.awaitHealth(http.StatusOK, `"status":"ok"`)
	if n := strings.Count(a.log.String(), "nobody can write"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
}

// accountWith returns a DSN of the database for a new account with a password.
func accountWith(t *testing.T, dsn, password string) string {
	t.Helper()
	account, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	account.User, account.Passwd = "keeper_"+account.DBName[len(account.DBName)-8:], password
	execute(t, dsn, "CREATE USER "+account.User+" IDENTIFIED BY '"+password+"'")
	t.Cleanup(func() {
		if db, err := sql.Open("mysql", dsn); err == nil {
			_, _ = db.Exec("DROP USER " + account.User)
			_ = db.Close()
		}
	})
	execute(t, dsn, "GRANT ALL ON "+account.DBName+".* TO "+account.User)
	return account.FormatDSN()
}

// TestNoSecretIsTold works with every secret that a server has, right and wrong keys, and failures down to a panic of a handler:
// no part of a secret is in the server's answers, metrics, traces, log, audit, MySQL or Redis (promise G2).
func TestNoSecretIsTold(t *testing.T) {
	const ofMySQL, ofRedis, ofCollector = "hunter2-of-mysql", "hunter2-of-redis", "hunter2-of-collector"
	plain, redisServer, to := testenv.MySQL(t), testenv.PrivateRedis(t), newSpans(t)
	configured(t, redisServer.Addr, "requirepass", ofRedis)
	redisURL := "redis://:" + ofRedis + "@" + redisServer.Addr + "/0"
	var broken atomic.Bool
	a := startReady(t, accountWith(t, plain, ofMySQL), redisURL, tracedTo(t, to.URL, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "api-key=" + ofCollector}), func(c *Config) {
		c.clock = func(database string) string {
			if broken.Load() && strings.Contains(string(debug.Stack()), "keys.(*handlers).create") {
				panic("the clock is broken")
			}
			return database
		}
	})
	a.Ask(201, "PUT", "/v1/boards/b", `{"visibility":"private"}`)
	made := a.Ask(201, "POST", "/v1/keys", `{"name":"leaked","scope":"write","boards":["b"]}`)
	first := made.Text("secret")
	second := a.Ask(200, "POST", "/v1/keys/"+made.Text("id")+"/rotate", `{"overlap":"1h"}`).Text("secret")
	secrets := []string{ofMySQL, ofRedis, ofCollector, apptest.AdminKey, apptest.WriteKey, first, second}

	var answers strings.Builder
	ask := func(status int, authorization, method, path, body string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, a.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", authorization)
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != status {
			t.Errorf("%s %s: %d %s, %v, want %d", method, path, resp.StatusCode, text, err, status)
		}
		_, _ = fmt.Fprintf(&answers, "%v\n%s\n", resp.Header, text)
	}
	const entries = `{"entries":[{"member":"m","score":1}]}`
	for _, key := range []string{first, second} {
		ask(200, "Bearer "+key, "POST", "/v1/boards/b/scores", entries)
		ask(200, "Bearer "+key, "GET", "/v1/boards/b/top", "")
		ask(200, "Bearer "+key, "GET", "/v1/key", "")
		ask(403, "Bearer "+key, "POST", "/v1/boards/other/scores", entries)
		ask(403, "Bearer "+key, "GET", "/v1/audit", "")
		ask(401, "Bearer "+key+"x", "GET", "/v1/key", "")
		mistyped := key[:len(key)-1] + "a"
		if mistyped == key {
			mistyped = key[:len(key)-1] + "b"
		}
		ask(401, "Bearer "+mistyped, "GET", "/v1/key", "")
		ask(401, "Bearer "+strings.ToUpper(key), "GET", "/v1/key", "")
		ask(401, "Basic "+key, "GET", "/v1/key", "")
		ask(401, key, "GET", "/v1/key", "")
		ask(400, "Bearer "+key, "POST", "/v1/boards/b/scores", `{"entries":"`)
		ask(404, "Bearer "+apptest.AdminKey, "GET", "/v1/keys/"+key, "")
		ask(404, "Bearer "+apptest.AdminKey, "DELETE", "/v1/keys/"+key, "")
	}
	for _, path := range []string{"/v1/keys", "/v1/keys/" + made.Text("id"), "/v1/audit", "/v1/status", "/v1/runs", "/readyz", "/metrics"} {
		ask(200, "Bearer "+apptest.AdminKey, "GET", path, "")
	}
	broken.Store(true)
	ask(500, "Bearer "+apptest.AdminKey, "POST", "/v1/keys", `{"name":"broken","scope":"read"}`)
	broken.Store(false)
	ask(204, "Bearer "+apptest.AdminKey, "DELETE", "/v1/keys/"+made.Text("id"), "")
	ask(401, "Bearer "+second, "GET", "/v1/boards/b/top", "")
	_, metrics := a.Get("/metrics")
	a.stop() // sends the last spans
	var spans strings.Builder
	to.mu.Lock()
	for _, span := range to.all {
		spans.WriteString(span.String() + "\n")
	}
	to.mu.Unlock()

	texts := map[string]string{
		"answers": answers.String(), "metrics": string(metrics), "spans": spans.String(), "log": a.log.String(),
		"database": dumpOf(t, plain), "Redis": dumpOfRedis(t, redisURL),
	}
	for what, want := range map[string]string{
		"answers": `"action":"key.rotate"`, "metrics": `status="500"`, "spans": `POST /v1/keys`, "log": "the clock is broken", "database": "leaked", "Redis": "lb:",
	} {
		if !strings.Contains(texts[what], want) {
			t.Errorf("the %s lack %s, so nothing is known of them", what, want)
		}
	}
	if log := texts["log"]; !strings.Contains(log, "request panicked") || !strings.Contains(log, "goroutine ") {
		t.Error("the log does not tell of the panic with its stack")
	}
	revealNothing(t, texts, secrets)
}

// revealNothing checks that no part of a secret is in the texts.
func revealNothing(t *testing.T, texts map[string]string, secrets []string) {
	t.Helper()
	for _, text := range secrets {
		secret := text[strings.LastIndex(text, "_")+1:] // of a key of the database, the part after its id
		for what, in := range texts {
			if part := secret[:min(len(secret), 12)]; strings.Contains(strings.ToLower(in), part) {
				t.Errorf("a part of a secret, %s, is in the %s", text, what)
			}
		}
	}
}
