package app

import (
	"net/http"
	"testing"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestUnknownBoardIsMadeElsewhere: a server has just learned that no board has a name. It finds the board of that name that
// another server makes.
func TestUnknownBoardIsMadeElsewhere(t *testing.T) {
	t.Parallel()
	dsn, redis := testenv.MySQL(t), testenv.Redis(t)
	a, b := startReady(t, dsn, redis), startReady(t, dsn, redis)
	paths := []string{"/v1/boards/late/top", "/v1/boards/late", "/v1/boards/late/periods", "/v1/boards/late/sources"}
	for range 5 {
		for _, path := range paths {
			if status, body := b.Get(path); status != http.StatusNotFound {
				t.Fatalf("%s: %d %s", path, status, body)
			}
		}
	}
	a.Ask(201, "PUT", "/v1/boards/late", `{}`)
	for _, path := range paths[:3] {
		apptest.Eventually(t, func() string {
			if status, body := b.Get(path); status != http.StatusOK {
				return string(body)
			}
			return ""
		})
	}
}
