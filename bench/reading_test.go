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

// TestMain lets the test program be the bare handler too, which the benchmark runs itself as.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "-bare" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// fakeService is a world with a service that is this handler.
func fakeService(t *testing.T, handle http.HandlerFunc) *world {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return &world{
		options: options{members: minMembers, pace: 0.05, pairs: 2, dir: t.TempDir()},
		service: &service{addr: strings.TrimPrefix(server.URL, "http://"), pid: os.Getpid()},
	}
}

func sayState(w http.ResponseWriter, source string, seq int64, stale bool) {
	fmt.Fprintf(w, `{"board":"b","total":3,"seq":%d,"source":%q,"stale":%t,"entries":[]}`, seq, source, stale)
}

// TestMeasureReading asks a slow service whose answers are stale now and then, beside the bare handler.
func TestMeasureReading(t *testing.T) {
	var n atomic.Int64
	w := fakeService(t, func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(5 * time.Millisecond)
		sayState(w, "local", 7, n.Add(1)%3 == 0)
	})
	q := question{"top", topRequest(10), goals{ratio: 0.9}}
	r, err := w.measureReading(t.Context(), &q, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r.Pairs != 2 || r.Ratio <= 0 || r.Here.P50 < 5*time.Millisecond || r.Bare.P50 <= 0 || r.Bare.Answers == 0 {
		t.Errorf("a service that waits 5 ms beside a bare handler: %+v", r)
	}
	if h := r.Here; h.Local != h.Answers || h.Stale < h.Answers/3-1 || h.Stale > h.Answers/3+1 || h.Failed != 0 {
		t.Errorf("%d of %d are stale, %d local, %d failed", h.Stale, h.Answers, h.Local, h.Failed)
	}
	if r.Bare.Failed != 0 || r.Met != "no" {
		t.Errorf("bare: %+v, met: %s", r.Bare, r.Met)
	}
}

// TestReadingOf: a machine that is ten times slower in the first round; the ratios do not notice.
func TestReadingOf(t *testing.T) {
	round := func(answers int64, cpu, p50, p99 time.Duration) slice {
		latencies := make([]time.Duration, 100)
		for i := range latencies {
			latencies[i] = p50
		}
		latencies[99] = p99
		return slice{loadResult: &loadResult{answers: answers, took: time.Second, latencies: latencies, stale: 1}, cpu: cpu}
	}
	r := readingOf(
		[]slice{round(80, 300, 20, 60), round(800, 30, 2, 6), round(820, 30, 2, 6)},
		[]slice{round(100, 200, 10, 20), round(1000, 20, 1, 2), round(1000, 20, 1, 2)},
	)
	if r.Ratio != 0.8 || r.CPURatio != 1.5 || r.TailRatio != 1.5 || r.Here.Rate != 800 || r.Bare.CPU != 20 || r.Here.Stale != 3 || r.Here.Answers != 1700 {
		t.Errorf("got %+v", r)
	}
}

func TestGoals(t *testing.T) {
	g := goals{ratio: 0.9, cpu: 1.15, tail: 1.5}
	if got := g.String(); got != "≥ 0.9, CPU ≤ 1.15, p99/p50 ≤ 1.5, 0 stale" {
		t.Error(got)
	}
	if got := (goals{ratio: 0.05}).String(); got != "≥ 0.05, 0 stale" {
		t.Error(got)
	}
	good := reading{Ratio: 0.9, CPURatio: 1.15, TailRatio: 1.5}
	if !g.met(&good) {
		t.Error("goals that are just met are not")
	}
	for what, change := range map[string]func(*reading){
		"ratio": func(r *reading) { r.Ratio = 0.89 }, "CPU": func(r *reading) { r.CPURatio = 1.16 }, "tail": func(r *reading) { r.TailRatio = 1.51 },
		"stale": func(r *reading) { r.Here.Stale = 1 }, "failures": func(r *reading) { r.Here.Failed = 1 },
	} {
		bad := good
		if change(&bad); g.met(&bad) {
			t.Errorf("the goal of %s is met", what)
		}
	}
}

func TestWriteReadings(t *testing.T) {
	var out strings.Builder
	writeReadings(&out, []reading{{
		What: "top", Ratio: 0.5, CPURatio: 2, TailRatio: 3, Goal: "≥ 0.9", Met: "no",
		Here: side{Rate: 1234, CPU: 20 * time.Microsecond, P50: time.Millisecond, P99: 2 * time.Millisecond, Answers: 2000, Stale: 3, Local: 1000, Refused: 4, Failed: 5},
		Bare: side{Rate: 2468, CPU: 10 * time.Microsecond, P50: time.Millisecond, P99: 4 * time.Millisecond, Answers: 4000},
	}})
	const want = "| top | 1,234/s | 2,468/s | 0.50 | 20.0 µs | 10.0 µs | 2.00 | 1 ms, 2 ms | 1 ms, 4 ms | 3.00 | 50 % | 3 of 2,000 | 4, 1 | ≥ 0.9 | no |\n"
	lines := strings.SplitAfter(out.String(), "\n")
	if len(lines) != 4 || lines[2] != want || strings.Count(lines[0], "|") != strings.Count(want, "|") || strings.Count(lines[1], "|") != strings.Count(want, "|") {
		t.Errorf("got\n%swant the row\n%s", out.String(), want)
	}
}

