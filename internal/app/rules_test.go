package app

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
)

// TestUnknownZone: the time zone of a board is in the files of another server but not of this server. Existing periods are read.
// Requests that need the zone, and all writes but hiding and erasing, are unknown-rule; other boards named in the same request are
// answered as ever. /readyz and a metric count the board, even if nobody has read it.
func TestUnknownZone(t *testing.T) {
	onDatabases(t, func(t *testing.T, dsn string) {
		setup := startReady(t, dsn, "")
		for _, board := range []string{"far", "near", "unread"} {
			setup.Ask(201, "PUT", "/v1/boards/"+board, `{"windows":["all_time","day"],"time_zone":"Europe/Berlin"}`)
			setup.Ask(200, "POST", "/v1/boards/"+board+"/scores", `{"entries":[{"member":"ada","score":5}]}`)
		}
		setup.Ask(201, "PUT", "/v1/boards/sum", `{"derive":{"from":[{"board":"far","window":"day"},{"board":"near"}]}}`)
		sum := func(a *testApp) string {
			_, body := a.Get("/v1/boards/sum/members/ada")
			if strings.Contains(string(body), `"score":10,`) {
				return ""
			}
			return string(body)
		}
		apptest.Eventually(t, func() string { return sum(setup) })
		setup.stop()
		const lose = "UPDATE boards SET rules = JSON_SET(rules, '$.time_zone', 'Custom/New'), version = version + 1 WHERE name IN ('far', 'unread')"
		db, err := sql.Open("mysql", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), lose); err != nil {
			t.Fatal(err)
		}
		a := startReady(t, dsn, "")
		apptest.Eventually(t, func() string {
			_, ready := a.Get("/readyz")
			_, metrics := a.Get("/metrics")
			if !strings.Contains(string(ready), "derived of such a board: 3") || !strings.Contains(string(metrics), "leaderboard_boards_unknown_rule 3\n") {
				return string(ready)
			}
			return ""
		})
		for _, path := range []string{"/top", "/top?window=day", "/members/ada?window=day", "", "/periods", "/members/ada/history?window=day"} {
			if status, body := a.Get("/v1/boards/far" + path); status != http.StatusOK {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		for _, path := range []string{"/top?window=day&period=previous", "/top?window=day&period=2026-01-01"} {
			if status, body := a.Get("/v1/boards/far" + path); status != http.StatusServiceUnavailable || !strings.Contains(string(body), "unknown-rule") {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		a.Ask(503, "POST", "/v1/boards/far/scores", `{"entries":[{"member":"ada","score":6}]}`)
		a.Ask(503, "PATCH", "/v1/boards/far", `{"title":"Far"}`)
		a.Ask(503, "POST", "/v1/scores", `{"atomic":true,"entries":[{"board":"far","member":"ada","score":6},{"board":"near","member":"ada","score":6}]}`)
		both := a.Ask(200, "POST", "/v1/scores", `{"entries":[{"board":"far","member":"ada","score":6},{"board":"near","member":"ada","score":7}]}`)
		if said := fmt.Sprint(both); !strings.Contains(said, "unknown-rule") || !strings.Contains(said, "applied") {
			t.Errorf("both boards: %s", said)
		}
		for path, want := range map[string]string{
			"/v1/members/ada/standings?boards=far,near&window=day":                 `"board":"far"`,
			"/v1/members/ada/standings?boards=far,near&window=day&period=previous": `"absent":["far"]`,
		} {
			if status, body := a.Get(path); status != http.StatusOK || !strings.Contains(string(body), want) {
				t.Errorf("%s: %d %s", path, status, body)
			}
		}
		if said := fmt.Sprint(a.Ask(200, "GET", "/v1/status", "")); !strings.Contains(said, "far") || strings.Contains(said, "stale:true") {
			t.Errorf("status: %s", said)
		}
		if said := sum(a); said != "" {
			t.Errorf("a derived board whose source's zone is not known has %s", said)
		}
		far := func() int {
			status, _ := a.Get("/v1/boards/far/members/ada?window=day")
			return status
		}
		a.Ask(200, "PUT", "/v1/members/ada/hidden", `{"reason":"aimbot"}`)
		apptest.Eventually(t, func() string { return unless(far() == 404, "a member that is hidden everywhere is shown") })
		a.Ask(204, "DELETE", "/v1/members/ada/hidden", "")
		apptest.Eventually(t, func() string { return unless(far() == 200, "a member that is shown again is not there") })
		a.Ask(204, "DELETE", "/v1/members/ada", "")
		apptest.Eventually(t, func() string { return unless(far() == 404, "an erased member is there") })
	})
}

// unless returns wrong if well is false.
func unless(well bool, wrong string) string {
	if well {
		return ""
	}
	return wrong
}
