package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"leaderboard/leaderboard"
)

// TestAnswersAreSentWhole: on a connection that stays open, answers of all sizes arrive complete, also to HEAD, and answers that
// net/http would send in two pieces come in one.
func TestAnswersAreSentWhole(t *testing.T) {
	e := newEnv(t)
	entries := make([]leaderboard.Submission, 700)
	for i := range entries {
		entries[i] = leaderboard.Submission{Member: fmt.Sprintf("member-%d", i), Score: int64(i)}
	}
	e.Board("b", leaderboard.Rules{}, entries...)
	srv := newServer(t, e)
	conn := srv.open("")
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	whole := 0
	for limit := 1; limit <= 700; limit += 1 + limit/10 {
		path := fmt.Sprintf("/v1/boards/b/top?limit=%d", limit)
		want := e.Get("", path).Body
		for _, method := range []string{"GET", "HEAD"} {
			before := segmentsOf(t, conn)
			fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, path)
			res, err := http.ReadResponse(in, &http.Request{Method: method})
			if err != nil {
				t.Fatalf("%s of %d entries: %s", method, limit, err)
			}
			body, err := io.ReadAll(res.Body)
			if err != nil || int(res.ContentLength) != len(want) || method == "GET" && string(body) != string(want) {
				t.Fatalf("%s of %d entries: %v, a body of %d bytes, announced %d; want %d", method, limit, err, len(body), res.ContentLength, len(want))
			}
			// Half of a window is the most that Linux puts into one segment.
			if n := segmentsOf(t, conn) - before; method == "GET" && len(want) > httpBuffer && len(want) < 3*httpBuffer {
				if whole++; n != 1 {
					t.Errorf("%d bytes come in %d pieces", len(want), n)
				}
			}
		}
	}
	if whole < 5 {
		t.Errorf("%d answers of that size", whole)
	}
}

// segmentsOf returns how many segments with data have come on a connection.
func segmentsOf(t *testing.T, conn net.Conn) uint32 {
	t.Helper()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var info *unix.TCPInfo
	if failed := raw.Control(func(fd uintptr) { info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) }); failed != nil || err != nil {
		t.Fatal(failed, err)
	}
	return info.Data_segs_in
}