// TestOverload: rejections are counted, and no goal is met with them.
func TestOverload(t *testing.T) {
	var n atomic.Int64
	w := fakeService(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		sayState(w, "mysql", 1, false)
	})
	var rep report
	if err := w.measureCrowd(&rep, t.Output()); err != nil {
		t.Fatal(err)
	}
	if r := rep.rows[0]; r.Met != "no" || strings.Contains(r.Here, " 0 refused") || !strings.Contains(r.Here, " 0 other errors, 0 stale") {
		t.Errorf("%+v", r)
	}
}

// TestAwaitResident waits for a service that has the board after a while, and for one that never has.
func TestAwaitResident(t *testing.T) {
	start := time.Now()
	const loading = 100 * time.Millisecond
	w := fakeService(t, func(w http.ResponseWriter, _ *http.Request) {
		source := "mysql"
		if time.Since(start) > loading || time.Since(start)%3 == 0 { // some answers are always kept
			source = "local"
		}
		sayState(w, source, 1, false)
	})
	start = time.Now()
	took, ok, err := w.awaitResident(t.Context(), "b", minMembers, time.Minute)
	if err != nil || !ok || took < loading/2 || took > 50*loading {
		t.Errorf("took %s, %t, %v, want %s", took, ok, err, loading)
	}
	start = time.Now().Add(time.Hour)
	if _, ok, err := w.awaitResident(t.Context(), "b", minMembers, 50*time.Millisecond); ok || err != nil {
		t.Errorf("a board that is not resident is: %t, %v", ok, err)
	}
}

func TestLoadTimeIn(t *testing.T) {
	got, err := loadTimeIn(strings.NewReader("# HELP leaderboard_resident_load_duration_seconds Time\n" +
		"leaderboard_resident_load_duration_seconds_bucket{result=\"done\",le=\"1\"} 1\n" +
		"leaderboard_resident_load_duration_seconds_sum{result=\"done\"} 1.5\nleaderboard_resident_load_duration_seconds_sum{result=\"failed\"} 0.25\n"))
	if err != nil || got != 1750*time.Millisecond {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestLoadingRow: a board that became resident in some rounds only is not loaded.
func TestLoadingRow(t *testing.T) {
	w := &world{options: options{members: 500_000}}
	rounds := []loaded{{visible: 3 * time.Second, itself: 1900 * time.Millisecond}, {visible: 4 * time.Second, itself: 2 * time.Second}, {visible: 5 * time.Second, itself: 2100 * time.Millisecond}}
	if r := w.loadingRow("alone", aloneGoal, rounds); r.Met != "yes" || r.Here != "2.00 s; answers from memory 4.00 s after the first read" {
		t.Errorf("%+v", r)
	}
	rounds[0].itself = 2200 * time.Millisecond // per million: 4.2 s
	if r := w.loadingRow("alone", aloneGoal, rounds); r.Met != "no" {
		t.Errorf("%+v", r)
	}
	if r := w.loadingRow("alone", aloneGoal, rounds[:2]); r.Met != "no" || !strings.Contains(r.Here, "not within 40 s") {
		t.Errorf("%+v", r)
	}
}

func TestStructureRows(t *testing.T) {
	const out = `goos: linux
BenchmarkRankBySize/strict-2         	      15	 357378228 ns/op	       538.6 ns/rank-of-10000	      2704 ns/rank-of-1000000	      3560 ns/rank-of-5000000	         5.523 ratio
BenchmarkRankBySize/dense            	      15	 426593948 ns/op	       600 ns/rank-of-10000	      3071 ns/rank-of-1000000	      1200 ns/rank-of-5000000	         2.000 ratio
PASS
`
	var rep report
	rows, err := structureRows([]byte(out))
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		rep.add(r)
	}
	if r := rep.rows[0]; r.What != "strict rank of a random member of 5,000,000" || r.Here != "3.56 µs" || r.Yardstick != "of 10,000: 0.54 µs" || r.Ratio != 5.523 || r.Met != "no" {
		t.Errorf("%+v", r)
	}
	if r := rep.rows[1]; !strings.HasPrefix(r.What, "dense ") || r.Met != "yes" {
		t.Errorf("%+v", r)
	}
	for _, bad := range []string{"PASS", "BenchmarkRankBySize/strict-2 15 3 ns/op"} {
		if _, err := structureRows([]byte(bad)); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}
