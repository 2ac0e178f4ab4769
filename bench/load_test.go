package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

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
	if result.firstFail != "status 503" || result.refused != result.failed || result.failure() == nil {
		t.Errorf("the first failure is %q, %d of %d are refusals", result.firstFail, result.refused, result.failed)
	}
	if good := result.perSecond() * result.took.Seconds(); int64(good+0.5) != result.answers-result.failed {
		t.Errorf("the rate counts %.0f of %d answers, %d failed", good, result.answers, result.failed)
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

// TestLoadPaced asks at a given rate until it is stopped, long before its time.
func TestLoadPaced(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("answer")) }))
	defer server.Close()
	stop := make(chan struct{})
	time.AfterFunc(400*time.Millisecond, func() { close(stop) })
	result := load{
		addr: strings.TrimPrefix(server.URL, "http://"), conns: 4, length: time.Minute, rate: 100, stop: stop, request: always([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")),
	}.run()
	if result.failed > 0 || result.answers < 10 || result.answers > 60 || result.took > 20*time.Second {
		t.Errorf("%d answers in %s, %d failed; want 40", result.answers, result.took, result.failed)
	}
}

// TestPace: what waited for the answer before it began when it was due.
func TestPace(t *testing.T) {
	l := load{rate: 1000}
	start := time.Now().Add(-time.Second)
	late := start.Add(500 * time.Millisecond)
	if got := l.pace(start, late, 100); !got.Equal(start.Add(100 * time.Millisecond)) {
		t.Errorf("began %s after the start, want 100 ms", got.Sub(start))
	}
	if got := l.pace(start, start, 100); time.Since(got) > 500*time.Millisecond {
		t.Error("a request that nothing held up counts from when it was due")
	}
}
