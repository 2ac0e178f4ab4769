package app

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestPageWithoutMySQL: while MySQL hangs, a board's page opens all the same, soon and with its title and its ranking, and says
// that it is stale.
func TestPageWithoutMySQL(t *testing.T) {
	t.Parallel()
	mysql := testenv.PrivateMySQL(t)
	dsn, err := mysql.CreateDatabase(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	a := startReady(t, dsn, testenv.Redis(t))
	a.Ask(201, "PUT", "/v1/boards/b", `{"title":"Board B"}`)
	a.Ask(200, "POST", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":77}]}`)
	page := func() string {
		began := time.Now()
		resp, err := http.Get(a.URL + "/boards/b")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			return resp.Status
		}
		t.Logf("%s after %s", resp.Status, time.Since(began))
		return string(body)
	}
	const stale = `<p class="state stale">Delayed;`
	if got := page(); !strings.Contains(got, "77") || strings.Contains(got, stale) {
		t.Fatalf("the page says\n%s", got)
	}
	if err := mysql.Pause(); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		if got := page(); !strings.Contains(got, "77") || !strings.Contains(got, stale) || !strings.Contains(got, "<title>Board B</title>") {
			return got
		}
		return ""
	})
	if err := mysql.Resume(); err != nil {
		t.Fatal(err)
	}
}
