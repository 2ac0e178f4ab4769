package httpapi

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// limited is newServer within limits.
func limited(t *testing.T, e *env, limits ConnLimits) *server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, done := Server("", e.api), make(chan error, 1)
	go func() { done <- s.Serve(Listener(l, limits)) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; err != http.ErrServerClosed { //nolint:errorlint // it is what Serve returns
			t.Error(err)
		}
	})
	return &server{env: e, addr: l.Addr().String(), client: &http.Client{Transport: &http.Transport{}}}
}

// TestTooManyConnections: a connection beyond the limit gets its answer at once, whatever it sends, and there is room again when
// others leave. Connections of this machine have no limit per address.
func TestTooManyConnections(t *testing.T) {
	refused := make(chan bool, 100)
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	srv := limited(t, e, ConnLimits{All: 3, PerAddress: 1, Observer: observed{refused: func() { refused <- true }}})
	const get = "GET /v1/boards/b/top HTTP/1.1\r\nHost: x\r\n\r\n"
	conns := []net.Conn{srv.open(get), srv.open(get), srv.open(get)}
	for _, conn := range conns {
		if res, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || res.StatusCode != 200 {
			t.Fatalf("within the limit: %v, %v", res, err)
		}
	}
	for _, text := range []string{get, "", "nonsense", announced("/v1/boards/b/scores", apitest.WriteKey, 1<<20) + strings.Repeat(" ", 1<<20)} {
		conn, err := net.Dial("tcp", srv.addr)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(conn, text) }()
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%.20q: %s", text, err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		apitest.Reply{T: t, Status: res.StatusCode, Header: res.Header, Body: body}.WantProblem(503, wire.CodeOverloaded)
		if !res.Close {
			t.Error("the connection stays")
		}
		<-refused
		_ = conn.Close()
	}
	_ = conns[0].Close()
	await(t, "there is room again", func() bool {
		res, err := http.ReadResponse(bufio.NewReader(srv.open(get)), nil)
		return err == nil && res.StatusCode == 200
	})
}

// TestDoors: the limits of connections by address; no count is left after all connections end.
func TestDoors(t *testing.T) {
	d := connCount{from: map[netip.Addr]int{}, limits: ConnLimits{All: 20, PerAddress: 2, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}}
	var in []netip.Addr
	for address, most := range map[string]int{
		"192.0.2.1": 2, "192.0.2.2": 2, "::ffff:192.0.2.3": 2, "10.1.2.3": 4, "127.0.0.1": 4, "::1": 4, "2001:db8::1": 2, "fe80::1%eth0": 2,
	} {
		from := guard.ClientOf(netip.MustParseAddr(address))
		for i := range 4 {
			entered := d.enter(from)
			if entered {
				in = append(in, from)
			}
			if len(in) < d.limits.All && entered != (i < most) {
				t.Errorf("connection %d from %s: let in is %t", i+1, address, entered)
			}
		}
		for range min(most, 4) { // so that the limit of the process does not decide
			if len(in) > 0 && in[len(in)-1] == from {
				d.leave(from)
				in = in[:len(in)-1]
			}
		}
	}
	if guard.ClientOf(netip.MustParseAddr("2001:db8::1")) != guard.ClientOf(netip.MustParseAddr("2001:db8::ffff:1")) {
		t.Error("addresses of one network are taken for several clients")
	}
	for range 3 * d.limits.All {
		d.enter(netip.MustParseAddr("127.0.0.1"))
	}
	if d.all != d.limits.All {
		t.Errorf("%d connections, want %d", d.all, d.limits.All)
	}
	d.limits.Own = 1
	if d.enter(netip.MustParseAddr("192.0.2.1")) || !d.enter(netip.MustParseAddr("127.0.0.1")) || d.enter(netip.MustParseAddr("127.0.0.1")) {
		t.Error("one more connection is not let in from this machine alone")
	}
	for range d.limits.All + d.limits.Own {
		d.leave(netip.MustParseAddr("127.0.0.1"))
	}
	if d.all != 0 || len(d.from) != 0 {
		t.Errorf("%d connections and %v are left", d.all, d.from)
	}
}

// TestRefusedOverTLS: who could not read an answer gets none.
func TestRefusedOverTLS(t *testing.T) {
	srv := limited(t, newEnv(t), ConnLimits{All: 1, TLS: true})
	srv.open("")
	second := srv.open("")
	if err := second.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(second); len(said) > 0 || err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("%q, %v", said, err)
	}
}

// TestRefusedConnectionsEnd: a refused client that takes no notice is cut off.
func TestRefusedConnectionsEnd(t *testing.T) {
	srv := limited(t, newEnv(t), ConnLimits{All: 1})
	first := srv.open("")
	defer first.Close()
	for range 2 * MaxLingering {
		srv.open("")
	}
	last := srv.open("")
	if err := last.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, last); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}
