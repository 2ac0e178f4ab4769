package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// server is an env behind a real listener, for tests of bytes on the wire.
type server struct {
	*env
	addr   string
	client *http.Client
}

func newServer(t testing.TB, e *env, change ...func(*http.Server)) *server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Server(l.Addr().String(), e.api)
	for _, c := range change {
		c(s)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(Listener(l, ConnLimits{})) }()
	client := &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &server{e, l.Addr().String(), client}
}

// do sends the request over the wire and checks both sides of it.
func (s *server) do(a apitest.Ask) apitest.Reply {
	s.T.Helper()
	r := a.Request()
	r.RequestURI = ""
	r.URL.Scheme, r.URL.Host = "http", s.addr
	res, err := s.client.Do(r)
	if err != nil {
		s.T.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	out := apitest.Reply{T: s.T, Status: res.StatusCode, Header: res.Header, Body: body}
	apitest.Check(s.T, a, out)
	return out
}

// raw sends text and reads one answer.
func (s *server) raw(text string) apitest.Reply { return s.send(text, false) }

// send is raw; half closes the connection after the text.
func (s *server) send(text string, half bool) apitest.Reply {
	s.T.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.T.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		s.T.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		s.T.Fatal(err)
	}
	if half {
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			s.T.Fatal(err)
		}
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.T.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.T.Fatal(err)
	}
	return apitest.Reply{T: s.T, Status: res.StatusCode, Header: res.Header, Body: body}
}

// TestMembersInPaths: members of every form work in a path, percent-encoded.
func TestMembersInPaths(t *testing.T) {
	e := newEnv(t)
	e.Board("odd", leaderboard.Rules{})
	srv := newServer(t, e)
	for _, id := range []string{"a/b", "/", "//", "%", "%2F", "../x", "a b", " ", "a ", "é", "日本語", "a?b#c", "a+b", "a;b", "\"\\", "😀", strings.Repeat("x", 64), "around"} {
		body := `{"entries":[{"member":` + string(wire.AppendString(nil, id)) + `,"score":1}]}`
		srv.do(apitest.Ask{Method: "POST", Path: "/v1/boards/odd/scores", Key: apitest.WriteKey, Body: body}).Want(200)
		path := "/v1/boards/odd/members/" + escapeAll(id)
		var got apitest.Row
		srv.do(apitest.Ask{Method: "GET", Path: path, Off: true}).Want(200).Decode(&got) // the router of kin-openapi does not decode
		if got.Member != id {
			t.Errorf("asked for %q, got %q", id, got.Member)
		}
		around := srv.do(apitest.Ask{Method: "GET", Path: path + "/around?before=0&after=0", Off: true}).Rows()
		if len(around.Entries) != 1 || around.Entries[0].Member != id {
			t.Errorf("around %q is %+v", id, around.Entries)
		}
		srv.do(apitest.Ask{Method: "DELETE", Path: path, Key: apitest.AdminKey, Off: true}).Want(200)
		srv.do(apitest.Ask{Method: "GET", Path: path}).WantProblem(404, "not-ranked")
	}
}

// escapeAll percent-encodes every byte.
func escapeAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteString("%" + string(wire.HexDigits[s[i]>>4]) + string(wire.HexDigits[s[i]&15]))
	}
	return b.String()
}

func TestBodyLimits(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Limits.MaxBody = 200 })
	e.Board("b", leaderboard.Rules{})
	srv := newServer(t, e)
	large := `{"entries":[{"member":"` + strings.Repeat("x", 200) + `","score":1}]}`
	writes := e.fake.Writes()
	srv.do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: large}).WantProblem(413, wire.CodeTooLarge)
	head := "POST /v1/boards/b/scores HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + apitest.WriteKey + "\r\nContent-Type: application/json\r\n"
	srv.raw(head+"Transfer-Encoding: chunked\r\n\r\n150\r\n"+strings.Repeat(" ", 0x150)+"\r\n0\r\n\r\n").WantProblem(413, wire.CodeTooLarge)
	if e.fake.Writes() != writes {
		t.Error("something was written")
	}
	small := `{"entries":[{"member":"x","score":1}]}`
	srv.do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/scores", Key: apitest.WriteKey, Body: small}).Want(200)
}

// TestSlowBody: a client that does not send its body in time gets a problem, not silence.
func TestSlowBody(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Limits.BodyTimeout = 50 * time.Millisecond })
	e.Board("b", leaderboard.Rules{})
	srv := newServer(t, e)
	head := "POST /v1/boards/b/scores HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + apitest.WriteKey + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	srv.raw(head+`{"entries":[`).WantProblem(408, wire.CodeSlowRequest)
}

// TestCutOffBody: a client that ends in the middle of its body gets a problem, too.
func TestCutOffBody(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	writes := e.fake.Writes()
	head := "POST /v1/boards/b/scores HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + apitest.WriteKey + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	newServer(t, e).send(head+`{"entries":[{"member":"m","score":1}]}`, true).WantProblem(400, wire.CodeMalformed)
	if e.fake.Writes() != writes {
		t.Error("half a body was written")
	}
}

