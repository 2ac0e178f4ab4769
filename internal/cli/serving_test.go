package cli

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"leaderboard/httpapi"
	"leaderboard/internal/app"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// serving starts a server in this process, on a new database, without Redis unless it is given one.
func serving(t *testing.T, redisURL ...string) *apptest.Server {
	t.Helper()
	cfg := app.Defaults()
	cfg.MySQLDSN, cfg.Listen, cfg.Migrate = testenv.MySQL(t), "127.0.0.1:0", true
	cfg.RedisURL = strings.Join(redisURL, "")
	cfg.Keys = []httpapi.SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: apptest.AdminKey}, {Scope: leaderboard.ScopeWrite, Secret: apptest.WriteKey}}
	a, err := app.New(t.Context(), cfg, app.NewLogger(t.Output(), &cfg))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), apptest.MaxWait)
		defer cancel()
		if err := a.Stop(ctx); err != nil {
			t.Errorf("stop: %s", err)
		}
	})
	s := &apptest.Server{T: t, URL: "http://" + a.Addr()}
	s.Await("/readyz", http.StatusOK)
	return s
}
