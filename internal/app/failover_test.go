package app

import (
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/apptest"
	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
)

// standby is a database on a private MySQL.
func standby(t *testing.T) (dsn string) {
	t.Helper()
	return databaseOn(t, testenv.PrivateMySQL(t))
}

func databaseOn(t *testing.T, server *devserver.Server) (dsn string) {
	t.Helper()
	dsn, err := server.CreateDatabase(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}

func execute(t *testing.T, dsn, statement string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn) // store.Connect refuses a server that is read-only
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// topLacks returns the answer about the board when it lacks a text, "" when it has it.
func topLacks(a *testApp, want string) string {
	status, body := a.Get("/v1/boards/b/top")
	if text := string(body); status != http.StatusOK || !strings.Contains(text, want) {
		return fmt.Sprintf("%d %s", status, text)
	}
	return ""
}

// TestReadOnlyDatabase: when the database is read-only, answers are stale, writes are refused, and /readyz says why. When it
// takes writes again, all is as before.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	dsn := standby(t)
	a := startReady(t, dsn, "")
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	submit(a, "ada", 10)
	apptest.Eventually(t, func() string { return differs(a, "ada", 10, 1) })
	execute(t, dsn, "SET GLOBAL read_only = ON") // the app's account could write all the same
	time.Sleep(2 * maxAge)                       // an answer from before may be fresh for maxAge, a round takes a moment
	for range 20 {
		if wrong := topLacks(a, `"stale":true`); wrong != "" {
			t.Errorf("from a read-only server: %s", wrong)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if r := a.Ask(503, "POST", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":99}]}`); !strings.Contains(fmt.Sprint(r), "unavailable") {
		t.Errorf("a write is answered by %v", r)
	}
	a.awaitHealth(http.StatusOK, "degraded", "read-only")
	execute(t, dsn, "SET GLOBAL read_only = OFF")
	apptest.Eventually(t, func() string { return differs(a, "ada", 10, 1) })
	submit(a, "bob", 30)
	apptest.Eventually(t, func() string { return differs(a, "bob", 30, 1) })
	if log := a.log.String(); strings.Count(log, "is read-only and not used") != 1 || strings.Count(log, "takes writes again") != 1 {
		t.Error("the log does not say once each that the server was read-only and takes writes again")
	}
}

// address is a TCP address that leads to one server, and for new connections to others in turn after moveTo. The old ones
// stay where they are, as a load balancer or a name in DNS leaves them.
type address struct {
	mu       sync.Mutex
	upstream []string
	dialled  int
	conns    []net.Conn
}

func newAddress(t *testing.T, dsn string) (*address, string) {
	t.Helper()
	a := &address{}
	a.moveTo(t, dsn)
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { a.serve(client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		a.mu.Lock()
		for _, c := range a.conns {
			_ = c.Close()
		}
		a.mu.Unlock()
		serving.Wait()
	})
	cfg.Addr = listener.Addr().String()
	return a, cfg.FormatDSN()
}

func (a *address) moveTo(t *testing.T, dsns ...string) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.upstream = nil
	for _, dsn := range dsns {
		cfg, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		a.upstream = append(a.upstream, cfg.Addr)
	}
}

func (a *address) serve(client net.Conn) {
	a.mu.Lock()
	a.dialled++
	server, err := net.Dial("tcp", a.upstream[a.dialled%len(a.upstream)])
	if err != nil {
		a.mu.Unlock()
		_ = client.Close()
		return
	}
	a.conns = append(a.conns, client, server)
	a.mu.Unlock()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1])
			_, _ = way[0].Close(), way[1].Close()
		})
	}
	both.Wait()
}

// TestFailover: the address of the database moves to another server, and the old one, to which all connections lead, is read-only
// from then on. The app reaches the new server, shows the scores written there, and writes there.
func TestFailover(t *testing.T) {
	t.Parallel()
	first, second := standby(t), standby(t)
	at, dsn := newAddress(t, first)
	a := startReady(t, dsn, testenv.Redis(t))
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	submit(a, "ada", 10)
	apptest.Eventually(t, func() string { return differs(a, "ada", 10, 1) })
	if err := MigrateUntilDone(t.Context(), second, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	dump(t, first).restore(t, second)
	execute(t, first, "SET GLOBAL read_only = ON")
	began := time.Now()
	submit(startReady(t, second, ""), "bob", 50) // the new primary takes a write without this app
	at.moveTo(t, second)
	apptest.Eventually(t, func() string { return differs(a, "bob", 50, 1) })
	submit(a, "cyd", 70)
	apptest.Eventually(t, func() string { return differs(a, "cyd", 70, 1) })
	for range 20 { // nothing answers from the old one
		if wrong := differs(a, "cyd", 70, 1); wrong != "" {
			t.Fatal(wrong)
		}
	}
	a.Await("/readyz", http.StatusOK)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("writes came back %s after the failover, want 30s at most", took)
	}
}