// TestPanicAfterTheBeginning: a panic after the beginning of an answer ends the connection, so that no client takes the
// part for the whole.
func TestPanicAfterTheBeginning(t *testing.T) {
	e := newEnv(t, func(c *Config) {
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			panic("late")
		})
	})
	srv := newServer(t, e)
	res, err := srv.client.Get("http://" + srv.addr + "/metrics")
	if err != nil {
		return // the connection ended before the headers were out
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("got %q as if it were whole", body)
	}
}

// TestWaitOutlastsTimeouts: waiting for a rebuild outlasts the timeouts that are made for the other routes.
func TestWaitOutlastsTimeouts(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	e.fake.RunGate = make(chan struct{})
	srv := newServer(t, e, func(s *http.Server) {
		s.ReadTimeout, s.WriteTimeout = 50*time.Millisecond, 50*time.Millisecond
	})
	timer := time.AfterFunc(300*time.Millisecond, func() { close(e.fake.RunGate) })
	defer timer.Stop()
	r := srv.do(apitest.Ask{Method: "POST", Path: "/v1/boards/b/rebuild?wait=30s", Key: apitest.AdminKey, Body: `{}`})
	var run api.Run
	r.Want(200).Decode(&run)
	if run.State != leaderboard.RunStateDone {
		t.Errorf("the run is %s", run.State)
	}
}

// TestUncleanPaths: paths that the mux would redirect from are not there.
func TestUncleanPaths(t *testing.T) {
	e := newEnv(t)
	e.Board("top", leaderboard.Rules{})
	srv := newServer(t, e)
	for _, path := range []string{"/v1/boards//top", "//v1/boards", "/v1/boards/top/../top", "/v1/./boards", "/v1/boards/top/", "/v1/boards/", "/v2/boards", "/v1/boards/top/top/", "/v1/boards/top/members/", "/v1/boards/a/b/c"} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			srv.raw(method+" "+path+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").WantProblem(404, wire.CodeNotFound)
		}
	}
}

// TestUnreadableRequests: a request that is not HTTP never reaches a handler: net/http refuses it and closes the connection.
func TestUnreadableRequests(t *testing.T) {
	srv := newServer(t, newEnv(t))
	const rest = " HTTP/1.1\r\nHost: x\r\n\r\n"
	for text, status := range map[string]int{
		"GET /v1/boards/%zz/top" + rest: 400,
		"GET *%" + rest:                 400,
		"GET / HTTP/1.1\r\n\r\n":        400,
		"nonsense\r\n\r\n":              400,
		"GET / HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", 64<<10) + "\r\n\r\n": 431,
		"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: carrier-pigeon\r\n\r\n":     501,
		"GET / HTTP/3.1\r\nHost: x\r\n\r\n":                                           505,
	} {
		if r := srv.raw(text); r.Status != status || r.Header.Get("Content-Length") != "" { // so the body ends with the connection
			t.Errorf("%.60q: %d %v, want %d and the end of the connection", text, r.Status, r.Header, status)
		}
	}
}

// TestServerLimits: the server has the limits of the documents, and reads a head up to its limit and no further.
func TestServerLimits(t *testing.T) {
	s := Server("127.0.0.1:0", http.NotFoundHandler())
	for name, c := range map[string]struct{ got, want time.Duration }{
		"ReadHeaderTimeout": {s.ReadHeaderTimeout, 15 * time.Second},
		"ReadTimeout":       {s.ReadTimeout, 15 * time.Second},
		"WriteTimeout":      {s.WriteTimeout, 30 * time.Second},
		"IdleTimeout":       {s.IdleTimeout, 2 * time.Minute},
	} {
		if c.got != c.want {
			t.Errorf("%s is %s, want %s", name, c.got, c.want)
		}
	}
	srv := newServer(t, newEnv(t))
	for size, status := range map[int]int{15 << 10: 200, 21 << 10: 431} { // net/http adds 4 KiB
		if got := srv.raw("GET /livez HTTP/1.1\r\nHost: x\r\nA: " + strings.Repeat("a", size) + "\r\n\r\n").Status; got != status {
			t.Errorf("a head of %d bytes: %d, want %d", size, got, status)
		}
	}
}

// TestClientGone: a client that goes away ends the work for it.
func TestClientGone(t *testing.T) {
	e := newEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e.fake.Fails["Boards"] = context.Canceled
	r := (apitest.Ask{Method: "GET", Path: "/v1/boards"}).Request().WithContext(ctx)
	var status int
	e.api.shared.observer = observed{request: func(a RequestInfo) { status = a.Status }}
	e.api.ServeHTTP(discard{http.Header{}}, r)
	if status != 499 {
		t.Errorf("counted as %d", status)
	}
}

type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(b []byte) (int, error) { return len(b), nil }
func (d discard) WriteHeader(int)             {}
