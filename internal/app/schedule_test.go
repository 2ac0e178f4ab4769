package app

import (
	"strings"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// TestNewBoardIsCaughtUpWith: the copy of a new board lacks a commit that no server wrote through. It catches up by the
// schedule in the board's rules while the board is read.
func TestNewBoardIsCaughtUpWith(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	a := startReady(t, dsn, testenv.Redis(t))
	a.Ask(201, "PUT", "/v1/boards/b", `{"refresh":{"incremental":"1s"}}`)
	submit(a, "ada", 10)
	a.Ask(200, "POST", "/v1/boards/b/rebuild?wait=30s", `{}`)
	began := time.Now()
	s, err := store.Open(t.Context(), store.Config{DSN: dsn})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries := []leaderboard.Submission{{Member: "bob", Score: 20}}
	if _, err := s.Writer.Submit(t.Context(), leaderboard.SubmitRequest{Board: "b", Entries: entries}); err != nil {
		t.Fatal(err)
	}
	// The copy must not be read until then: a read would have it caught up.
	apptest.Eventually(t, func() string {
		if runs := a.Ask(200, "GET", "/v1/runs?board=b", "").List("runs", "reason"); !strings.Contains(runs, "schedule") {
			return "no scheduled run in " + runs
		}
		return differs(a, "bob", 20, 1)
	})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the first scheduled refresh came after %s, want it within two intervals of 1s", took)
	}
}
