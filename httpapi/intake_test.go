package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// announced is the head of a POST that announces a body of the given length.
func announced(path, key string, length int) string {
	head := "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(length) + "\r\n"
	if key != "" {
		head += "Authorization: Bearer " + key + "\r\n"
	}
	return head + "\r\n"
}

// open connects and sends text.
func (s *server) open(text string) net.Conn {
	s.T.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.T.Fatal(err)
	}
	s.T.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		s.T.Fatal(err)
	}
	return conn
}

// await polls until the condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in a minute", what)
		}
		runtime.Gosched()
	}
}

// slowClients is how many connections TestUnsentBodies opens; LEADERBOARD_SLOW_CLIENTS says otherwise.
const slowClients = 1000

// TestUnsentBodies: a client that announces a body and does not send it keeps no other out and takes little memory, also
// when there are many more of them than requests may be served at once (promise G3).
func TestUnsentBodies(t *testing.T) {
	const perClient = 64 << 10 // bytes of memory, both ends of the connection
	n := slowClients
	if more, err := strconv.Atoi(os.Getenv("LEADERBOARD_SLOW_CLIENTS")); err == nil {
		n = more
	}
	e := newEnv(t, func(c *Config) { c.Limits.MaxConcurrent, c.Limits.BodyTimeout = 8, time.Minute })
	e.Board("b", leaderboard.Rules{})
	srv := newServer(t, e)
	before := memory()
	for range n {
		srv.open(announced("/v1/boards/b/ranks", apitest.NoKey, 100<<10))
	}
	arriving := e.api.shared.guard.Bodies.Now
	await(t, "all bodies are waited for", func() bool { bodies, _ := arriving(); return bodies == n })
	for i := range 50 {
		srv.do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: fmt.Sprintf(`{"entries":[{"member":"m%d","score":%d}]}`, i, i)}).Want(200)
		srv.do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top"}).Want(200)
		srv.do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/ranks", Body: `{"members":["m0"]}`}).Want(200)
	}
	await(t, "only those that are not sent are waited for", func() bool { _, bytes := arriving(); return bytes == 0 }) // on a busy machine the first were given up
	got := memory() - before
	t.Logf("%d bytes for each of %d connections", got/int64(n), n)
	if got > int64(n)*perClient {
		t.Errorf("%d connections take %d bytes each, want at most %d", n, got/int64(n), perClient)
	}
}

// TestUnaskedBodies: a client that announces a body for a route without one, and does not send it, is answered and keeps no other
// out (promise G3).
func TestUnaskedBodies(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Limits.MaxConcurrent = 8 })
	subs := make([]leaderboard.Submission, 100)
	for i := range subs {
		subs[i] = leaderboard.Submission{Member: fmt.Sprintf("m%d", i), Score: int64(i)}
	}
	e.Board("b", leaderboard.Rules{}, subs...)
	srv := newServer(t, e)
	for _, length := range []string{"Content-Length: 5", "Transfer-Encoding: chunked"} {
		conns := make([]net.Conn, 32)
		for i := range conns {
			conns[i] = srv.open("GET /v1/boards/b/top?limit=100 HTTP/1.1\r\nHost: x\r\n" + length + "\r\n\r\n")
		}
		for _, conn := range conns {
			_ = conn.SetReadDeadline(time.Now().Add(guard.ReadTimeout / 2))
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("%s: %v", length, err)
			}
			if _ = res.Body.Close(); res.StatusCode != 200 && res.StatusCode != 503 {
				t.Errorf("%s: %s", length, res.Status)
			}
		}
		srv.do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top"}).Want(200)
	}
}

// memory returns the bytes of heap and stacks in use.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// TestStalledBodiesGiveWay: bodies that have stopped coming leave their room to others, and hear of it.
func TestStalledBodiesGiveWay(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Limits.BodyMemory, c.Limits.BodyTimeout = 256<<10, time.Minute })
	e.Board("b", leaderboard.Rules{})
	srv := newServer(t, e)
	part := strings.Repeat(" ", 60<<10)
	conns := make([]net.Conn, 4)
	for i := range conns {
		conns[i] = srv.open(announced("/v1/boards/b/scores", apitest.WriteKey, 64<<10) + part)
	}
	await(t, "the room is taken", func() bool { _, bytes := e.api.shared.guard.Bodies.Now(); return bytes > 200<<10 })
	large := strings.Repeat(" ", 100<<10) + `{"entries":[{"member":"m","score":1}]}`
	await(t, "a stalled body gives way", func() bool {
		return srv.do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: large}).Status == 200
	})
	gaveWay := make(chan int, len(conns))
	for _, conn := range conns {
		go func() {
			if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil {
				_ = res.Body.Close()
				gaveWay <- res.StatusCode
			}
		}()
	}
	if status := <-gaveWay; status != 408 {
		t.Errorf("the body that gave way is answered with %d", status)
	}
}

