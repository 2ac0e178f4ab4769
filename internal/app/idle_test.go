package app

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"leaderboard/internal/apptest"
)

// TestIdleDerivedBoardsAreAskedTogether counts the statements of a server in which nothing happens: they are as many
// for 40 derived boards as for one, and a commit to a source is followed all the same.
func TestIdleDerivedBoardsAreAskedTogether(t *testing.T) {
	t.Parallel()
	dsn := standby(t)
	a := startReady(t, dsn, "")
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	const boards, length, most = 40, 2 * time.Second, 20 // statements a second
	a.Ask(201, "PUT", "/v1/boards/runs", `{"windows":["day"]}`)
	for i := range boards {
		a.Ask(201, "PUT", fmt.Sprint("/v1/boards/sum", i), `{"derive":{"from":[{"board":"runs"}],"last":"7d"}}`)
	}
	a.Ask(200, "POST", "/v1/boards/runs/scores", `{"entries":[{"member":"ada","score":10}]}`)
	asked := func() (n int64) {
		var name string
		if err := db.QueryRowContext(t.Context(), "SHOW GLOBAL STATUS LIKE 'Questions'").Scan(&name, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	apptest.Eventually(t, func() string {
		before := asked()
		time.Sleep(length)
		rate := float64(asked()-before) / length.Seconds()
		t.Logf("%.1f statements a second", rate)
		if rate > most {
			return fmt.Sprintf("%.0f statements a second for %d idle derived boards, want %d at most", rate, boards, most)
		}
		return ""
	})
	a.Ask(200, "POST", "/v1/boards/runs/scores", `{"entries":[{"member":"ada","score":25}]}`)
	for _, board := range []int{0, boards - 1} {
		apptest.Eventually(t, func() string {
			if score := fmt.Sprint(a.Ask(200, "GET", fmt.Sprintf("/v1/boards/sum%d/members/ada", board), "")["score"]); score != "25" {
				return "the score is " + score
			}
			return ""
		})
	}
}
