package main

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestReadAnswer(t *testing.T) {
	stream := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello" + "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n" + "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
	r := bufio.NewReader(strings.NewReader(stream))
	for _, want := range []struct {
		status int
		body   string
	}{{200, "hello"}, {304, ""}, {503, ""}} {
		var body bytes.Buffer
		status, err := readAnswer(r, &body)
		if err != nil || status != want.status || body.String() != want.body {
			t.Errorf("got %d %q %v, want %d %q", status, body.String(), err, want.status, want.body)
		}
	}
	for _, bad := range []string{"", "HTTP\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"} {
		if _, err := readAnswer(bufio.NewReader(strings.NewReader(bad)), &bytes.Buffer{}); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

// TestLoadCounts has a server that refuses every other request: the load must tell answers from failures.
func TestLoadCounts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "1") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte("answer"))
	}))
	defer server.Close()
	result := load{
		addr: strings.TrimPrefix(server.URL, "http://"), conns: 2, length: 100 * time.Millisecond,
		request: func(_, i int, buf []byte) []byte {
			return append(buf, []string{"GET /0 HTTP/1.1\r\nHost: x\r\n\r\n", "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"}[i%2]...)
		},
	}.run()
	if result.answers < 4 || len(result.latencies) != int(result.answers) {
		t.Fatalf("%d answers, %d latencies", result.answers, len(result.latencies))
	}
	if diff := result.answers - 2*result.failed; diff < 0 || diff > 2 { // each connection may end on a good answer
		t.Errorf("%d of %d answers counted as failures", result.failed, result.answers)
	}
	if result.firstFail != "status 503" {
		t.Errorf("the first failure is %q", result.firstFail)
	}
	if result.quantile(0) > result.quantile(0.5) || result.quantile(0.5) > result.quantile(1) || result.mean() <= 0 {
		t.Error("quantiles are out of order")
	}
}

func TestLoadWithoutServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	addr := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	result := load{addr: addr, conns: 3, length: time.Second, request: func(_, _ int, buf []byte) []byte { return buf }}.run()
	if result.failed != 3 || result.firstFail == "" {
		t.Errorf("%d failures, first %q", result.failed, result.firstFail)
	}
}
