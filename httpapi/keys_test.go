package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// shownKey is a key in an answer.
type shownKey struct {
	ID, Secret, Name, Scope string
	Boards                  []string
	ExpiresAt               *leaderboard.Micros `json:"expires_at"`
	RevokedAt               *leaderboard.Micros `json:"revoked_at"`
	PreviousUntil           *leaderboard.Micros `json:"previous_secret_until"`
	Quota                   *struct {
		Requests *int64 `json:"requests_per_second"`
		Rows     *int64 `json:"rows_per_second"`
	}
}

func keyIn(r apitest.Reply) (k shownKey) {
	r.T.Helper()
	r.Decode(&k)
	return k
}

// TestKeyLife makes a key, uses, changes, rotates and revokes it, all through the API.
func TestKeyLife(t *testing.T) {
	e := newEnv(t)
	e.Board("game1-a", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	made := e.Post(apitest.AdminKey, "/v1/keys", `{"name":"game1 backend","scope":"write","boards":["game1-*"],"expires_at":null,"quota":{"requests_per_second":50}}`).Want(201)
	k := keyIn(made)
	if made.Header.Get("Cache-Control") != "no-store" || made.Header.Get("Location") != "/v1/keys/"+k.ID {
		t.Errorf("headers %v", made.Header)
	}
	if id, ok := leaderboard.KeyIDIn(k.Secret); !ok || id != k.ID || k.Name != "game1 backend" || k.Scope != "write" || !slices.Equal(k.Boards, []string{"game1-*"}) ||
		k.ExpiresAt != nil || *k.Quota.Requests != 50 || k.Quota.Rows != nil {
		t.Errorf("made %s", made.Body)
	}
	submit := func(key string) apitest.Reply {
		return e.Post(key, "/v1/boards/game1-a/scores", `{"entries":[{"member":"m","score":1}]}`)
	}
	submit(k.Secret).Want(200)
	admin := e.Key(leaderboard.ScopeAdmin, nil)
	e.Board("gone", leaderboard.Rules{})
	e.Delete(admin, "/v1/boards/gone").Want(204)
	if id, _ := leaderboard.KeyIDIn(admin); e.fake.Caller.Key != id {
		t.Errorf("the board was deleted by %q, want %q", e.fake.Caller.Key, id)
	}
	path := "/v1/keys/" + k.ID
	for _, r := range []apitest.Reply{e.Get(apitest.AdminKey, path), e.Get(apitest.AdminKey, "/v1/keys"), e.Get(k.Secret, "/v1/key")} {
		if r.Want(200); !strings.Contains(string(r.Body), k.ID) || strings.Contains(string(r.Body), k.Secret[len(k.Secret)-16:]) {
			t.Errorf("shown as %s", r.Body)
		}
	}
	patch := func(body string) apitest.Reply {
		return e.Do(apitest.Ask{Method: "PATCH", Path: path, Key: apitest.AdminKey, Body: body})
	}
	patch(`{"boards":["game2-*"],"quota":{"rows_per_second":7}}`).Want(200)
	submit(k.Secret).WantProblem(403, wire.CodeForbidden)
	got := keyIn(patch(`{"boards":null,"name":"all"}`).Want(200))
	if got.Boards != nil || got.Name != "all" || *got.Quota.Requests != 50 || *got.Quota.Rows != 7 {
		t.Errorf("changed to %+v", got)
	}
	if got = keyIn(patch(`{"quota":null}`).Want(200)); got.Quota != nil {
		t.Errorf("changed to %+v", got)
	}
	submit(k.Secret).Want(200)

	rotated := e.Post(apitest.AdminKey, path+"/rotate", `{"overlap":"24h"}`).Want(200)
	second := keyIn(rotated)
	if second.ID != k.ID || second.Secret == k.Secret || second.PreviousUntil == nil || rotated.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("rotated: %s", rotated.Body)
	}
	submit(k.Secret).Want(200)
	submit(second.Secret).Want(200)
	e.Post(apitest.AdminKey, path+"/rotate", `{"overlap":"1h"}`).WantProblem(409, "key-overlap")
	submit(k.Secret).Want(200)
	third := keyIn(e.Post(apitest.AdminKey, path+"/rotate", ``).Want(200))
	submit(k.Secret).WantProblem(401, wire.CodeUnauthorized)
	submit(second.Secret).WantProblem(401, wire.CodeUnauthorized)
	submit(third.Secret).Want(200)

	for range 2 {
		e.Delete(apitest.AdminKey, path).Want(204)
	}
	if p := submit(third.Secret).WantProblem(401, wire.CodeUnauthorized); p.Detail != "The key was revoked." {
		t.Errorf("a revoked key is told %q", p.Detail)
	}
	if keyIn(e.Get(apitest.AdminKey, path).Want(200)).RevokedAt == nil {
		t.Error("a revoked key is not shown as one")
	}
	patch(`{"name":"again"}`).WantProblem(409, "key-revoked")
	e.Post(apitest.AdminKey, path+"/rotate", ``).WantProblem(409, "key-revoked")
	e.Get(apitest.AdminKey, "/v1/keys/env:admin").WantProblem(404, "key-not-found")
	e.Delete(apitest.AdminKey, "/v1/keys/"+leaderboard.NewKeyID()).WantProblem(404, "key-not-found")
	if self := keyIn(e.Get(apitest.AdminKey, "/v1/key").Want(200)); self.ID != "env:admin" {
		t.Errorf("a key of the settings is %+v", self)
	}
}

