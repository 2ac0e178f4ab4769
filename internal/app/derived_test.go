package app

import (
	"net/http"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestDerivedServed: a derived board made through one server follows its sources, whichever server accepts the scores. When the
// leading server stops, the other one takes over.
func TestDerivedServed(t *testing.T) {
	t.Parallel()
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	first := startReady(t, dsn, redisURL)
	first.Ask(http.StatusCreated, http.MethodPut, "/v1/boards/runs", `{"policy":"sum","windows":["day"]}`)
	first.Ask(http.StatusCreated, http.MethodPut, "/v1/boards/rides", `{"policy":"sum"}`)
	first.Ask(http.StatusCreated, http.MethodPut, "/v1/boards/sport", `{"derive":{"last":"7d","from":[{"board":"runs"}]}}`)
	first.Ask(http.StatusCreated, http.MethodPut, "/v1/boards/all", `{"derive":{"from":[{"board":"runs"},{"board":"rides","weight":10}]}}`)
	second := startReady(t, dsn, redisURL)
	second.Ask(http.StatusOK, http.MethodPost, "/v1/boards/runs/scores", `{"entries":[{"member":"ada","score":5}]}`)
	shows := func(a *testApp, board, want string) {
		t.Helper()
		apptest.Eventually(t, func() string {
			top := a.Ask(http.StatusOK, http.MethodGet, "/v1/boards/"+board+"/top", "")
			if got := top.List("entries", "member") + " " + top.List("entries", "score"); got != want {
				return "the top of " + board + " is " + got + ", not " + want
			}
			return ""
		})
	}
	for _, a := range []*testApp{first, second} {
		shows(a, "sport", "ada 5")
		shows(a, "all", "ada 5")
	}
	first.Ask(http.StatusOK, http.MethodPost, "/v1/boards/rides/scores", `{"entries":[{"member":"ada","score":1},{"member":"bob","score":3}]}`)
	shows(second, "all", "bob ada 30 15")
	first.stop()
	second.Ask(http.StatusOK, http.MethodPost, "/v1/boards/runs/scores", `{"entries":[{"member":"bob","score":4}]}`)
	shows(second, "all", "bob ada 34 15")
	run := second.Ask(http.StatusOK, http.MethodPost, "/v1/boards/all/rebuild?wait=30s", `{"kind":"recompute"}`)
	if run.Text("state") != "done" || run.Text("kind") != "recompute" || run.Text("rows") != "0" {
		t.Errorf("computed anew: %v", run)
	}
	verified := second.Ask(http.StatusOK, http.MethodGet, "/v1/boards/all/verify?against=sources", "")
	if verified.Text("equal") != "true" || verified.Text("checked") != "2" {
		t.Errorf("verified: %v", verified)
	}
	if status, metrics := second.Get("/metrics"); status != http.StatusOK || !strings.Contains(string(metrics), "leaderboard_derived_lag_seconds") {
		t.Errorf("metrics: %d", status)
	}
}
