package app

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// classicEntries is the example of the documentation, with the times at which the scores were reached.
const classicEntries = `{"entries":[
	{"member":"1","score":90,"created_time":"2018-08-16T14:31:10Z"},{"member":"2","score":80,"created_time":"2018-08-16T14:31:11Z"},
	{"member":"3","score":82,"created_time":"2018-08-16T09:37:53Z"},{"member":"4","score":96,"created_time":"2018-08-16T14:20:43Z"},
	{"member":"5","score":100,"created_time":"2018-08-16T14:18:53Z"},{"member":"6","score":5,"created_time":"2018-08-16T14:21:13Z"},
	{"member":"7","score":8,"created_time":"2018-08-16T14:30:23Z"},{"member":"8","score":80,"created_time":"2018-08-16T14:30:01Z"}]}`

const (
	classicStrict = "5 4 1 3 8 2 7 6"
	classicTied   = "1 2 3 4 5 5 7 8"
	classicDense  = "1 2 3 4 5 5 6 7"
)

// checkClassic asks for the classic table in every way.
func (a *testApp) checkClassic(minSeq string) {
	a.T.Helper()
	board := "/v1/boards/classic"
	for mode, ranks := range map[string]string{"strict": "1 2 3 4 5 6 7 8", "tied": classicTied, "dense": classicDense} {
		top := a.Ask(200, "GET", board+"/top?limit=20&mode="+mode+"&min_seq="+minSeq, "")
		if top.List("entries", "member") != classicStrict || top.List("entries", "rank") != ranks || top.Text("total") != "8" {
			a.T.Errorf("%s: members %s, ranks %s, total %s", mode, top.List("entries", "member"), top.List("entries", "rank"), top.Text("total"))
		}
	}
	if one := a.Ask(200, "GET", board+"/members/2?mode=tied&min_seq="+minSeq, ""); one.Text("rank") != "5" || one.Text("score") != "80" {
		a.T.Errorf("member 2: %v", one)
	}
	around := a.Ask(200, "GET", board+"/members/8/around?before=1&after=1&min_seq="+minSeq, "")
	if around.List("entries", "member") != "3 8 2" || around.List("entries", "rank") != "4 5 6" {
		a.T.Errorf("around 8: %v", around)
	}
	friends := a.Ask(200, "POST", board+"/ranks?min_seq="+minSeq, `{"members":["6","nobody","5"]}`)
	if friends.List("entries", "member") != "5 6" || friends.List("entries", "rank") != "1 8" || fmt.Sprint(friends["not_ranked"]) != "[nobody]" {
		a.T.Errorf("friends: %v", friends)
	}
	score := a.Ask(200, "GET", board+"/scores/80/rank?min_seq="+minSeq, "")
	if score.Text("strict_rank") != "7" || score.Text("tied_rank") != "5" {
		a.T.Errorf("rank of 80: %v", score)
	}
}

func TestFullFlow(t *testing.T) {
	t.Parallel()
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	a := startReady(t, dsn, redisURL)
	a.Ask(201, "PUT", "/v1/boards/classic", `{"title":"Classic"}`)
	a.Ask(200, "PUT", "/v1/boards/classic", `{"title":"Classic"}`)
	if top := a.Ask(200, "GET", "/v1/boards/classic/top", ""); top.Text("total") != "0" || top.Text("mode") != "strict" {
		t.Errorf("an empty board: %v", top)
	}
	once := http.Header{"Idempotency-Key": {"once"}}
	seq := a.Ask(200, "POST", "/v1/boards/classic/scores", classicEntries, once).Text("seq")
	if again := a.Ask(200, "POST", "/v1/boards/classic/scores", classicEntries, once).Text("seq"); again != seq || seq != "8" {
		t.Errorf("seq %s, and %s when repeated", seq, again)
	}
	a.checkClassic(seq)

	run := a.Ask(200, "POST", "/v1/boards/classic/rebuild?wait=30s", `{"kind":"full"}`)
	if run.Text("state") != "done" && run.Text("state") != "shared" || run.Text("to_seq") != "8" {
		t.Errorf("rebuild: %v", run)
	}
	a.checkCopy()
	if runs := a.Ask(200, "GET", "/v1/runs?board=classic", ""); !strings.Contains(runs.List("runs", "reason"), "admin") {
		t.Errorf("runs: %v", runs)
	}

	// Another process finds all of it; the copy in Redis is still the right one.
	a.stop()
	b := startReady(t, dsn, redisURL, func(c *Config) { c.ResidentMemory = 0 })
	if top := b.Ask(200, "GET", "/v1/boards/classic/top", ""); top.Text("source") != "redis" {
		t.Errorf("after the restart: from %s", top.Text("source"))
	}
	b.checkClassic(seq)
	b.checkCopy()

	// Redis loses everything: answers stay right, and a read brings the copy back.
	flush(t, redisURL)
	limit := 1
	apptest.Eventually(t, func() string {
		b.checkClassic(seq)
		limit = limit%500 + 1 // the answer to an earlier limit may be kept, and needs no copy
		b.Ask(200, "GET", fmt.Sprintf("/v1/boards/classic/top?limit=%d", limit), "")
		if v := b.Ask(200, "GET", "/v1/boards/classic/verify", ""); v.Text("checked") != "8" {
			return fmt.Sprintf("no copy has come back: %v", v)
		}
		return ""
	})

	b.Ask(200, "DELETE", "/v1/boards/classic/members/5", "")
	if top := b.Ask(200, "GET", "/v1/boards/classic/top?limit=1&min_seq=9", ""); top.List("entries", "member") != "4" || top.Text("total") != "7" {
		t.Errorf("without 5: %v", top)
	}
	b.Ask(204, "DELETE", "/v1/boards/classic", "")
	b.Ask(404, "GET", "/v1/boards/classic/top", "")
}

