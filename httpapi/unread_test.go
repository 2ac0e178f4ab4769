package httpapi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// deaf connects, sends text, and has next to no room for the answer.
func deaf(t *testing.T, addr, text string) *net.TCPConn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10) })
	}}
	c, err := dialer.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn)
}

// TestKernelKeepsLittle: the unread rest of an answer stays in the handler, instead of buffers that the kernel would let grow; and
// it is gone when the client is left.
func TestKernelKeepsLittle(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan int)
	s := Server("", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ctl, part, sent := http.NewResponseController(w), make([]byte, 16<<10), 0
		for {
			_ = ctl.SetWriteDeadline(time.Now().Add(time.Second))
			if _, err := w.Write(part); err != nil {
				break
			}
			sent += len(part)
		}
		taken <- sent
	}))
	done := make(chan error, 1)
	go func() { done <- s.Serve(Listener(l, ConnLimits{})) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	client := deaf(t, l.Addr().String(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	if sent := <-taken; sent > 8*connBuffer {
		t.Errorf("%d bytes are kept for a client that reads nothing, want about %d", sent, 2*connBuffer)
	}
	_ = client.SetReadDeadline(time.Now().Add(20 * time.Second))
	if n, err := io.Copy(io.Discard, client); !errors.Is(err, syscall.ECONNRESET) || n > 64<<10 {
		t.Errorf("%d bytes and %v for a client that was left, want what it has already and a reset", n, err)
	}
}

// buffers returns the kernel's buffers of a connection of the server, in the unit in which they were set.
func buffers(t *testing.T, c *net.TCPConn) (in, out int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) {
		in, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF)
		out, _ = syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
	}); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" {
		return in / 2, out / 2
	}
	return in, out
}

// TestBuffers: a connection has small buffers in both directions; a stream has smaller ones while it lasts, an export larger ones.
func TestBuffers(t *testing.T) {
	t.Parallel()
	exported := make(chan bool)
	streams := NewStreams(1)
	e := newEnv(t, func(c *Config) {
		c.Routes = []Route{On("streamPage", func(c *Call) error {
			defer c.SetBuffers(StreamBuffer)()
			to, _ := BeginStream(c)
			to.Write([]byte(":\n\n"))
			<-streams.Ended()
			return nil
		}), On("exportEntries", func(c *Call) error {
			defer c.SetBuffers(ExportBuffer)()
			<-exported
			c.SendNothing(http.StatusOK)
			return nil
		})}
	})
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	accepted := make(chan *net.TCPConn, 10)
	srv := newServer(t, e, func(s *http.Server) {
		s.ConnState = func(c net.Conn, state http.ConnState) {
			if of, ok := c.(*conn); ok && state == http.StateNew {
				accepted <- of.TCPConn
			}
		}
	})
	const head = "HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + apitest.AdminKey + "\r\n\r\n"
	client := srv.open("GET /v1/boards/b/top " + head)
	c, in := <-accepted, bufio.NewReader(client)
	check := func(when string, want int) {
		t.Helper()
		var read, write int
		await(t, when, func() bool { read, write = buffers(t, c); return read == want && write == want })
	}
	answer := func() *http.Response {
		t.Helper()
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res, err)
		}
		return res
	}
	check("a connection", connBuffer)
	_, _ = io.Copy(io.Discard, answer().Body)
	send := func(text string) {
		t.Helper()
		if _, err := io.WriteString(client, text); err != nil {
			t.Fatal(err)
		}
	}
	send("GET /v1/boards/b/export " + head)
	check("an export", ExportBuffer)
	exported <- true
	_, _ = io.Copy(io.Discard, answer().Body)
	check("after an export", connBuffer)
	send("GET /v1/boards/b/stream " + head)
	stream := answer()
	check("a stream", StreamBuffer)
	streams.End()
	_, _ = io.Copy(io.Discard, stream.Body)
	check("after a stream", connBuffer)
}

