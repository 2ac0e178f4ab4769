package app

import (
	"errors"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestMetrics runs some traffic through an app and checks what its metrics count.
func TestMetrics(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), testenv.Redis(t), func(*Config) {})
	a.Ask(201, "PUT", "/v1/boards/classic", `{}`)
	a.Ask(200, "POST", "/v1/boards/classic/scores", classicEntries)
	a.Ask(200, "POST", "/v1/boards/classic/rebuild?wait=30s", `{}`)
	for range 3 {
		a.Ask(200, "GET", "/v1/boards/classic/top", "")
	}
	a.Ask(200, "GET", "/v1/boards/classic/distribution", "")
	a.Ask(404, "GET", "/v1/boards/nowhere/top", "")
	a.Ask(404, "GET", "/nothing/here", "")
	_, body := a.Get("/metrics")
	for _, want := range []string{
		`leaderboard_http_requests_total\{method="GET",route="/v1/boards/\{board\}/top",status="200"\} 3`,
		`leaderboard_http_requests_total\{method="GET",route="/v1/boards/\{board\}/top",status="404"\} 1`,
		`leaderboard_http_requests_total\{method="GET",route="",status="404"\} 1`,
		`leaderboard_http_request_duration_seconds_count\{method="POST",route="/v1/boards/\{board\}/scores"\} 1`,
		`leaderboard_commit_entries_sum 8`,
		`leaderboard_commit_requests_sum 1`,
		`leaderboard_commit_duration_seconds_count\{outcome="done"\} 1`,
		`leaderboard_answers_total\{source="redis"\} 1`,
		`leaderboard_answers_total\{source="local"\} 2`,
		`leaderboard_fallback_rejections_total 0`,
		`leaderboard_read_transactions_total [1-9]`, `leaderboard_read_scans_total 0`, `leaderboard_read_repeats_total 0`,
		`leaderboard_redis_breaker_open 0`,
		`leaderboard_streams_open 0`, `leaderboard_stream_events_total 0`, `leaderboard_stream_events_skipped_total 0`,
		`leaderboard_copy_lag_seq \d`, `leaderboard_copy_apply_failures_total \d`,
		`leaderboard_copy_lag_seconds \d`,
		`leaderboard_change_log_changes (NaN|\d)`, `leaderboard_change_log_overdue_seconds (NaN|\d)`,
		`leaderboard_rebuild_duration_seconds_count\{outcome="done"\} 1`,
		`leaderboard_run_duration_seconds_count\{kind="full",reason="admin",state="done"\} 1`,
		`leaderboard_build_info\{.*\} 1`,
		`go_goroutines \d`,
		`process_resident_memory_bytes \d`,
	} {
		if !regexp.MustCompile(`(?m)^` + want).Match(body) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(string(body), "nowhere") || strings.Contains(string(body), "classic") {
		t.Error("a name given by a client is a label")
	}
	if t.Failed() {
		t.Logf("%s", body)
	}
}

// TestOpsListener: metrics and profiles are served on the address of --ops-listen, and not on the address of the API.
func TestOpsListener(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "", func(c *Config) { c.OpsListen, c.PublicMetrics = "127.0.0.1:0", false })
	said := regexp.MustCompile(`"operations are served" addr=http://(\S+)`).FindStringSubmatch(a.log.String())
	if said == nil {
		t.Fatalf("no address of the operators in the log:\n%s", a.log)
	}
	ops := said[1]
	for path, want := range map[string]int{"/metrics": 404, "/debug/pprof/": 404, "/livez": 200, "/readyz": 200} {
		if status, _ := a.Get(path); status != want {
			t.Errorf("%s on the main address: %d", path, status)
		}
	}
	for path, want := range map[string]int{"/metrics": 200, "/debug/pprof/goroutine?debug=1": 200, "/debug/pprof/cmdline": 404, "/livez": 200, "/readyz": 200, "/v1/boards": 404} {
		if status, _ := (&apptest.Server{T: t, URL: "http://" + ops}).Get(path); status != want {
			t.Errorf("%s on the operators' address: %d", path, status)
		}
	}
}

// TestNoSecretInTheLog serves with secrets everywhere and reads the whole log.
func TestNoSecretInTheLog(t *testing.T) {
	const secret = "hunter2secret"
	a := startApp(t, "user:"+secret+"@tcp(127.0.0.1:1)/none", "redis://:"+secret+"@127.0.0.1:1/0", func(c *Config) {
		c.Keys = []httpapi.SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: secret}}
	})
	if status, body := a.Get("/readyz"); status != 503 || strings.Contains(string(body), secret) {
		t.Errorf("readyz: %d %s", status, body)
	}
	a.Get("/v1/boards/b/top")
	a.stop()
	log := a.log.String()
	if strings.Contains(log, secret) {
		t.Errorf("a secret is in the log:\n%s", log)
	}
	for _, want := range []string{"msg=serving", "mysql=127.0.0.1:1/none", "redis=127.0.0.1:1/0", "msg=stopped", "level=DEBUG msg=request"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in the log:\n%s", want, log)
		}
	}
}

// TestChangeLogGauges: a size that is not known yet is NaN.
func TestChangeLogGauges(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{false, true} {
		m := newMetrics()
		m.watchLog(func() (int64, time.Duration, bool) { return 7, 2 * time.Second, known })
		got := map[string]float64{}
		families, err := m.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			got[f.GetName()] = f.GetMetric()[0].GetGauge().GetValue()
		}
		changes, overdue := got["leaderboard_change_log_changes"], got["leaderboard_change_log_overdue_seconds"]
		if known && (changes != 7 || overdue != 2) || !known && (!math.IsNaN(changes) || !math.IsNaN(overdue)) {
			t.Errorf("known %t: %g changes, %g s overdue", known, changes, overdue)
		}
	}
}

func TestOutcomes(t *testing.T) {
	for want, err := range map[string]error{
		"done": nil, "unknown": errors.Join(leaderboard.ErrOutcomeUnknown, leaderboard.ErrUnavailable), "unavailable": leaderboard.ErrUnavailable,
		"failed": errors.New("else"),
	} {
		if got := features.Outcome(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	m := newMetrics()
	m.CopyBuilt(leaderboard.PeriodRef{}, leaderboard.CopyOutcome{Refused: true}, time.Second, nil)
	m.BatchEnded(2, 3, time.Minute, time.Second, leaderboard.ErrUnavailable)
	m.AnswerGiven(leaderboard.SourceLocal, true)
	m.BreakerTurned("", true)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range families {
		found[f.GetName()+" "+f.GetMetric()[0].String()] = true
	}
	for _, want := range []string{`"refused"`, `"unavailable"`} {
		ok := false
		for text := range found {
			ok = ok || strings.Contains(text, want)
		}
		if !ok {
			t.Errorf("no series with the outcome %s", want)
		}
	}
}

// BenchmarkRequestMetrics measures what counting adds to every request; it should not allocate.
func BenchmarkRequestMetrics(b *testing.B) {
	m := newMetrics()
	b.ReportAllocs()
	for b.Loop() {
		m.RequestAnswered(httpapi.RequestInfo{Route: "/v1/boards/{board}/top", Method: "GET", Status: 200, Took: time.Millisecond})
	}
}