func (a *testApp) checkCopy() {
	a.T.Helper()
	if v := a.Ask(200, "GET", "/v1/boards/classic/verify", ""); v.Text("equal") != "true" || v.Text("checked") != "8" || v.Text("seq") != "8" {
		a.T.Errorf("verify: %v", v)
	}
}

// TestOwnChangesShowAtOnce: a change of a board shows in the next answer of the process that made it, though it remembers
// boards for a second.
func TestOwnChangesShowAtOnce(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "")
	for _, mode := range []string{"strict", "tied", "dense"} {
		status := 200
		if mode == "strict" {
			status = 201 // the first one creates it
		}
		a.Ask(status, "PUT", "/v1/boards/b", `{"mode":"`+mode+`"}`)
		if top := a.Ask(200, "GET", "/v1/boards/b/top", ""); top.Text("mode") != mode {
			t.Errorf("mode is %s, want %s", top.Text("mode"), mode)
		}
	}
	a.Ask(204, "DELETE", "/v1/boards/b", "")
	a.Ask(404, "GET", "/v1/boards/b/top", "")
}

// TestOwnWritesFindABoardMadeAgain: another server deletes the board and makes it again within the second for which
// this one remembers it. After a write through this server, reads show the new board.
func TestOwnWritesFindABoardMadeAgain(t *testing.T) {
	t.Parallel()
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	other, a := startReady(t, dsn, redisURL), startReady(t, dsn, redisURL)
	const board = "/v1/boards/b"
	other.Ask(201, "PUT", board, `{}`)
	for n := range 5 {
		old, member := fmt.Sprint("old", n), fmt.Sprint("new", n)
		a.Ask(200, "POST", board+"/scores", `{"entries":[{"member":"`+old+`","score":1},{"member":"x","score":1}]}`)
		a.Ask(200, "GET", board+"/top?min_seq=2", "")
		other.Ask(204, "DELETE", board, "")
		other.Ask(201, "PUT", board, `{}`)
		if n%2 == 0 {
			a.Ask(200, "POST", board+"/scores", `{"entries":[{"member":"`+member+`","score":5}]}`)
		} else { // a caller that wrote there asks with a seq that the old board never had, and must see the new board
			other.Ask(200, "POST", board+"/scores", `{"entries":[{"member":"`+member+`","score":5},{"member":"x","score":1},{"member":"y","score":1}]}`)
		}
		minSeq := map[bool]string{true: "1", false: "3"}[n%2 == 0]
		top := a.Ask(200, "GET", board+"/top?limit=1&min_seq="+minSeq, "")
		if got := top.List("entries", "member"); got != member {
			t.Errorf("round %d: %s leads, want %s: %v", n, got, member, top)
		}
		other.Ask(204, "DELETE", board, "")
		other.Ask(201, "PUT", board, `{}`)
	}
}

// TestWriteThrough: a commit reaches the copy without any refresh.
func TestWriteThrough(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), testenv.Redis(t))
	a.Ask(201, "PUT", "/v1/boards/b", `{"refresh":{"incremental":"off"}}`)
	a.Ask(200, "POST", "/v1/boards/b/rebuild?wait=30s", `{}`)
	for n := 1; n <= 3; n++ {
		a.Ask(200, "POST", "/v1/boards/b/scores", fmt.Sprintf(`{"entries":[{"member":"m%d","score":%d}]}`, n, n))
		apptest.Eventually(t, func() string {
			if top := a.Ask(200, "GET", "/v1/boards/b/top", ""); top.Text("seq") != fmt.Sprint(n) {
				return fmt.Sprintf("the copy lacks commit %d: %v", n, top)
			}
			return ""
		})
	}
	if runs := a.Ask(200, "GET", "/v1/runs", ""); runs.List("runs", "reason") != "admin" {
		t.Errorf("it took runs: %v", runs)
	}
}

