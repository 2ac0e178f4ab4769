package app

import (
	"testing"

	"leaderboard/httpapi"
	"leaderboard/internal/apptest"
)

// TestFilesAreKeptForOthers: of the files that the process may have open, clients get what all pools leave.
func TestFilesAreKeptForOthers(t *testing.T) {
	t.Parallel()
	limits := func(files int, redisURL string, change func(*Config)) (clients, others int) {
		cfg := Defaults()
		cfg.MySQLDSN, cfg.RedisURL = "user@tcp(127.0.0.1:1)/none", redisURL
		if change != nil {
			change(&cfg)
		}
		a, err := New(t.Context(), cfg, NewLogger(&apptest.Buffer{}, &cfg))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := a.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		others = otherFiles(&a.cfg, a.redis, a.redisBackground)
		return connLimits(&a.cfg, openFiles{files, others}, nil).All, others
	}
	const node = "redis://127.0.0.1:1/0?pool_size="
	_, plain := limits(0, "", nil)
	_, small := limits(0, node+"10", nil)
	_, large := limits(0, node+"510", nil)
	_, cluster := limits(0, "redis://127.0.0.1:1,127.0.0.1:2?cluster=true&pool_size=510", nil)
	_, mysql := limits(0, "", func(c *Config) { c.MySQLMaxConns += 300 })
	_, ops := limits(0, "", func(c *Config) { c.OpsListen = "127.0.0.1:0" })
	if small <= plain || large != small+500 || cluster <= large+500 || mysql != plain+300 || ops != plain+opsConns+httpapi.MaxLingering {
		t.Errorf("without Redis %d, with 10 connections %d, 510 %d, to two nodes %d; with 300 more to MySQL %d; with operations %d", plain, small, large, cluster, mysql, ops)
	}
	for files, want := range map[int]int{0: 8192, 1 << 20: 8192, plain + 100: 100, plain: 1, 1: 1} {
		if got, _ := limits(files, "", nil); got != want {
			t.Errorf("with %d files %d clients are served, want %d", files, got, want)
		}
	}
}
