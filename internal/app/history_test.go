package app

import (
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/testenv"
	"leaderboard/store/storetest/dbtest"
)

// TestHistoryIsNotCopied: a client that reads all closed periods of a board gets its answers, and causes neither builds of
// copies nor writes to the database.
func TestHistoryIsNotCopied(t *testing.T) {
	t.Parallel()
	const hours = 40
	var ahead atomic.Int64
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	a := startReady(t, dsn, redisURL, func(c *Config) {
		c.clock = dbtest.ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
	})
	a.Ask(201, "PUT", "/v1/boards/b", `{"windows":["hour"],"refresh":{"incremental":"1s"}}`)
	for hour := range hours {
		submit(a, "ada", hour)
		submit(a, "bob", 1000+hour)
		ahead.Add(int64(time.Hour))
	}
	a.Ask(200, "POST", "/v1/boards/b/rebuild?wait=30s", `{}`) // of the current hour
	client := redis.NewClient(redisOptions(t, redisURL))
	defer client.Close()
	rows := func() (n int64) {
		withDatabase(t, dsn, func(db *sql.DB) {
			if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM runs").Scan(&n); err != nil {
				t.Fatal(err)
			}
		})
		return n
	}
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	before := rows()

	periods := strings.Fields(a.Ask(200, "GET", "/v1/boards/b/periods?window=hour&limit=100", "").List("periods", "period"))[1:] // newest first
	if len(periods) != hours {
		t.Fatalf("%d closed periods, want %d", len(periods), hours)
	}
	var wg sync.WaitGroup
	for walker := range 4 {
		wg.Go(func() {
			for i, name := range periods {
				for _, path := range []string{"top?limit=" + fmt.Sprint(walker+2), "members/ada?mode=tied", "members/ada/around?after=" + fmt.Sprint(walker)} {
					status, body := a.Get("/v1/boards/b/" + path + "&window=hour&period=" + url.QueryEscape(name))
					want := fmt.Sprintf(`"score":%d,`, hours-1-i)
					if status != 200 || !strings.Contains(string(body), want) {
						t.Errorf("%s of %s: %d %s, want %s", path, name, status, body, want)
					}
				}
			}
		})
	}
	wg.Wait()
	keys, err := client.Keys(t.Context(), "lb:{*").Result()
	if err != nil || len(keys) != 0 {
		t.Errorf("%d keys in Redis, %v: %q", len(keys), err, keys)
	}
	if n := rows(); n != before {
		t.Errorf("%d runs are in the history, %d before the walk", n, before)
	}
}
