package e2e

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// memoryLimit is how much writable memory a process of TestUnreadClients may map: RLIMIT_DATA, which is a hard limit, unlike
// GOMEMLIMIT, and needs no rights. Unlike a cgroup it counts the stacks of threads whole (so they are made small) and leaves out
// the kernel's buffers of connections, which are counted apart.
const memoryLimit = 512 << 20

// TestUnreadClients: a server with little memory survives clients that keep sending requests but do not read their streams
// and answers, together with hostile bodies. Other clients are served all the time. When the hostile clients go, their
// memory is free again.
func TestUnreadClients(t *testing.T) {
	streams, pipelines := testenv.Size(400, 5000), testenv.Size(100, 2000)
	w := newWorld(t)
	limit, raceDetector := strconv.Itoa(memoryLimit>>10), hasRaceDetector(t)
	if raceDetector { // which maps terabytes
		limit = "unlimited"
	}
	p := startProgram(t, "/bin/sh", "small", w.environment(), "-c", `ulimit -s 256 && ulimit -d `+limit+` && exec "$0" "$@"`, os.Getenv(programVariable), "serve", "--max-streams", strconv.Itoa(streams+10))
	s := &server{p, newAPI(t, p.err.awaitLog(t, "serving", "addr"))}
	s.awaitReady(t)
	s.fillWide(t, "b")
	begin := s.memory(t)
	var most memory // of the kernel, since it was reset

	var held []net.Conn
	get := func(path string) string {
		return "GET /v1/boards/b/" + path + " HTTP/1.1\r\nHost: x\r\n\r\n"
	}
	for range streams {
		held = append(held, s.deaf(t, get("stream?limit=100")))
	}
	eventually(t, "all streams are open", func() error {
		text, err := s.Metrics(t.Context())
		if want := fmt.Sprintf("leaderboard_streams_open %d\n", streams); err == nil && !bytes.Contains(text, []byte(want)) {
			return errors.New("some are not")
		}
		return err
	})
	others := s.serveOthers(t)
	for range 10 { // 100 commits, while no stream has stalled for so long that it is left
		others.awaitMore(t, 10)
		most = most.or(s.memory(t))
	}
	t.Logf("%d streams that read nothing: %s, before them %s", streams, most, begin)
	if bound := streams * (20 << 10); most.kernel > bound {
		t.Errorf("the kernel keeps %d MiB, want at most %d", most.kernel>>20, bound>>20)
	}
	if bound := streams*(40<<10) + 32<<20; !raceDetector && most.process-begin.process > bound {
		t.Errorf("the process takes %d MiB more than before, want at most %d", (most.process-begin.process)>>20, bound>>20)
	}

	for range pipelines {
		held = append(held, s.deaf(t, strings.Repeat(get("top?limit=1000"), 60)))
	}
	ctx, stop := context.WithCancel(t.Context())
	hostile := s.sendHostile(ctx, testenv.Size(4, 16))
	for range testenv.Size(5, 30) {
		others.awaitMore(t, 10)
		most = most.or(s.memory(t))
	}
	stop()
	if err := hostile.Wait(); err != nil {
		t.Error(err)
	}
	t.Logf("and %d connections that ask on and on, and hostile bodies: %s", pipelines, most)
	if bound := pipelines*(128<<10) + streams*(20<<10); most.kernel > bound {
		t.Errorf("the kernel keeps %d MiB for the server, want at most %d", most.kernel>>20, bound>>20)
	}
	if !raceDetector && most.process+most.kernel > memoryLimit {
		t.Errorf("together that is more than %d MiB", memoryLimit>>20)
	}
	others.stop(t)
	for _, c := range held {
		_ = c.Close()
	}
	eventually(t, "nothing is left of the clients", func() error {
		if left := s.memory(t).kernel; left > 1<<20 {
			return fmt.Errorf("%d bytes are", left)
		}
		return nil
	})
	select {
	case <-s.exited:
		t.Error("the server has ended")
	default:
	}
}

// fillWide makes a board whose first thousand take 190 KB.
func (s *server) fillWide(t *testing.T, board string) {
	t.Helper()
	s.putBoard(t, board, leaderboard.Rules{})
	batch := make([]leaderboard.Submission, leaderboard.MaxLimit)
	for i := range batch {
		batch[i] = scored(fmt.Sprintf("%064d", i), int64(i))
	}
	s.mustSubmit(t, board, batch...)
}

// deaf opens a connection to a server, sends text, and has next to no room for the answer.
func (s *server) deaf(t *testing.T, text string) net.Conn {
	t.Helper()
	dialer := net.Dialer{Timeout: maxWait, Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<10) })
	}}
	c, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// memory is how much a server uses, in bytes.
type memory struct {
	process int // at the most so far
	kernel  int // in the queues of its connections, in both directions, without the kernel's own overhead
	sockets string
}

// or returns the maximum of each.
func (m memory) or(other memory) memory {
	if other.kernel < m.kernel {
		other.kernel, other.sockets = m.kernel, m.sockets
	}
	other.process = max(m.process, other.process)
	return other
}

func (m memory) String() string {
	return fmt.Sprintf("%d MiB, and %d MiB in queues of the kernel (%s, in pages)", m.process>>20, m.kernel>>20, m.sockets)
}

