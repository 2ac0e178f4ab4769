package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// TestKeyOnEveryRoute holds every route of the table against every sort of key that may not use it: none, unknown,
// expired, revoked, of lesser scope, for other boards (promise G1). All methods of a path are rows of the table or 405.
func TestKeyOnEveryRoute(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "m"})
	e.Board("open", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	now := leaderboard.MicrosOf(time.Now())
	unknown, _ := leaderboard.NewKeySecret(leaderboard.NewKeyID())
	dead := map[string]string{
		"unknown": unknown, "mistyped": "Lbk_x",
		"expired": e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.ExpiresAt = now }),
		"revoked": e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.RevokedAt = now }),
	}
	lesser := map[leaderboard.Scope][]string{
		leaderboard.ScopeWrite: {e.Key(leaderboard.ScopeRead, nil)},
		leaderboard.ScopeAdmin: {e.Key(leaderboard.ScopeRead, nil), e.Key(leaderboard.ScopeWrite, nil)},
	}
	elsewhere := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game2-*"} })
	writes := e.fake.Writes()
	methods := map[string][]string{}
	for _, rt := range routesOfEngine() {
		methods[rt.Path] = append(methods[rt.Path], rt.Method)
		on := func(board, key string) apitest.Reply {
			path := strings.NewReplacer("{board}", board, "{id}", "1").Replace(rt.Path)
			return e.Do(apitest.Ask{Method: rt.Method, Path: concrete(path), Key: key})
		}
		name := rt.Method + " " + rt.Path
		if rt.Access == api.AccessAnyone {
			continue
		}
		for sort, key := range dead {
			if r := on("b", key); r.Status != 401 {
				t.Errorf("%s with a key that is %s: %d", name, sort, r.Status)
			}
		}
		if r := on("b", apitest.NoKey); r.Status != 401 && rt.Access != api.AccessReaders {
			t.Errorf("%s without a key: %d", name, r.Status)
		}
		for _, key := range lesser[rt.Access.Needs()] {
			if r := on("b", key); r.Status != 403 {
				t.Errorf("%s with a lesser scope: %d", name, r.Status)
			}
		}
		if !rt.SomeBoards && !rt.Has("board") { // with one: TestNamesOfBoards
			if r := on("", elsewhere); r.Status != 403 {
				t.Errorf("%s with a key for some boards: %d", name, r.Status)
			}
		}
	}
	if e.fake.Writes() != writes {
		t.Error("a request without rights changed something")
	}
	for path, has := range methods {
		for _, method := range []string{"GET", "PUT", "POST", "PATCH", "DELETE", "TRACE", "PURGE"} {
			if slices.Contains(has, method) {
				continue
			}
			if r := e.Do(apitest.Ask{Method: method, Path: concrete(path), Key: apitest.AdminKey, Undocumented: true}); r.Status != http.StatusMethodNotAllowed && r.Status != http.StatusNotFound {
				t.Errorf("%s %s, which is no route: %d", method, path, r.Status)
			}
		}
	}
}

