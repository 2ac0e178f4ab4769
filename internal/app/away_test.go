package app

import (
	"fmt"
	"strings"
	"testing"

	"leaderboard/internal/testenv"
)

// TestVerifyWithoutRedis: when Redis does not answer, a comparison fails with a problem that names Redis, not with a 500.
func TestVerifyWithoutRedis(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	a := startReady(t, testenv.MySQL(t), server.URL)
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	submit(a, "ada", 10)
	a.Ask(200, "POST", "/v1/boards/b/rebuild?wait=30s", `{}`)
	a.Ask(200, "GET", "/v1/boards/b/verify", "")
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if r := fmt.Sprint(a.Ask(503, "GET", "/v1/boards/b/verify", "")); !strings.Contains(r, "/problems/unavailable") || !strings.Contains(r, string(errRedisAway)) {
		t.Errorf("verify without Redis: %s", r)
	}
}