// memory looks at the process, and at the connections of its port, those too that it has closed.
func (s *server) memory(t *testing.T) (m memory) {
	t.Helper()
	text := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	_, peak, _ := strings.Cut(text(fmt.Sprintf("/proc/%d/status", s.pid)), "VmHWM:")
	peak, _, _ = strings.Cut(peak, " kB")
	kib, err := strconv.Atoi(strings.TrimSpace(peak))
	if err != nil {
		t.Fatal(err)
	}
	m.process = kib << 10
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	number, _ := strconv.Atoi(port)
	for line := range strings.Lines(text("/proc/net/tcp")) {
		f := strings.Fields(line)
		if !strings.HasSuffix(f[1], fmt.Sprintf(":%04X", number)) {
			continue
		}
		out, in, _ := strings.Cut(f[4], ":")
		for _, queue := range []string{out, in} {
			n, err := strconv.ParseInt(queue, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			m.kernel += int(n)
		}
	}
	for line := range strings.Lines(text("/proc/net/sockstat")) {
		if strings.HasPrefix(line, "TCP:") {
			m.sockets = strings.TrimSpace(line)
		}
	}
	return m
}

// hasRaceDetector reports whether the program under test was built with the race detector.
func hasRaceDetector(t *testing.T) bool {
	t.Helper()
	info, err := buildinfo.ReadFile(os.Getenv(programVariable))
	if err != nil {
		t.Fatal(err)
	}
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// bystanders write and read, and count their successes.
type bystanders struct {
	cancel context.CancelFunc
	group  errgroup.Group
	done   atomic.Int64
}

// serveOthers starts a few ordinary clients: 20 commits a second, and a page after each.
func (s *server) serveOthers(t *testing.T) *bystanders {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	o := &bystanders{cancel: cancel}
	t.Cleanup(cancel)
	for i := range 4 {
		o.group.Go(func() error {
			pace := time.NewTicker(200 * time.Millisecond)
			defer pace.Stop()
			for n := int64(0); ; n++ {
				_, err := s.submit(ctx, "b", "", scored(fmt.Sprintf("good%d", i), 10_000+n))
				if err == nil {
					_, err = s.top(ctx, "b", 0, 10)
				}
				if ctx.Err() != nil {
					return nil
				}
				if err != nil {
					return fmt.Errorf("a good client: %w", err)
				}
				o.done.Add(1)
				<-pace.C
			}
		})
	}
	return o
}

// awaitMore waits for a number of further successes.
func (o *bystanders) awaitMore(t *testing.T, n int64) {
	t.Helper()
	until := o.done.Load() + n
	for deadline := time.Now().Add(maxWait + time.Duration(n)*time.Second); o.done.Load() < until; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			o.stop(t)
			t.Fatalf("good clients were served %d times of %d", o.done.Load()-until+n, n)
		}
	}
}

func (o *bystanders) stop(t *testing.T) {
	t.Helper()
	o.cancel()
	if err := o.group.Wait(); err != nil {
		t.Error(err)
	}
}

// sendHostile sends bodies that are costly to read, over and over. Each must get an answer, whatever it is.
func (s *server) sendHostile(ctx context.Context, clients int) *errgroup.Group {
	name, zeros := strings.Repeat("k", 50_000), strings.Repeat("0,", 50_000)
	bodies := []struct{ method, path, body string }{
		{"PUT", "/v1/members/x", `{"attributes":{"` + name + `":[` + zeros + `0]}}`},
		{"PUT", "/v1/members/x", `{"attributes":{"` + strings.Repeat(name, 18) + `":[` + zeros[:60_000] + `0]}}`},
		{"PATCH", "/v1/members/x", `{"attributes":` + strings.Repeat(`{"a":`, 9000) + "0" + strings.Repeat("}", 9001)},
		{"PATCH", "/v1/boards/b", `{"name":` + strings.Repeat(`{"a":`, 9000) + "0" + strings.Repeat("}", 9001)},
		{"POST", "/v1/boards/b/scores", `{"entries":[{"member":"x","score":1,"fields":{` + distinct(32_000) + `"end":1}}]}`},
		{"PUT", "/v1/boards/other", `{"windows":[` + strings.Repeat(`"season",`, 30_000) + `"day"]}`},
	}
	group := &errgroup.Group{}
	for i := range clients {
		group.Go(func() error {
			for n := i; ctx.Err() == nil; n++ {
				b := bodies[n%len(bodies)]
				r, err := http.NewRequestWithContext(ctx, b.method, s.url+b.path, strings.NewReader(b.body))
				if err != nil {
					return err
				}
				r.Header.Set("Authorization", "Bearer "+adminKey)
				r.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(r)
				if ctx.Err() != nil {
					return nil //nolint:nilerr // the test is over
				}
				if err != nil {
					return fmt.Errorf("a hostile body: %w", err)
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if res.StatusCode == http.StatusInternalServerError {
					return fmt.Errorf("%s %s: %s", b.method, b.path, res.Status)
				}
			}
			return nil
		})
	}
	return group
}

// distinct returns a number of members of an object.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%d":1,`, i)
	}
	return b.String()
}