// TestKeyForSomeBoards: on routes about several boards a key that is for some of them sees and changes no other.
func TestKeyForSomeBoards(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"game1-a", "game1-b", "game2-a"} {
		e.Board(name, leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Labels: leaderboard.Labels{"type": "moba"}}, leaderboard.Submission{Member: name})
	}
	e.Board("open", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	key := e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} })
	var boards struct{ Boards []struct{ Name string } }
	e.Get(key, "/v1/boards").Want(200).Decode(&boards)
	if got := fmt.Sprint(boards.Boards); got != "[{game1-a} {game1-b} {open}]" {
		t.Errorf("lists %s", got)
	}
	if got := e.Get(key, "/v1/rankings/top?labels=type:moba").Rows(); len(got.Entries) != 2 {
		t.Errorf("ranked as one: %+v", got)
	}
	e.Get(key, "/v1/rankings/top?boards=game1-a,game1-b").Want(200)
	e.Get(key, "/v1/rankings/top?boards=game1-a,game2-a").WantProblem(404, "board-not-found")
	e.Get(key, "/v1/rankings/top?boards=game1-a,nothing").WantProblem(404, "board-not-found")
	e.Get(key, "/v1/rankings/top?boards=game1-a,open").Want(200) // as for anybody

	both := `{"entries":[{"board":"game1-a","member":"x","score":1},{"board":"%s","member":"x","score":1}]}`
	e.Post(key, "/v1/scores", fmt.Sprintf(both, "game1-b")).Want(200)
	writes := e.fake.Writes()
	for _, other := range []string{"game2-a", "nothing", "open"} {
		if p := e.Post(key, "/v1/scores", fmt.Sprintf(both, other)).WantProblem(403, wire.CodeForbidden); p.Errors[0].Pointer != "/entries/1/board" {
			t.Errorf("points at %+v", p.Errors)
		}
	}
	if e.fake.Writes() != writes {
		t.Error("a part of a request was done")
	}
	for _, path := range []string{"/v1/hidden", "/v1/runs"} {
		e.Get(key, path).WantProblem(403, wire.CodeForbidden)
		e.Get(key, path+"?board=game1-a").Want(200)
	}
	run := e.Post(apitest.AdminKey, "/v1/boards/game2-a/rebuild", ``).Want(202)
	e.Get(apitest.AdminKey, run.Header.Get("Location")).Want(200)
	e.Get(key, run.Header.Get("Location")).WantProblem(404, "run-not-found")
	e.Put(key, "/v1/boards/game1-c", `{}`).Want(201)
	e.Put(key, "/v1/boards/game2-c", `{}`).WantProblem(403, wire.CodeForbidden)
	derived := `{"derive":{"from":[{"board":"game1-a"},{"board":"%s"}]}}`
	e.Put(key, "/v1/boards/game1-d", fmt.Sprintf(derived, "game1-b")).Want(201)
	if p := e.Put(key, "/v1/boards/game1-e", fmt.Sprintf(derived, "game2-a")).WantProblem(403, wire.CodeForbidden); p.Errors[0].Pointer != "/derive/from/1/board" {
		t.Errorf("points at %+v", p.Errors)
	}
	e.Do(apitest.Ask{Method: "PATCH", Path: "/v1/boards/game1-d", Key: key, Body: fmt.Sprintf(derived, "game2-a")}).WantProblem(403, wire.CodeForbidden)
}

// TestKeysNotKnownNow: while it cannot be found out whether a key exists, it is not called unknown.
func TestKeysNotKnownNow(t *testing.T) {
	e := newEnv(t)
	key := e.Key(leaderboard.ScopeAdmin, nil)
	e.fake.Keyring.Fails = leaderboard.ErrUnavailable
	e.Get(key, "/v1/runs").WantProblem(503, "unavailable")
	e.Get(apitest.AdminKey, "/v1/runs").Want(200) // which is for emergencies
	e.fake.Keyring.Fails = &leaderboard.OverloadError{}
	e.Get(key, "/v1/runs").WantProblem(503, wire.CodeOverloaded)
}

// FuzzAuthorization: with any header, only a key opens a route, nothing breaks, and no answer repeats the header.
func FuzzAuthorization(f *testing.F) {
	text, _ := leaderboard.NewKeySecret(leaderboard.NewKeyID())
	for _, s := range []string{"", "Bearer", "Bearer ", "Bearer " + text, "bearer  " + text, "Basic " + text, text, "Bearer lbk_", "Bearer " + text + " ", "Bearer lbk_k\x00_é", "Bearer\t" + text} {
		f.Add(s)
	}
	e := newEnv(f)
	known := e.Key(leaderboard.ScopeAdmin, nil)
	f.Fuzz(func(t *testing.T, value string) {
		e := &env{Env: &apitest.Env{T: t, Handler: e.api, Fake: e.Fake}, api: e.api, fake: e.fake}
		r := e.Do(apitest.Ask{Method: "GET", Path: "/v1/runs", Header: http.Header{"Authorization": {value}}})
		_, secret, _ := strings.Cut(value, " ")
		if secret = strings.TrimSpace(secret); secret == known || secret == apitest.AdminKey {
			return
		}
		if r.Status != 401 && secret != apitest.ReadKey && secret != apitest.WriteKey {
			t.Errorf("%q answers %d", value, r.Status)
		}
		if len(secret) > 12 && strings.Contains(string(r.Body), secret) {
			t.Errorf("the answer repeats %q: %s", value, r.Body)
		}
	})
}