// pipes is a listener of connections without a network, for a clock that is not the machine's.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, ok := <-p; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestBodyDeadline: a body may take longer only while it comes at the least rate.
func TestBodyDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		parts, size int // one a second
		status      int
		after       time.Duration
	}{
		"nothing":             {0, 0, 408, 5 * time.Second},
		"in time":             {4, 10, 200, 4 * time.Second},
		"a byte now and then": {20, 1, 408, 5 * time.Second},
		"slowly, but enough":  {12, 80 << 10, 200, 12 * time.Second},
		"too slowly":          {30, 20 << 10, 408, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t)
				e.Board("b", leaderboard.Rules{})
				l := make(pipes)
				s := Server("", e.api)
				done := make(chan error, 1)
				go func() { done <- s.Serve(l) }()
				client, served := net.Pipe()
				l <- served
				const rest = `{"entries":[{"member":"m","score":1}]}`
				start := time.Now()
				var sender sync.WaitGroup
				sender.Go(func() {
					_, err := io.WriteString(client, announced("/v1/boards/b/scores", apitest.WriteKey, c.parts*c.size+len(rest)+1))
					for i := 0; i < c.parts && err == nil; i++ {
						time.Sleep(time.Second)
						_, err = io.WriteString(client, strings.Repeat(" ", c.size))
					}
					if c.status == 200 && err == nil {
						_, _ = io.WriteString(client, rest+" ")
					}
				})
				res, err := http.ReadResponse(bufio.NewReader(client), nil)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); res.StatusCode != c.status || took < c.after || took > c.after+guard.BodyDelay {
					t.Errorf("%d after %s, want %d after %s", res.StatusCode, took, c.status, c.after)
				}
				_ = client.Close()
				sender.Wait()
				close(l)
				if err := <-done; !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				_ = s.Close()
				time.Sleep(time.Second) // net/http closes a connection late if a body was cut off
			})
		})
	}
}

// TestSlowReader: a client that keeps reading a long answer gets all of it, and a client that stops is left after sendStall.
func TestSlowReader(t *testing.T) {
	for name, c := range map[string]struct {
		stops bool
		after time.Duration
	}{"goes on": {false, time.Minute}, "stops": {true, sendStall}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEnv(t)
				entries := make([]leaderboard.Submission, leaderboard.MaxLimit)
				for i := range entries {
					entries[i] = leaderboard.Submission{Member: fmt.Sprintf("%064d", i), Score: int64(i)}
				}
				e.Board("b", leaderboard.Rules{}, entries...)
				l, s := make(pipes), Server("", e.api)
				done := make(chan error, 1)
				go func() { done <- s.Serve(l) }()
				client, served := net.Pipe()
				l <- served
				if _, err := io.WriteString(client, "GET /v1/boards/b/top?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				start, all := time.Now(), bufio.NewReaderSize(client, 1<<10)
				res, err := http.ReadResponse(all, nil)
				if err != nil {
					t.Fatal(err)
				}
				size := res.ContentLength
				for part := size / 60; err == nil; time.Sleep(time.Second) {
					if c.stops {
						time.Sleep(sendStall)
					}
					_, err = io.CopyN(io.Discard, res.Body, part)
				}
				whole := errors.Is(err, io.EOF)
				if took := time.Since(start); whole == c.stops || took < c.after {
					t.Errorf("after %s: %v", took, err)
				}
				_ = client.Close()
				close(l)
				if err := <-done; !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
				_ = s.Close()
				time.Sleep(time.Second)
			})
		})
	}
}

// unread fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// TestRefusedBeforeTheBody: a submission that the writer would refuse is refused with its body neither read nor decoded, with the
// time that it would have waited.
func TestRefusedBeforeTheBody(t *testing.T) {
	var asked []string
	e := newEnv(t, func(c *Config) {
		c.Writer.(*fake).OnAdmit = func(board string, bytes int64) error {
			asked = append(asked, fmt.Sprint(board, bytes))
			return &leaderboard.OverloadError{Wait: 40 * time.Second}
		}
	})
	e.Board("b", leaderboard.Rules{})
	for path, board := range map[string]string{"/v1/boards/b/scores": "b", "/v1/scores": ""} {
		r := (apitest.Ask{Method: "POST", Path: path, Key: apitest.WriteKey, Body: "{}"}).Request()
		r.Body, r.ContentLength, asked = io.NopCloser(unread{t}), 4321, nil
		w := &written{discard: discard{http.Header{}}}
		e.api.ServeHTTP(w, r)
		seconds, err := strconv.Atoi(w.h.Get("Retry-After"))
		if w.status != 503 || !bytes.Contains(w.body.Bytes(), []byte("/problems/overloaded")) || err != nil || seconds < 40 || seconds > 60 {
			t.Errorf("%s: %d, Retry-After %q, %s", path, w.status, w.h.Get("Retry-After"), &w.body)
		}
		if want := board + "4321"; len(asked) != 1 || asked[0] != want {
			t.Errorf("%s: asked for %q, want %q", path, asked, want)
		}
	}
	e.Get(apitest.NoKey, "/v1/boards/b/top").Want(200)
}

// written is the status and the body that a handler wrote.
type written struct {
	discard
	status int
	body   bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) { return w.body.Write(b) }
func (w *written) WriteHeader(status int)      { w.status = status }

// TestRetryAfterSpreads: clients are not asked to come back too early, nor all at once.
func TestRetryAfterSpreads(t *testing.T) {
	for wait, most := range map[time.Duration]int{time.Millisecond: 3, time.Second: 3, 5 * time.Second: 8, time.Minute: 90} {
		seen := map[int]int{}
		for range 1000 {
			seen[wire.RetryAfter(wait)]++
		}
		for seconds, times := range seen {
			if seconds < 1 || time.Duration(seconds)*time.Second < wait || seconds > most || times > 700 {
				t.Errorf("%s: %d s, %d times of 1,000", wait, seconds, times)
			}
		}
		if len(seen) < 2 {
			t.Errorf("%s: everybody comes back after %v", wait, seen)
		}
	}
}
