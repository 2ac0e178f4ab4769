package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/cache"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/store"
)

// TestDeepReadsHoldNothingUp: deep reads use up all the connections that they may have. The readiness, the catalog, top pages and
// the feed have other connections, and continue to work.
func TestDeepReadsHoldNothingUp(t *testing.T) {
	t.Parallel()
	const readers = 128
	dsn := testenv.MySQL(t)
	a := startReady(t, dsn, testenv.Redis(t), func(c *Config) { c.ResidentMemory, c.ReadWait = 0, time.Second })
	a.Ask(201, "PUT", "/v1/boards/deep", `{"top_n":1}`)
	a.Ask(201, "PUT", "/v1/boards/unread", `{}`)
	entries := make([]string, 300)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"member":"m%d","score":%d}`, i, i)
	}
	a.Ask(200, "POST", "/v1/boards/deep/scores", `{"entries":[`+strings.Join(entries, ",")+`]}`)
	apptest.Eventually(t, func() string { // until the top page is in Redis, or kept here
		if _, body := a.Get("/v1/boards/deep/top?limit=1"); strings.Contains(string(body), `"source":"mysql"`) {
			return string(body)
		}
		return ""
	})
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	lock, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := lock.ExecContext(t.Context(), "LOCK TABLES entries WRITE"); err != nil {
		t.Fatal(err)
	}
	flood, stop := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	for i := range readers {
		asking.Go(func() {
			for n := 0; flood.Err() == nil; n++ {
				request, _ := http.NewRequestWithContext(flood, http.MethodGet, fmt.Sprintf("%s/v1/boards/deep/top?limit=1&offset=%d", a.URL, 150+(i*7+n)%140), nil)
				if res, err := http.DefaultClient.Do(request); err == nil {
					_ = res.Body.Close()
				}
			}
		})
	}
	apptest.Eventually(t, func() string {
		processes, err := testenv.Processes(t.Context(), db)
		waiting := 0
		for _, p := range processes {
			if strings.HasPrefix(p.State, "Waiting for table") {
				waiting++
			}
		}
		if err != nil || waiting < cache.FallbackConcurrent {
			return fmt.Sprintf("%d deep reads wait, %v", waiting, err)
		}
		return ""
	})
	for range 20 {
		for path, want := range map[string]string{
			"/readyz": `"mysql":"ok"`, "/livez": "ok", "/v1/boards": `"unread"`, "/v1/boards/unread": `"unread"`,
			"/v1/boards/deep/periods": "all_time", "/v1/boards/deep/top?limit=1": `"stale":false`,
		} {
			start := time.Now()
			status, body := a.Fresh(path)
			if missing := lacks(string(body), want); status != 200 || missing != "" {
				t.Errorf("%s: %d after %s, %s", path, status, time.Since(start), missing)
			}
		}
	}
	a.MostlyFresh()
	stop()
	asking.Wait()
	if _, err := lock.ExecContext(t.Context(), "UNLOCK TABLES"); err != nil {
		t.Error(err)
	}
}
