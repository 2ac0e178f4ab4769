package app

import (
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// standby is a database on a server of its own.
func standby(t *testing.T) (dsn string) {
	t.Helper()
	dsn, err := testenv.PrivateMySQL(t).CreateDatabase(t.Context(), "lb")
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

// TestReadOnlyDatabase: a server that is read-only is no source: answers are stale, writes are refused, health says why.
// When it takes writes again, all is as before.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	dsn := standby(t)
	a := startReady(t, dsn, "")
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	submit(a, "ada", 10)
	apptest.Eventually(t, func() string { return differs(a, "ada", 10, 1) })
	execute(t, dsn, "SET GLOBAL read_only = ON") // the app's account could write all the same
	time.Sleep(2 * maxAge)                       // what was sent until then may be fresh for maxAge, a round takes a moment
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

// address is a TCP address that leads to one server, and for new connections to another one after moveTo. The old ones
// stay where they are, as a load balancer or a name in DNS leaves them.
type address struct {
	mu       sync.Mutex
	upstream string
	conns    []net.Conn
}

func newAddress(t *testing.T, dsn string) (*address, string) {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	a := &address{upstream: cfg.Addr}
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

func (a *address) moveTo(t *testing.T, dsn string) {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.upstream = cfg.Addr
}

func (a *address) serve(client net.Conn) {
	a.mu.Lock()
	server, err := net.Dial("tcp", a.upstream)
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

// TestFailover: the address of the database moves to another server, and the old one, to which all connections lead, is
// read-only from then on. The app reaches the new one, shows what is written there and writes there.
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
	submit(startReady(t, second, ""), "bob", 50) // the new primary goes on without this app
	at.moveTo(t, second)
	apptest.Eventually(t, func() string { return differs(a, "bob", 50, 1) })
	submit(a, "cyd", 70)
	apptest.Eventually(t, func() string { return differs(a, "cyd", 70, 1) })
	for range 20 { // nothing answers from the old one any more
		if wrong := differs(a, "cyd", 70, 1); wrong != "" {
			t.Fatal(wrong)
		}
	}
	a.Await("/readyz", http.StatusOK)
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("writes came back %s after the failover, want 30s at most", took)
	}
}