// TestUnreadAnswersGiveWay: answers that clients do not take are bounded in memory: the answer that has stood still for the
// longest time gives way to another, whose client notices nothing. The result of a write is sent whether there is room or not.
func TestUnreadAnswersGiveWay(t *testing.T) {
	t.Parallel()
	const memory = 1 << 20
	e := newEnv(t, func(c *Config) { c.Limits.AnswerMemory = memory })
	entries := make([]leaderboard.Submission, leaderboard.MaxLimit)
	for i := range entries {
		entries[i] = leaderboard.Submission{Member: fmt.Sprintf("%064d", i), Score: int64(i)}
	}
	e.Board("b", leaderboard.Rules{}, entries...)
	srv, out := newServer(t, e), e.api.shared.guard.Answers
	size := len(e.Get(apitest.NoKey, "/v1/boards/b/top?limit=1000").Want(200).Body)
	if size < 4*connBuffer || size > memory/4 {
		t.Fatalf("an answer has %d bytes", size)
	}
	held := func() int64 { _, bytes := out.Now(); return bytes }
	const get = "GET /v1/boards/b/top?limit=1000 HTTP/1.1\r\nHost: x\r\n\r\n"
	var stuck []*net.TCPConn
	for len(stuck) < 3*memory/size {
		stuck = append(stuck, deaf(t, srv.addr, strings.Repeat(get, 10)))
	}
	await(t, "answers take all room", func() bool { return held() > memory-int64(size) })
	for range 3 { // each once there is something that stands still
		await(t, "a client that reads is answered", func() bool { return srv.raw(get).Status == 200 })
	}
	if now := held(); now > memory {
		t.Errorf("answers take %d bytes, want at most %d", now, memory)
	}
	reset := 0
	for _, c := range stuck {
		_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.CopyN(io.Discard, c, int64(size)); errors.Is(err, syscall.ECONNRESET) {
			reset++
		}
		_ = c.Close()
	}
	if reset == 0 {
		t.Error("no client was left")
	}
	await(t, "nothing is held when they have gone", func() bool { return held() == 0 })

	full := newEnv(t, func(c *Config) { c.Limits.AnswerMemory = 1 })
	full.Board("b", leaderboard.Rules{}, entries...)
	full.Get(apitest.NoKey, "/v1/boards/b/top?limit=1000").WantProblem(503, wire.CodeOverloaded)
	full.Get(apitest.NoKey, "/v1/boards/b/top?limit=10").Want(200)
	var body strings.Builder
	for i := range leaderboard.MaxLimit {
		fmt.Fprintf(&body, `,{"member":"%064d","score":%d}`, i, i)
	}
	if receipt := full.Post(apitest.WriteKey, "/v1/boards/b/scores", `{"entries":[`+body.String()[1:]+`]}`).Want(200); len(receipt.Body) <= connBuffer {
		t.Errorf("a receipt of %d bytes", len(receipt.Body))
	}
}

// poolWatcher takes an answer, and meanwhile looks for compressors in the pool.
type poolWatcher struct {
	discard
	pool *sync.Pool
	seen int
}

func (w *poolWatcher) Write(b []byte) (int, error) {
	if z := w.pool.Get(); z != nil {
		w.seen++
		w.pool.Put(z)
	}
	return len(b), nil
}

// TestCompressedFirst: nothing that compresses belongs to an answer that waits for its client.
func TestCompressedFirst(t *testing.T) {
	e := newEnv(t)
	for i := range 3 {
		e.Board(fmt.Sprint("board", i), leaderboard.Rules{})
	}
	w := &poolWatcher{discard: discard{http.Header{}}, pool: &e.api.shared.zippers.Pool}
	for range 100 { // a pool may lose compressors
		e.api.ServeHTTP(w, apitest.Ask{Method: "GET", Path: "/v1/boards", Header: http.Header{"Accept-Encoding": {"gzip"}}}.Request())
	}
	if w.h.Get("Content-Encoding") != "gzip" {
		t.Fatal("the answer is not compressed")
	}
	if w.seen == 0 {
		t.Error("what compresses is never there while an answer is sent")
	}
}