// TestProbesAreLoggedWhenTheyChange: probes with the same answer again and again do not fill the log.
func TestProbesAreLoggedWhenTheyChange(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "")
	for range 20 {
		a.Ask(200, "GET", "/readyz", "")
		a.Ask(200, "GET", "/livez", "")
		a.Ask(404, "GET", "/v1/boards/nobody", "")
	}
	a.api.SetDraining(true)
	for range 20 {
		a.Ask(503, "GET", "/readyz", "")
	}
	log := a.log.String()
	for route, last := range map[string]string{"/readyz": "503", "/livez": "200"} {
		var said []string
		for _, line := range regexp.MustCompile(`route=`+route+` status=(\d+)`).FindAllStringSubmatch(log, -1) {
			said = append(said, line[1])
		}
		if again := slices.Compact(slices.Clone(said)); len(said) == 0 || len(again) < len(said) || again[len(again)-1] != last {
			t.Errorf("%s is logged as %s, want it to change from one to the next, to %s at last", route, said, last)
		}
	}
	if n := strings.Count(log, "route=/v1/boards/{board} status=404"); n != 20 {
		t.Errorf("20 requests are logged %d times", n)
	}
}

// TestBrief: the log below a failure is short, and has what went wrong.
func TestBrief(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	for i := range 100 {
		level := []string{"DEBUG", "INFO"}[i%2]
		if i == 50 {
			level = "WARN"
		}
		fmt.Fprintf(&log, "time=x level=%s msg=%d\n", level, i)
	}
	got := strings.Split(apptest.Brief(log.String()), "\n")
	if len(got) != 22 || got[0] != "79 lines left out" || !strings.HasSuffix(got[1], "msg=50") || !strings.HasSuffix(got[2], "msg=80") || !strings.HasSuffix(got[21], "msg=99") {
		t.Errorf("%q", got)
	}
}

// TestEvery: housekeeping comes once a minute, in a bubble where time passes at once.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		times := []time.Time{time.Now()}
		every(ctx, sweepEvery, sweepJitter, func() { times = append(times, time.Now()) })
		if n := len(times) - 1; n < 51 || n > 72 {
			t.Errorf("%d rounds in an hour", n)
		}
		for i := 1; i < len(times); i++ {
			if gap := times[i].Sub(times[i-1]); gap < sweepEvery-sweepJitter || gap > sweepEvery+sweepJitter {
				t.Errorf("%s between two rounds", gap)
			}
		}
	})
}

// flush empties the test's Redis.
func flush(t *testing.T, address string) {
	t.Helper()
	opts, err := redis.ParseURL(address)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opts)
	defer client.Close()
	if err := client.FlushDB(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
}

// TestWithoutRedis: Redis is optional by construction.
func TestWithoutRedis(t *testing.T) {
	t.Parallel()
	a := startReady(t, testenv.MySQL(t), "")
	a.Ask(201, "PUT", "/v1/boards/classic", `{}`)
	seq := a.Ask(200, "POST", "/v1/boards/classic/scores", classicEntries).Text("seq")
	a.checkClassic(seq)
	if top := a.Ask(200, "GET", "/v1/boards/classic/top?limit=3", ""); top.Text("source") == "redis" {
		t.Errorf("an answer comes from a Redis that is not there: %v", top)
	}
	failed := a.Ask(503, "POST", "/v1/boards/classic/rebuild?wait=5s", `{}`)
	run, _ := failed["run"].(map[string]any)
	if run := apptest.Object(run); run.Text("state") != "failed" || !strings.Contains(run.Text("error"), "without Redis") {
		t.Errorf("rebuild: %v", failed)
	}
	if stored := a.Ask(200, "GET", "/v1/runs/"+apptest.Object(run).Text("id"), ""); stored.Text("state") != "failed" || stored.Text("board") != "classic" {
		t.Errorf("run: %v", stored)
	}
	if v := a.Ask(200, "GET", "/v1/boards/classic/verify", ""); v.Text("equal") != "true" || v.Text("checked") != "0" {
		t.Errorf("verify: %v", v)
	}
	if ready := a.Ask(200, "GET", "/readyz", ""); strings.Contains(fmt.Sprint(ready), "redis") {
		t.Errorf("readyz: %v", ready)
	}
}
