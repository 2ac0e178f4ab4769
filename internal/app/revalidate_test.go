package app

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/store/storetest/dbtest"
)

// conditional asks for a path with the ETag of an earlier answer, "" for none.
func conditional(t *testing.T, a *testApp, path, tag string) (status int, body, newTag string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tag != "" {
		req.Header.Set("If-None-Match", tag)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text), resp.Header.Get("ETag")
}

// TestClosedPeriodsAreAskedAgain: the ETag of an answer about a closed period changes, at any server, when a member is hidden in
// it, shown again, removed by a correction, or erased; and for no other reason.
func TestClosedPeriodsAreAskedAgain(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	clock := func(c *Config) {
		c.clock = dbtest.ClockAhead(func() time.Duration { return time.Duration(ahead.Load()) })
	}
	servers := []*testApp{startReady(t, dsn, redisURL, clock), startReady(t, dsn, redisURL, clock)}
	here := servers[0]
	here.Ask(201, "PUT", "/v1/boards/b", `{"windows":["hour"]}`)
	here.Ask(200, "POST", "/v1/boards/b/scores", `{"entries":[{"member":"ada","score":4},{"member":"bob","score":3},{"member":"cyd","score":2},{"member":"dan","score":1}]}`)
	period := here.Ask(200, "GET", "/v1/boards/b/top", "").Text("period")
	ahead.Add(int64(time.Hour))
	here.Ask(200, "POST", "/v1/boards/b/scores", `{"entries":[{"member":"eve","score":9}]}`)
	path := "/v1/boards/b/top?period=" + period
	status, _, tag := conditional(t, here, path, "")
	if status != http.StatusOK || tag == "" {
		t.Fatalf("%s: %d, tag %q", path, status, tag)
	}
	for _, change := range []struct {
		status                      int
		method, path, body, without string
	}{
		{200, "PUT", "/v1/boards/b/members/ada/hidden?reopen=true", `{"reason":"aimbot"}`, "ada"},
		{204, "DELETE", "/v1/boards/b/members/ada/hidden?reopen=true", "", ""},
		{200, "DELETE", "/v1/boards/b/members/bob?reopen=true&period=" + period, "", "bob"},
		{200, "PUT", "/v1/members/cyd/hidden?reopen=true", `{"reason":"aimbot"}`, "cyd"},
		{204, "DELETE", "/v1/members/dan", "", "dan"},
	} {
		what := change.method + " " + change.path
		for _, a := range servers {
			apptest.Eventually(t, func() string { // on a busy machine an answer may be stale for a moment, which has no tag
				if status, body, _ := conditional(t, a, path, tag); status != http.StatusNotModified {
					return fmt.Sprintf("before %s: %d %s", what, status, body)
				}
				return ""
			})
		}
		here.Ask(change.status, change.method, change.path, change.body)
		var tags []string
		for i, a := range servers {
			apptest.Eventually(t, func() string {
				status, body, now := conditional(t, a, path, tag)
				if status != http.StatusOK || change.without != "" && strings.Contains(body, `"`+change.without+`"`) {
					return fmt.Sprintf("after %s server %d says %d %s", what, i, status, body)
				}
				tags = append(tags, now)
				return ""
			})
		}
		if tags[0] != tags[1] || tags[0] == tag {
			t.Errorf("after %s the tags are %v, before it %s", what, tags, tag)
		}
		tag = tags[0]
	}
}
