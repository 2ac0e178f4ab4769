package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fakeService is a world with a service that is this handler.
func fakeService(t *testing.T, handle http.HandlerFunc) *world {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return &world{
		options: options{members: minMembers, pace: 0.05, dir: t.TempDir()}, log: t.Output(),
		service: &service{addr: strings.TrimPrefix(server.URL, "http://"), pid: os.Getpid()},
	}
}

func sayState(w http.ResponseWriter, source string, seq int64, stale bool) {
	fmt.Fprintf(w, `{"board":"b","total":3,"seq":%d,"source":%q,"stale":%t,"entries":[]}`, seq, source, stale)
}

// TestAsk asks a slow service whose answers are stale now and then, and the bare handler.
func TestAsk(t *testing.T) {
	var n atomic.Int64
	w := fakeService(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond)
		sayState(w, "local", 7, n.Add(1)%3 == 0)
	})
	var here, bare side
	if err := w.measureBoth(t.Context(), topRequest(10), &here, &bare); err != nil {
		t.Fatal(err)
	}
	if len(here.rates) != readPairs || len(bare.rates) != readPairs || here.p50s[0] < 5*time.Millisecond || bare.p50s[0] <= 0 || ratioOf(here.rates, bare.rates) <= 0 {
		t.Errorf("a service that waits 5 ms beside a bare handler: %s, %s", &here, &bare)
	}
	if h := here.all; h.local != h.answers || h.stale < h.answers/3-1 || h.stale > h.answers/3+1 || h.failed != 0 {
		t.Errorf("%d of %d are stale, %d local, %d failed", h.stale, h.answers, h.local, h.failed)
	}
	if bare.all.failed != 0 || bare.all.answers == 0 {
		t.Errorf("the bare handler: %+v", bare.all)
	}
}

// TestAddRead: a machine that is ten times slower in the first round, which the ratios do not notice; and no goal of the
// rate is met with an answer that is stale or an error.
func TestAddRead(t *testing.T) {
	sides := func() (here, bare side) {
		ms := time.Millisecond
		here = side{rates: []float64{80, 800, 820}, cpus: []float64{30e3, 3e3, 3e3}, p50s: []time.Duration{ms}, p99s: []time.Duration{2 * ms}}
		bare = side{rates: []float64{100, 1000, 1000}, cpus: []float64{20e3, 2e3, 2e3}, p50s: []time.Duration{ms}, p99s: []time.Duration{4 * ms}}
		here.all = loadResult{answers: 2000, local: 1000}
		return here, bare
	}
	q := question{what: "top", rateGoal: "≥ 0.8", processorGoal: "≤ 1.15"}
	var rep report
	here, bare := sides()
	rep.addRead(&q, &here, &bare)
	const want = "| top | 800/s, 3.0 µs; p50 1 ms, p99 2 ms; 50 % from memory | 1,000/s, 2.0 µs | 0.80; ≥ 0.8; CPU 1.50; ≤ 1.15; missed |\n"
	if got := rep.table(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%swant the row\n%s", got, want)
	}
	for what, change := range map[string]func(*side){
		"rate": func(s *side) { s.rates = []float64{79, 790, 790} }, "stale": func(s *side) { s.all.stale = 1 }, "failures": func(s *side) { s.all.failed = 1 },
	} {
		here, bare := sides()
		change(&here)
		var rep report
		if rep.addRead(&q, &here, &bare); rep.rows[0].met != "no" {
			t.Errorf("%s: the goal is met", what)
		}
	}
}

// TestCrowd: rejections are counted, and no goal is met with them.
func TestCrowd(t *testing.T) {
	var n atomic.Int64
	w := fakeService(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		sayState(w, "mysql", 1, false)
	})
	var rep report
	if err := w.measureCrowd(&rep); err != nil {
		t.Fatal(err)
	}
	if r := rep.rows[0]; r.met != "no" || strings.Contains(r.here, " 0 refused") || !strings.Contains(r.here, " 0 other errors, 0 stale") {
		t.Errorf("%+v", r)
	}
}

// TestAwaitResident waits for a service that has the board after a while, and reports a service that never has.
func TestAwaitResident(t *testing.T) {
	start := time.Now()
	const loading = 100 * time.Millisecond
	var log strings.Builder
	w := fakeService(t, func(w http.ResponseWriter, _ *http.Request) {
		source := "mysql"
		if time.Since(start) > loading || time.Since(start)%3 == 0 { // some answers are always kept
			source = "local"
		}
		sayState(w, source, 1, false)
	})
	w.log = &log
	start = time.Now()
	if err := w.awaitResident(t.Context(), w.service); err != nil || time.Since(start) < loading/2 || log.Len() > 0 {
		t.Errorf("after %s: %v, says %q", time.Since(start), err, log.String())
	}
	start = time.Now().Add(time.Hour)
	w.pace = 0.002
	if err := w.awaitResident(t.Context(), w.service); err != nil || !strings.Contains(log.String(), "NOT in memory") {
		t.Errorf("a board that is in no memory: %v, says %q", err, log.String())
	}
}
