package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestLoadCounts uses a server that refuses every other request: the load must distinguish answers from failures.
func TestLoadCounts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "1") {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write([]byte("answer"))
	}))
	defer server.Close()
	result := load{
		addrs: []string{strings.TrimPrefix(server.URL, "http://")}, conns: 2, length: 100 * time.Millisecond,
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
	if len(result.rejections) != int(result.refused) || result.broken() != nil {
		t.Errorf("%d rejections of %d have a time, broken: %v", len(result.rejections), result.refused, result.broken())
	}
	if good := result.perSecond() * result.took.Seconds(); int64(good+0.5) != result.answers-result.failed {
		t.Errorf("the rate counts %.0f of %d answers, %d failed", good, result.answers, result.failed)
	}
	if result.quantile(0) > result.quantile(0.5) || result.quantile(0.5) > result.quantile(1) || result.quantile(0.5) <= 0 {
		t.Error("quantiles are out of order")
	}
}

func TestLoadWithoutServer(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	addr := strings.TrimPrefix(server.URL, "http://")
	server.Close()
	result := load{addrs: []string{addr}, conns: 3, length: time.Second, request: func(_, _ int, buf []byte) []byte { return buf }}.run()
	if result.failed != 3 || result.firstFail == "" || result.broken() == nil {
		t.Errorf("%d failures, first %q", result.failed, result.firstFail)
	}
}

// TestLoadPaced asks two servers at a given rate; the latencies of the beginning do not count.
func TestLoadPaced(t *testing.T) {
	var asked [2]atomic.Int64
	var addrs []string
	for i := range asked {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked[i].Add(1)
			_, _ = w.Write([]byte("answer"))
		}))
		defer server.Close()
		addrs = append(addrs, strings.TrimPrefix(server.URL, "http://"))
	}
	const length = 400 * time.Millisecond
	result := load{addrs: addrs, conns: 4, length: length, rate: 100, warm: length / 2, request: topRequest(1)}.run()
	if result.failed > 0 || result.answers < 10 || result.answers > 60 {
		t.Errorf("%d answers in %s, %d failed; want 40", result.answers, result.took, result.failed)
	}
	if n := int64(len(result.latencies)); n == 0 || n >= result.answers {
		t.Errorf("%d latencies of %d answers", n, result.answers)
	}
	if a, b := asked[0].Load(), asked[1].Load(); a == 0 || b == 0 || a+b != result.answers {
		t.Errorf("%d and %d requests for %d answers", a, b, result.answers)
	}
}

// TestPace: the latency of a request that waited for the answer before it begins when it was due.
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
