package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// concrete fills in the wildcards of a route's path.
func concrete(path string) string {
	return strings.NewReplacer("{board}", "b", "{member}", "m", "{score}", "1", "{id}", "1", "{name}", "game", "{code}", "internal", "{page}", "boards").Replace(path)
}

// TestEveryRouteDenies: every route denies what its access says: without a key, with a key that is not known, with a
// lesser scope. The table decides about each, so a route added without thought is closed (promise G1).
func TestEveryRouteDenies(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	writes := e.fake.Writes()
	open := 0
	for _, rt := range routesOfEngine() {
		a := apitest.Ask{Method: rt.Method, Path: concrete(rt.Path)}
		with := func(key string) apitest.Reply { b := a; b.Key = key; return e.Do(b) }
		if rt.Access == api.AccessAnyone {
			open++
			if r := with("other"); r.Status >= 400 {
				t.Errorf("%s %s looks at keys: %d", rt.Method, rt.Path, r.Status)
			}
			continue
		}
		r := with("other")
		r.WantProblem(401, wire.CodeUnauthorized)
		if !strings.HasPrefix(r.Header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s %s: 401 without WWW-Authenticate", rt.Method, rt.Path)
		}
		if rt.Access == api.AccessReaders {
			if r := with(apitest.NoKey); r.Status == 401 || r.Status == 403 {
				t.Errorf("%s %s: public board, %d", rt.Method, rt.Path, r.Status)
			}
			continue
		}
		with(apitest.NoKey).WantProblem(401, wire.CodeUnauthorized)
		if rt.Access == api.AccessHolders {
			if r := with(apitest.ReadKey); r.Status == 401 || r.Status == 403 {
				t.Errorf("%s %s: any key, %d", rt.Method, rt.Path, r.Status)
			}
			continue
		}
		with(apitest.ReadKey).WantProblem(403, wire.CodeForbidden)
		if rt.Access == api.AccessAdmins {
			with(apitest.WriteKey).WantProblem(403, wire.CodeForbidden)
		}
	}
	if e.fake.Writes() != writes {
		t.Error("a request without rights changed something")
	}
	if open != 8 {
		t.Errorf("%d routes look at no key, want 8: health, metrics and pages", open)
	}
}

// TestRouteWithoutPolicy: a server does not start with a route that has no policy, and such a route would be
// for admins.
func TestRouteWithoutPolicy(t *testing.T) {
	var rt Route
	if err := guard.Allow(rt.Access, leaderboard.ScopeWrite); err == nil || guard.Allow(rt.Access, leaderboard.ScopeAdmin) != nil {
		t.Errorf("a route that says nothing: %v for writers", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a server starts with it")
		}
	}()
	rt.Method, rt.Path = http.MethodGet, "/v1/new"
	rt.checkPolicy()
}

func TestAuthorizationForms(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		values []string
		status int
	}{
		{[]string{"Bearer " + apitest.AdminKey}, 200},
		{[]string{"bearer " + apitest.AdminKey}, 200},
		{[]string{"Bearer  " + apitest.AdminKey}, 200},
		{[]string{"Bearer " + apitest.AdminKey + "x"}, 401},
		{[]string{"Bearer"}, 401},
		{[]string{"Bearer "}, 401},
		{[]string{""}, 401},
		{[]string{"Basic " + apitest.AdminKey}, 401},
		{[]string{apitest.AdminKey}, 401},
		{[]string{"Bearer " + apitest.ReadKey}, 403},
		{[]string{"Bearer " + apitest.AdminKey, "Bearer " + apitest.AdminKey}, 401},
	} {
		r := e.Do(apitest.Ask{Method: "GET", Path: "/v1/runs", Header: http.Header{"Authorization": c.values}})
		if r.Status != c.status {
			t.Errorf("%q answers %d, want %d", c.values, r.Status, c.status)
		}
	}
}

func TestKeyWithTwoScopesHasTheGreater(t *testing.T) {
	e := newEnv(t, func(c *Config) {
		c.SettingsKeys = []SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: "k"}, {Scope: leaderboard.ScopeRead, Secret: "k"}, {Scope: leaderboard.ScopeAdmin, Secret: ""}, {Scope: "all", Secret: "z"}}
	})
	e.Get("k", "/v1/runs").Want(200)
	e.Get("z", "/v1/runs").WantProblem(401, wire.CodeUnauthorized)
	e.Do(apitest.Ask{Method: "GET", Path: "/v1/runs", Header: http.Header{"Authorization": {"Bearer "}}}).Want(401)
}

func TestWithoutKeysNobodyWrites(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.SettingsKeys = nil })
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	e.Get(apitest.NoKey, "/v1/boards/b/top").Want(200)
	e.Post(apitest.NoKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1}]}`).WantProblem(401, wire.CodeUnauthorized)
	e.Post(apitest.AdminKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1}]}`).WantProblem(401, wire.CodeUnauthorized)
}

// TestCallerOfAChange: who asked for a change travels in its context.
func TestCallerOfAChange(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	e.Do(apitest.Ask{Method: "DELETE", Path: "/v1/boards/b", Key: apitest.AdminKey}).Want(204)
	if got := e.fake.Caller.Key; got != "env:admin" {
		t.Errorf("the change was asked for by %q", got)
	}
}
