package app

import (
	"fmt"
	"testing"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// statusOf returns the status of a server, by board.
func statusOf(t *testing.T, a *testApp) (client.ServerStatus, map[string]client.BoardStatus) {
	t.Helper()
	c, err := client.New(a.URL, client.WithKey(apptest.AdminKey))
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	boards := map[string]client.BoardStatus{}
	for _, b := range got.Boards {
		boards[b.Board] = b
	}
	return got.Server, boards
}

// TestStatusOfDemo: the status counts what the demo player submits.
func TestStatusOfDemo(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), testenv.Redis(t))
	a.Ask(201, "PUT", "/v1/boards/demo", `{"title":"Star Runner"}`)
	a.PlayDemo(t.Context(), 10)
	apptest.Eventually(t, func() string {
		if server, boards := statusOf(t, a); boards["demo"].Entries == 0 || server.WritesPerSecond == 0 {
			return fmt.Sprintf("%+v, %+v", server, boards["demo"])
		}
		return ""
	})
}

// TestStatus: the status agrees with MySQL, Redis and the memory of the server, and its rates with the requests. Without MySQL
// it shows what the server knew last.
func TestStatus(t *testing.T) {
	t.Parallel()
	mysql := testenv.PrivateMySQL(t)
	dsn, err := mysql.CreateDatabase(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	a := startReady(t, dsn, testenv.Redis(t))
	a.Ask(201, "PUT", "/v1/boards/a", `{"title":"A","resident":"always"}`)
	a.Ask(201, "PUT", "/v1/boards/day", `{"windows":["day"]}`)
	a.Ask(201, "PUT", "/v1/boards/sum", `{"derive":{"from":[{"board":"a"}]}}`)
	for i := range 5 {
		a.Ask(200, "POST", "/v1/boards/a/scores", fmt.Sprintf(`{"entries":[{"member":"m%d","score":%d}]}`, i, i))
	}
	apptest.Eventually(t, func() string {
		a.Ask(200, "POST", "/v1/boards/a/scores", `{"entries":[{"member":"m0","score":0}]}`) // changes nothing, and is a write of the last seconds
		a.Ask(200, "GET", "/v1/boards/a/top", "")
		a.Ask(200, "GET", "/v1/boards/sum/top", "")
		server, boards := statusOf(t, a)
		b, sum := boards["a"], boards["sum"]
		switch {
		case server.MySQL != "ok" || server.Redis != "ok" || server.RequestsPerSecond <= 0 || server.ReadsPerSecond <= 0 || server.WritesPerSecond <= 0:
			return fmt.Sprintf("the server: %+v", server)
		case b.DisplayName != "A" || b.Entries != 5 || b.Seq != 5 || b.Stale || b.AsOf == nil:
			return fmt.Sprintf("the board: %+v", b)
		case b.Copy == nil || b.Copy.Seq != 5 || b.Copy.Entries != 5:
			return fmt.Sprintf("the copy: %+v", b.Copy)
		case !b.Resident || boards["day"].Resident:
			return "the periods in memory are others"
		case sum.Derived == nil || sum.Derived.LagMS == nil || *sum.Derived.LagMS != 0 || sum.Entries != 5:
			return fmt.Sprintf("the derived board: %+v, %+v", sum, sum.Derived)
		}
		return ""
	})
	if _, boards := statusOf(t, a); boards["day"].Entries != 0 || boards["day"].Copy != nil || boards["day"].Derived != nil || *boards["day"].Period == "" {
		t.Errorf("a board without submissions: %+v", boards["day"])
	}
	freeze(t, mysql, dsn)
	apptest.Eventually(t, func() string {
		server, boards := statusOf(t, a)
		b := boards["a"]
		if b.Seq != 5 || b.Copy == nil || b.Copy.Seq != 5 || !b.Resident {
			t.Errorf("without MySQL: %+v", b)
		}
		if server.MySQL != "away" || !b.Stale { // the last sign of MySQL before the pause holds for maxAge
			return fmt.Sprintf("MySQL is %s, the board: %+v", server.MySQL, b)
		}
		return ""
	})
	if err := mysql.Resume(); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		if server, boards := statusOf(t, a); server.MySQL != "ok" || boards["a"].Stale {
			return "MySQL is still away"
		}
		return ""
	})
}

// TestStatusGoesNotBack: without MySQL the status shows nothing older than before, also of boards that this server has not looked
// up since because others write to them.
func TestStatusGoesNotBack(t *testing.T) {
	t.Parallel()
	mysql := testenv.PrivateMySQL(t)
	dsn, err := mysql.CreateDatabase(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	redis := testenv.Redis(t)
	a, other := startReady(t, dsn, redis), startReady(t, dsn, redis)
	a.Ask(201, "PUT", "/v1/boards/a", "{}")
	a.Ask(200, "POST", "/v1/boards/a/scores", `{"entries":[{"member":"m","score":1}]}`)
	a.Ask(200, "GET", "/v1/boards/a/top", "")
	other.Ask(200, "POST", "/v1/boards/a/scores", `{"entries":[{"member":"n","score":1},{"member":"o","score":1}]}`)
	apptest.Eventually(t, func() string {
		if _, boards := statusOf(t, a); boards["a"].Entries != 3 || boards["a"].Stale {
			return fmt.Sprintf("%+v", boards["a"])
		}
		return ""
	})
	if err := mysql.Pause(); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, func() string {
		_, boards := statusOf(t, a)
		b := boards["a"]
		if b.Entries != 3 || b.Seq != 3 {
			t.Fatalf("it goes back: %+v", b)
		}
		if !b.Stale {
			return "MySQL still answers"
		}
		return ""
	})
	if err := mysql.Resume(); err != nil {
		t.Fatal(err)
	}
}
