package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
)

// TestRoutesOfFeatures: routes of features are in the table, and are bound to their rows like all routes.
func TestRoutesOfFeatures(t *testing.T) {
	type query struct {
		Say string `query:"say"`
	}
	echo := api.Operation{Method: http.MethodGet, Path: "/v1/boards/{board}/echo", Access: api.AccessWriters, Query: query{}}
	row := Route{Pattern: Pattern{Operation: echo}, Handle: func(c *Call) error {
		return c.SendJSON(http.StatusOK, c.Params.PathValue("board")+" "+c.Params.Text("say"))
	}}
	e := newEnv(t, func(c *Config) { c.Routes = []Route{row} })
	ask := func(key, query string) apitest.Reply {
		return e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/demo/echo" + query, Key: key, Undocumented: true})
	}
	if got := string(ask(apitest.WriteKey, "?say=hi").Want(http.StatusOK).Body); got != `"demo hi"` {
		t.Errorf("it answers %s", got)
	}
	ask(apitest.ReadKey, "?say=hi").WantProblem(http.StatusForbidden, wire.CodeForbidden)
	ask(apitest.WriteKey, "?shout=hi").WantProblem(http.StatusBadRequest, wire.CodeMalformed)
	table := e.api.Routes()
	if last := &table[len(table)-1]; last.Path != row.Path || last.span != "GET /v1/boards/{board}/echo" || last.read {
		t.Errorf("the last row is %+v", last)
	}
	defer func() {
		if why, _ := recover().(string); !strings.Contains(why, "no access is stated for GET /v1/boards/{board}/echo") {
			t.Errorf("a route that states no access begins to serve: %q", why)
		}
	}()
	row.Access = api.AccessUnsaid
	newEnv(t, func(c *Config) { c.Routes = []Route{row} })
}
