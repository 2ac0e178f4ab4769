package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestDraining: for the drain-delay /readyz says 503 while requests are still answered.
func TestDraining(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "", func(c *Config) { c.DrainDelay = time.Minute })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	a.stopped = true
	go func() { done <- a.Stop(ctx) }()
	a.Await("/readyz", http.StatusServiceUnavailable)
	if status, body := a.Get("/readyz"); !strings.Contains(string(body), "draining") {
		t.Errorf("readyz: %d %s", status, body)
	}
	a.Ask(200, "GET", "/v1/boards", "")
	cancel() // ends the delay
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(apptest.MaxWait):
		t.Fatal("the app does not stop")
	}
	if status, body := a.Get("/livez"); status != 0 {
		t.Errorf("still answers after Stop: %s", body)
	}
}

// TestStopCutsOff: a client that does not finish its request delays the stop until the shutdown-timeout at most.
func TestStopCutsOff(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "", func(c *Config) { c.ShutdownTimeout = 100 * time.Millisecond })
	conn, err := net.Dial("tcp", a.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	head := "POST /v1/boards/b/scores HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + apptest.WriteKey +
		"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	if _, err := conn.Write([]byte(head)); err != nil {
		t.Fatal(err)
	}
	a.Ask(200, "GET", "/v1/boards/b", "") // a round trip, so that the other request is being served
	start := time.Now()
	a.stop()
	if took := time.Since(start); took > 10*time.Second { // the server waits longer than that for the rest of a request
		t.Errorf("stopping took %s", took)
	}
}

// TestMySQLAwayAtStart: the app starts without MySQL, says why it is not ready, and becomes ready when MySQL is there.
func TestMySQLAwayAtStart(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateMySQL(t)
	dsn, err := server.CreateDatabase(t.Context(), "late")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	a := startApp(t, dsn, "")
	a.Await("/livez", http.StatusOK)
	a.Await("/readyz", http.StatusServiceUnavailable)
	if ready := a.Ask(503, "GET", "/readyz", ""); !strings.Contains(fmt.Sprint(ready), "mysql:unreachable") {
		t.Errorf("readyz: %v", ready)
	}
	a.Ask(503, "PUT", "/v1/boards/b", `{}`)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Await("/readyz", http.StatusOK)
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	if n := strings.Count(a.log.String(), "the schema waits for MySQL"); n < 1 || n > 3 {
		t.Errorf("waiting for MySQL was said %d times", n)
	}
}

// TestUnmigrated: without --migrate, /readyz says how to migrate.
func TestUnmigrated(t *testing.T) {
	t.Parallel()
	a := startApp(t, testenv.MySQL(t), "", func(c *Config) { c.Migrate = false })
	if ready := a.Ask(503, "GET", "/readyz", ""); !strings.Contains(fmt.Sprint(ready), "run `leaderboard migrate up`") {
		t.Errorf("readyz: %v", ready)
	}
	a.Ask(503, "PUT", "/v1/boards/b", `{}`)
}
