package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
)

// TestRoutesOfFeatures: rows of others are in the table, and are held to what it says as all rows are.
func TestRoutesOfFeatures(t *testing.T) {
	row := Route{Pattern: Get("/v1/boards/{board}/echo"), Access: guard.AccessWriters, Params: []string{"say"}, Handle: func(c *Call) error {
		return c.SendJSON(http.StatusOK, c.PathValue("board")+" "+c.Text("say"))
	}}
	e := newEnv(t, func(c *Config) { c.Routes = []Route{row} })
	ask := func(key, query string) reply {
		return e.do(ask{method: http.MethodGet, path: "/v1/boards/demo/echo" + query, key: key, undocumented: true})
	}
	if got := string(ask(writeKey, "?say=hi").want(http.StatusOK).body); got != `"demo hi"` {
		t.Errorf("it answers %s", got)
	}
	ask(readKey, "?say=hi").wantProblem(http.StatusForbidden, wire.CodeForbidden)
	ask(writeKey, "?shout=hi").wantProblem(http.StatusBadRequest, wire.CodeMalformed)
	table := e.api.Routes()
	if last := &table[len(table)-1]; last.Path != row.Path || last.span != "GET /v1/boards/{board}/echo" || last.read {
		t.Errorf("the last row is %+v", last)
	}
	defer func() {
		if why, _ := recover().(string); !strings.Contains(why, "no access is stated for GET /v1/boards/{board}/echo") {
			t.Errorf("a route that states no access begins to serve: %q", why)
		}
	}()
	row.Access = guard.AccessUnsaid
	newEnv(t, func(c *Config) { c.Routes = []Route{row} })
}