// addressWriters is how many clients write at once, each to a separate board.
const addressWriters = 8

// acknowledged has the positions of the beginning and of the answer of a write, in the order of all beginnings and answers.
type acknowledged struct{ began, ended int64 }

// writeUntil submits one member after the other until done, and returns the acknowledged members.
func writeUntil(t *testing.T, a *testApp, done func() bool) map[string]acknowledged {
	t.Helper()
	var (
		clock   atomic.Int64
		mu      sync.Mutex
		acked   = map[string]acknowledged{}
		writers sync.WaitGroup
	)
	stop := make(chan struct{})
	for board := range addressWriters {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond): // a rejection comes at once
				}
				member, began := fmt.Sprintf("m%d-%d", board, i), clock.Add(1)
				if a.post(fmt.Sprintf("/v1/boards/b%d/scores", board), fmt.Sprintf(`{"entries":[{"member":%q,"score":1}]}`, member)) == http.StatusOK {
					mu.Lock()
					acked[member] = acknowledged{began, clock.Add(1)}
					mu.Unlock()
				}
			}
		})
	}
	apptest.Eventually(t, func() string {
		if done() {
			return ""
		}
		return "writes go on elsewhere"
	})
	close(stop)
	writers.Wait()
	return acked
}

// post sends a body with the key of an admin and returns the status, 0 without an answer.
func (a *testApp) post(path, body string) int {
	req, err := http.NewRequest(http.MethodPost, a.URL+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Authorization", "Bearer "+apptest.AdminKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

func membersOn(t *testing.T, dsn string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	withDatabase(t, dsn, func(db *sql.DB) {
		rows, err := db.QueryContext(t.Context(), "SELECT member FROM entries")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var member string
			if err := rows.Scan(&member); err != nil {
				t.Fatal(err)
			}
			found[member] = true
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	})
	return found
}

// checkMove checks that each acknowledged write is on one server, and that no write that began after the second server's first
// acknowledgement went to the first server.
func checkMove(t *testing.T, acked map[string]acknowledged, first, second map[string]bool) {
	t.Helper()
	moved := int64(math.MaxInt64)
	for member, at := range acked {
		if first[member] == second[member] {
			t.Errorf("%s was acknowledged: on the first server %t, on the second %t", member, first[member], second[member])
		}
		if second[member] {
			moved = min(moved, at.ended)
		}
	}
	late := 0
	for member, at := range acked {
		if first[member] && at.began > moved {
			late++
		}
	}
	if late > 0 {
		t.Errorf("%d of %d writes went to the first server after the second had acknowledged one", late, len(acked))
	}
}

// TestAddressMoves: the address of the database moves to another server without a connection being cut, and both servers take
// writes. Each acknowledged write is on one of them, and from some write on they all are on the new one. While the address
// leads to both, nothing is written, and /readyz says why.
func TestAddressMoves(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func(t *testing.T) *devserver.Server{
		"mysql":   func(t *testing.T) *devserver.Server { t.Helper(); return testenv.PrivateMySQL(t) },
		"mariadb": func(t *testing.T) *devserver.Server { t.Helper(); return testenv.PrivateMariaDB(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := databaseOn(t, server(t)), databaseOn(t, server(t))
			at, dsn := newAddress(t, first)
			a := startReady(t, dsn, "")
			for i := range addressWriters {
				a.Ask(201, "PUT", fmt.Sprintf("/v1/boards/b%d", i), `{}`)
			}
			if err := MigrateUntilDone(t.Context(), second, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			dump(t, first).restore(t, second)
			a.Ask(200, "POST", "/v1/boards/b0/scores", `{"entries":[{"member":"before","score":1}]}`) // over a connection that stays
			at.moveTo(t, second)
			acked := writeUntil(t, a, func() bool { return len(membersOn(t, second)) >= 40 })
			checkMove(t, acked, membersOn(t, first), membersOn(t, second))

			at.moveTo(t, first, second)
			a.awaitHealth(http.StatusServiceUnavailable, "more than one server") // it has no answers to show, either
			for range 20 {
				if r := a.Ask(503, "POST", "/v1/boards/b0/scores", `{"entries":[{"member":"lost","score":1}]}`); !strings.Contains(fmt.Sprint(r), "unavailable") {
					t.Errorf("a write is answered by %v", r)
				}
			}
			at.moveTo(t, second)
			a.awaitHealth(http.StatusOK, `"ok"`)
			a.Ask(200, "POST", "/v1/boards/b0/scores", `{"entries":[{"member":"found","score":1}]}`)
			if on := membersOn(t, second); !on["found"] || on["lost"] {
				t.Errorf("the new server has %v, want found and not lost", on)
			}
		})
	}
}