func TestBadKeys(t *testing.T) {
	e := newEnv(t)
	for body, want := range map[string]int{
		`{}`: 400, `{"name":"a"}`: 400, `{"name":null,"scope":"read"}`: 400, `{"name":"a","scope":"read","boards":[]}`: 400, `{"name":"a","scope":"root"}`: 422,
		`{"name":"","scope":"read"}`: 422, `{"name":"a","scope":"read","boards":["*"]}`: 422, `{"name":"a","scope":"read","boards":["A"]}`: 422,
		`{"name":"a","scope":"read","quota":{"rows_per_second":0}}`: 400, `{"name":"a","scope":"read","quota":{"rows_per_second":-1}}`: 422,
		`{"name":"a","scope":"read","quota":{"rows":1}}`: 400, `{"name":"a","scope":"read","expires_at":"soon"}`: 400, `{"name":"a","scope":"read","expires_at":"2023-11-14T22:13:20Z"}`: 422, `{"name":"a","scope":"read","hash":"s"}`: 400,
	} {
		if r := e.Post(apitest.AdminKey, "/v1/keys", body); r.Status != want {
			t.Errorf("%s answers %d, want %d: %s", body, r.Status, want, r.Body)
		}
	}
	if len(e.fake.keys.Rows) > 0 {
		t.Error("a key was made")
	}
	made := keyIn(e.Post(apitest.AdminKey, "/v1/keys", `{"name":"a","scope":"read"}`).Want(201))
	over := apitest.Ask{Method: "PATCH", Path: "/v1/keys/" + made.ID, Key: apitest.AdminKey, Body: `{"expires_at":"2020-01-01T00:00:00Z"}`}
	if p := e.Do(over).WantProblem(422, leaderboard.CodeInvalidKey); p.Errors[0].Pointer != "/expires_at" {
		t.Errorf("points at %+v", p.Errors)
	}
	for _, overlap := range []string{"721h", "-1s", "a day"} {
		e.Post(apitest.AdminKey, "/v1/keys/"+made.ID+"/rotate", `{"overlap":"`+overlap+`"}`).WantProblem(400, wire.CodeMalformed)
	}
}

func TestKeysArePaged(t *testing.T) {
	e := newEnv(t)
	for range 5 {
		e.Key(leaderboard.ScopeRead, nil)
	}
	seen, cursor := map[string]bool{}, ""
	for range 3 {
		var page struct {
			Keys []shownKey
			Next string `json:"next_cursor"`
		}
		e.Get(apitest.AdminKey, "/v1/keys?limit=2"+cursor).Want(200).Decode(&page)
		for _, k := range page.Keys {
			seen[k.ID] = true
		}
		cursor = "&cursor=" + page.Next
	}
	if len(seen) != 5 || cursor != "&cursor=" {
		t.Errorf("%d keys on three pages, and %q", len(seen), cursor)
	}
}

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
	for _, rt := range (&handlers{}).routes(true) {
		methods[rt.Path] = append(methods[rt.Path], rt.Method)
		on := func(board, key string) apitest.Reply {
			path := strings.NewReplacer("{board}", board, "{id}", "1").Replace(rt.Path)
			return e.Do(apitest.Ask{Method: rt.Method, Path: concrete(path), Key: key})
		}
		name := rt.Method + " " + rt.Path
		if rt.Access == guard.AccessAnyone {
			continue
		}
		for sort, key := range dead {
			if r := on("b", key); r.Status != 401 {
				t.Errorf("%s with a key that is %s: %d", name, sort, r.Status)
			}
		}
		if r := on("b", apitest.NoKey); r.Status != 401 && rt.Access != guard.AccessReaders {
			t.Errorf("%s without a key: %d", name, r.Status)
		}
		for _, key := range lesser[rt.Access.Needs()] {
			if r := on("b", key); r.Status != 403 {
				t.Errorf("%s with a lesser scope: %d", name, r.Status)
			}
		}
		if !rt.SomeBoards && !rt.has("board") { // with one: TestNamesOfBoards
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
			if r := e.Do(apitest.Ask{Method: method, Path: concrete(path), Key: apitest.AdminKey}); r.Status != http.StatusMethodNotAllowed && r.Status != http.StatusNotFound {
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
	e.fake.keys.Fails = leaderboard.ErrUnavailable
	e.Get(key, "/v1/runs").WantProblem(503, "unavailable")
	e.Get(apitest.AdminKey, "/v1/runs").Want(200) // which is for emergencies
	e.fake.keys.Fails = &leaderboard.OverloadError{}
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
