package httpapi

import (
	"net/http"
	"strings"
	"testing"

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
	e.board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	writes := e.fake.writes()
	open := 0
	for _, rt := range (&handlers{}).routes(true) {
		a := ask{method: rt.Method, path: concrete(rt.Path)}
		with := func(key string) reply { b := a; b.key = key; return e.do(b) }
		if rt.Access == guard.AccessAnyone {
			open++
			if r := with("other"); r.status >= 400 && rt.Path != "/v1/sign-in/callback" { // where nobody was sent to
				t.Errorf("%s %s looks at keys: %d", rt.Method, rt.Path, r.status)
			}
			continue
		}
		r := with("other")
		r.wantProblem(401, wire.CodeUnauthorized)
		if !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer") {
			t.Errorf("%s %s: 401 without WWW-Authenticate", rt.Method, rt.Path)
		}
		if rt.Access == guard.AccessReaders {
			if r := with(noKey); r.status == 401 || r.status == 403 {
				t.Errorf("%s %s: public board, %d", rt.Method, rt.Path, r.status)
			}
			continue
		}
		with(noKey).wantProblem(401, wire.CodeUnauthorized)
		if rt.Access == guard.AccessHolders {
			if r := with(readKey); r.status == 401 || r.status == 403 {
				t.Errorf("%s %s: any key, %d", rt.Method, rt.Path, r.status)
			}
			continue
		}
		with(readKey).wantProblem(403, wire.CodeForbidden)
		if rt.Access == guard.AccessAdmins {
			with(writeKey).wantProblem(403, wire.CodeForbidden)
		}
	}
	if e.fake.writes() != writes {
		t.Error("a request without rights changed something")
	}
	if open != 16 {
		t.Errorf("%d routes look at no key, want 16: health, metrics, documents, pages, the keys of tokens and signing in", open)
	}
}

// TestRouteWithoutPolicy: a server does not start with a route that has no policy, and such a route would be
// for admins.
func TestRouteWithoutPolicy(t *testing.T) {
	var rt Route
	if err := rt.Access.Allow(leaderboard.ScopeWrite); err == nil || rt.Access.Allow(leaderboard.ScopeAdmin) != nil {
		t.Errorf("a route that says nothing: %v for writers", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a server starts with it")
		}
	}()
	rt.Pattern = Get("/v1/new")
	rt.checkPolicy()
}

func TestAuthorizationForms(t *testing.T) {
	e := newEnv(t)
	for _, c := range []struct {
		values []string
		status int
	}{
		{[]string{"Bearer " + adminKey}, 200},
		{[]string{"bearer " + adminKey}, 200},
		{[]string{"Bearer  " + adminKey}, 200},
		{[]string{"Bearer " + adminKey + "x"}, 401},
		{[]string{"Bearer"}, 401},
		{[]string{"Bearer "}, 401},
		{[]string{""}, 401},
		{[]string{"Basic " + adminKey}, 401},
		{[]string{adminKey}, 401},
		{[]string{"Bearer " + readKey}, 403},
		{[]string{"Bearer " + adminKey, "Bearer " + adminKey}, 401},
	} {
		r := e.do(ask{method: "GET", path: "/v1/runs", header: http.Header{"Authorization": c.values}})
		if r.status != c.status {
			t.Errorf("%q answers %d, want %d", c.values, r.status, c.status)
		}
	}
}

func TestKeyWithTwoScopesHasTheGreater(t *testing.T) {
	e := newEnv(t, func(c *Config) {
		c.SettingsKeys = []SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: "k"}, {Scope: leaderboard.ScopeRead, Secret: "k"}, {Scope: leaderboard.ScopeAdmin, Secret: ""}, {Scope: "all", Secret: "z"}}
	})
	e.get("k", "/v1/runs").want(200)
	e.get("z", "/v1/runs").wantProblem(401, wire.CodeUnauthorized)
	e.do(ask{method: "GET", path: "/v1/runs", header: http.Header{"Authorization": {"Bearer "}}}).want(401)
}

func TestWithoutKeysNobodyWrites(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.SettingsKeys = nil })
	e.board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	e.get(noKey, "/v1/boards/b/top").want(200)
	e.post(noKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1}]}`).wantProblem(401, wire.CodeUnauthorized)
	e.post(adminKey, "/v1/boards/b/scores", `{"entries":[{"member":"m","score":1}]}`).wantProblem(401, wire.CodeUnauthorized)
}

// TestCallerOfAChange: who asked for a change travels in its context.
func TestCallerOfAChange(t *testing.T) {
	e := newEnv(t)
	e.board("b", leaderboard.Rules{})
	e.do(ask{method: "DELETE", path: "/v1/boards/b", key: adminKey}).want(204)
	if got := e.fake.caller.Key; got != "env:admin" {
		t.Errorf("the change was asked for by %q", got)
	}
}
