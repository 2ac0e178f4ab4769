package app

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestOneBoardCannotBeLookedUp: a lock on one board at its rollover to a new hour holds up the readers of that hour only. Its
// other periods and other boards are answered as before.
func TestOneBoardCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	dsn := testenv.MySQL(t)
	a := startReady(t, dsn, testenv.Redis(t), func(c *Config) {
		c.clock = dbtest.ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
	})
	for name, windows := range map[string]string{"free": `["all_time"]`, "locked": `["all_time","hour"]`} {
		a.Ask(201, "PUT", "/v1/boards/"+name, `{"windows":`+windows+`}`)
		a.Ask(200, "POST", "/v1/boards/"+name+"/scores", `{"entries":[{"member":"ada","score":1}]}`)
	}
	top := func(board string) string {
		status, body := a.Get("/v1/boards/" + board + "/top")
		return fmt.Sprint(status, " ", string(body))
	}
	const fresh = `"stale":false`
	for _, board := range []string{"free", "locked"} {
		apptest.Eventually(t, func() string { return lacks(top(board), fresh) })
	}
	db, err := store.Connect(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "SELECT id FROM boards WHERE name = 'locked' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(time.Hour))
	hour := func() string {
		status, body := a.Get("/v1/boards/locked/top?window=hour")
		return fmt.Sprint(status, " ", string(body))
	}
	apptest.Eventually(t, func() string { return lacks(hour(), "503 ") })
	reads, marked := 0, 0
	for range 100 {
		for _, board := range []string{"free", "locked"} {
			reads++
			if lacks(top(board), fresh) != "" {
				marked++ // on a machine so busy that the feed is late
			}
		}
	}
	if marked > reads/4 { // were they held by the lock, all would be
		t.Errorf("%d of %d answers were stale that the lock is not in the way of", marked, reads)
	}
	if got := hour(); lacks(got, "503 ") != "" {
		t.Errorf("the hour that cannot be begun: %s", got)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string { return lacks(hour(), "200 ") })
}

func lacks(text, want string) string {
	if strings.Contains(text, want) {
		return ""
	}
	return want + " is not in " + text
}

// TestColdServerWithoutMySQL: a server that starts while the database refuses or hangs answers from the copies in Redis, marked
// stale, to callers that may read the board.
func TestColdServerWithoutMySQL(t *testing.T) {
	t.Parallel()
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	first := startReady(t, dsn, redisURL)
	for board, visibility := range map[string]string{"open": "public", "secret": "private", "hidden-later": "public", "unread": "public"} {
		first.Ask(201, "PUT", "/v1/boards/"+board, `{"visibility":"`+visibility+`"}`)
		first.Ask(200, "POST", "/v1/boards/"+board+"/scores", `{"entries":[{"member":"ada","score":7},{"member":"bob","score":9}]}`)
		if board != "unread" {
			first.Ask(200, "POST", "/v1/boards/"+board+"/rebuild?wait=30s", `{}`)
		}
	}
	client := redis.NewClient(redisOptions(t, redisURL))
	defer client.Close()
	apptest.Eventually(t, func() string {
		if n := client.Exists(t.Context(), "lb:board:open", "lb:board:secret", "lb:board:hidden-later").Val(); n != 3 {
			return fmt.Sprint(n, " of 3 listings are in Redis")
		}
		return ""
	})
	first.Ask(200, "PUT", "/v1/boards/hidden-later", `{"visibility":"private"}`)
	for name, address := range map[string]string{"refuses": apptest.FreeAddress(t), "hangs": hanging(t)} {
		t.Run(name, func(t *testing.T) {
			config, err := mysql.ParseDSN(dsn)
			if err != nil {
				t.Fatal(err)
			}
			config.Net, config.Addr = "tcp", address
			cold := startApp(t, config.FormatDSN(), redisURL)
			for path, want := range map[string]string{
				"open/top":         `"rank":1,"member":"bob","score":9,`,
				"open/members/ada": `"rank":2,`,
			} {
				for range 2 {
					status, body := cold.Get("/v1/boards/" + path)
					text := string(body)
					if status != http.StatusOK || lacks(text, want) != "" || lacks(text, `"stale":true`) != "" {
						t.Errorf("%s: %d %s", path, status, text)
					}
				}
			}
			for path, body := range map[string]string{"open/ranks": `{"members":["ada","bob"]}`, "open/scores/8/rank": ""} { // no copy answers these
				method := map[bool]string{true: "GET", false: "POST"}[body == ""]
				if got := cold.answers(method, "/v1/boards/"+path, body); got.status != http.StatusServiceUnavailable {
					t.Errorf("%s: %d %s", path, got.status, got.body)
				}
			}
			if status, body := cold.Get("/v1/boards/secret/top"); status != http.StatusServiceUnavailable { // as of nowhere
				t.Errorf("a private board, without a key: %d %s", status, body)
			}
			if got := cold.Ask(200, "GET", "/v1/boards/secret/top", ""); got.Text("stale") != "true" {
				t.Errorf("a private board, with a key: %v", got)
			}
			for _, board := range []string{"hidden-later", "nowhere"} {
				if status, body := cold.Get("/v1/boards/" + board + "/top"); status == http.StatusOK {
					t.Errorf("%s: %d %s", board, status, body)
				}
			}
		})
	}
}

// hanging returns the address of a server that never says anything.
func hanging(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
		}
	}()
	return l.Addr().String()
}
