package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/testenv"
)

// TestStopLosesNothing stops an app under a load of increments and compares what was acknowledged with what is there.
func TestStopLosesNothing(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	a := startReady(t, map[string]string{"MYSQL_DSN": dsn, "REDIS_URL": testenv.Redis(t), "LOG_LEVEL": "info", "SHUTDOWN_TIMEOUT": "1m"})
	a.ask(201, "PUT", "/v1/boards/sums", `{"policy":"sum"}`)
	var acknowledged, refused atomic.Int64
	enough := make(chan struct{})
	var once sync.Once
	var writers sync.WaitGroup
	for i := range 16 {
		writers.Go(func() {
			for {
				switch status := a.increment(fmt.Sprintf("m%d", i%4)); status {
				case http.StatusOK:
					if acknowledged.Add(1) == 300 {
						once.Do(func() { close(enough) })
					}
				case http.StatusServiceUnavailable:
					refused.Add(1)
				case 0: // the listener is closed
					return
				default:
					t.Errorf("status %d", status)
					return
				}
			}
		})
	}
	<-enough
	a.stop()
	writers.Wait()
	b := startReady(t, map[string]string{"MYSQL_DSN": dsn})
	total := int64(0)
	top := b.ask(200, "GET", "/v1/boards/sums/top", "")
	for _, e := range top["entries"].([]any) {
		score, err := e.(map[string]any)["score"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		total += score
	}
	// Every request that was taken on was answered, so the two are equal.
	if sum := acknowledged.Load(); total != sum {
		t.Errorf("acknowledged %d, found %d (%d refused)", sum, total, refused.Load())
	}
	if strings.Contains(a.log.String(), "cut off") {
		t.Error("requests were cut off though there was time")
	}
}

// increment adds 1 to a member, and returns the status, 0 when nobody answers.
func (a *testApp) increment(member string) int {
	body := fmt.Sprintf(`{"entries":[{"member":%q,"score":1}]}`, member)
	req, err := http.NewRequest(http.MethodPost, "http://"+a.Addr()+"/v1/boards/sums/scores", strings.NewReader(body))
	if err != nil {
		return -1
	}
	req.Header.Set("Authorization", "Bearer "+writeTestKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestDraining: for the drain-delay /readyz says 503 while requests are still answered.
func TestDraining(t *testing.T) {
	t.Parallel()
	a := startReady(t, map[string]string{"MYSQL_DSN": testenv.MySQL(t), "DRAIN_DELAY": "1m"})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	a.stopped = true
	go func() { done <- a.Stop(ctx) }()
	a.await("/readyz", http.StatusServiceUnavailable)
	if status, body := a.get("http://" + a.Addr() + "/readyz"); !strings.Contains(string(body), "draining") {
		t.Errorf("readyz: %d %s", status, body)
	}
	a.ask(200, "GET", "/v1/boards", "")
	cancel() // ends the delay
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the app does not stop")
	}
	if status, body := a.get("http://" + a.Addr() + "/livez"); status != 0 {
		t.Errorf("still answers after Stop: %s", body)
	}
}

// TestStopCutsOff: a client that does not finish its request holds nothing up beyond the shutdown-timeout.
func TestStopCutsOff(t *testing.T) {
	t.Parallel()
	a := startReady(t, map[string]string{"MYSQL_DSN": testenv.MySQL(t), "SHUTDOWN_TIMEOUT": "100ms"})
	conn, err := net.Dial("tcp", a.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a.ask(201, "PUT", "/v1/boards/b", `{}`)
	head := "POST /v1/boards/b/scores HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + writeTestKey +
		"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	if _, err := conn.Write([]byte(head)); err != nil {
		t.Fatal(err)
	}
	a.ask(200, "GET", "/v1/boards/b", "") // a round trip, so that the other request is being served by now
	start := time.Now()
	a.stop()
	if took := time.Since(start); took > 10*time.Second { // the server waits longer than that for the rest of a request
		t.Errorf("stopping took %s", took)
	}
}

// TestMySQLAwayAtStart: the app starts, says why it is not ready, and gets there by itself.
func TestMySQLAwayAtStart(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateMySQL(t)
	dsn, err := createDatabase(t.Context(), server.DSN, "late")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	a := startApp(t, map[string]string{"MYSQL_DSN": dsn})
	a.await("/livez", http.StatusOK)
	a.await("/readyz", http.StatusServiceUnavailable)
	if ready := a.ask(503, "GET", "/readyz", ""); !strings.Contains(fmt.Sprint(ready), "mysql:unreachable") {
		t.Errorf("readyz: %v", ready)
	}
	a.ask(503, "PUT", "/v1/boards/b", `{}`)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.await("/readyz", http.StatusOK)
	a.ask(201, "PUT", "/v1/boards/b", `{}`)
	if n := strings.Count(a.log.String(), "the schema waits for MySQL"); n < 1 || n > 3 {
		t.Errorf("waiting for MySQL was said %d times", n)
	}
}

// TestUnmigrated: without --migrate the reason says what to do.
func TestUnmigrated(t *testing.T) {
	t.Parallel()
	a := startApp(t, map[string]string{"MYSQL_DSN": testenv.MySQL(t), "MIGRATE": "false"})
	if ready := a.ask(503, "GET", "/readyz", ""); !strings.Contains(fmt.Sprint(ready), "run `leaderboard migrate up`") {
		t.Errorf("readyz: %v", ready)
	}
	a.ask(503, "PUT", "/v1/boards/b", `{}`)
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	env := map[string]string{"LEADERBOARD_MYSQL_DSN": "root@tcp(127.0.0.1:1)/none", "LEADERBOARD_LISTEN": l.Addr().String()}
	for _, command := range []string{"serve", "dev"} {
		status, _, errOut := runWith(t, env, command)
		if status != exitFailed || !strings.Contains(errOut, l.Addr().String()+" is in use by another program") || !strings.Contains(errOut, "--listen") {
			t.Errorf("%s: status %d, %s", command, status, errOut)
		}
	}
}
