package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

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

func (r reply) key() (k shownKey) {
	r.t.Helper()
	r.decode(&k)
	return k
}

// TestKeyLife makes a key, uses, changes, rotates and revokes it, all through the API.
func TestKeyLife(t *testing.T) {
	e := newEnv(t)
	e.board("game1-a", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	made := e.post(adminKey, "/v1/keys", `{"name":"game1 backend","scope":"write","boards":["game1-*"],"expires_at":null,"quota":{"requests_per_second":50}}`).want(201)
	k := made.key()
	if made.header.Get("Cache-Control") != "no-store" || made.header.Get("Location") != "/v1/keys/"+k.ID {
		t.Errorf("headers %v", made.header)
	}
	if id, ok := leaderboard.KeyIDIn(k.Secret); !ok || id != k.ID || k.Name != "game1 backend" || k.Scope != "write" || !slices.Equal(k.Boards, []string{"game1-*"}) ||
		k.ExpiresAt != nil || *k.Quota.Requests != 50 || k.Quota.Rows != nil {
		t.Errorf("made %s", made.body)
	}
	submit := func(key string) reply {
		return e.post(key, "/v1/boards/game1-a/scores", `{"entries":[{"member":"m","score":1}]}`)
	}
	submit(k.Secret).want(200)
	admin := e.key(leaderboard.ScopeAdmin, nil)
	e.board("gone", leaderboard.Rules{})
	e.delete(admin, "/v1/boards/gone").want(204)
	if id, _ := leaderboard.KeyIDIn(admin); e.fake.caller.Key != id {
		t.Errorf("the board was deleted by %q, want %q", e.fake.caller.Key, id)
	}
	path := "/v1/keys/" + k.ID
	for _, r := range []reply{e.get(adminKey, path), e.get(adminKey, "/v1/keys"), e.get(k.Secret, "/v1/key")} {
		if r.want(200); !strings.Contains(string(r.body), k.ID) || strings.Contains(string(r.body), k.Secret[len(k.Secret)-16:]) {
			t.Errorf("shown as %s", r.body)
		}
	}
	patch := func(body string) reply {
		return e.do(ask{method: "PATCH", path: path, key: adminKey, body: body})
	}
	patch(`{"boards":["game2-*"],"quota":{"rows_per_second":7}}`).want(200)
	submit(k.Secret).wantProblem(403, wire.CodeForbidden)
	got := patch(`{"boards":null,"name":"all"}`).want(200).key()
	if got.Boards != nil || got.Name != "all" || *got.Quota.Requests != 50 || *got.Quota.Rows != 7 {
		t.Errorf("changed to %+v", got)
	}
	if got = patch(`{"quota":null}`).want(200).key(); got.Quota != nil {
		t.Errorf("changed to %+v", got)
	}
	submit(k.Secret).want(200)

	rotated := e.post(adminKey, path+"/rotate", `{"overlap":"24h"}`).want(200)
	second := rotated.key()
	if second.ID != k.ID || second.Secret == k.Secret || second.PreviousUntil == nil || rotated.header.Get("Cache-Control") != "no-store" {
		t.Errorf("rotated: %s", rotated.body)
	}
	submit(k.Secret).want(200)
	submit(second.Secret).want(200)
	e.post(adminKey, path+"/rotate", `{"overlap":"1h"}`).wantProblem(409, "key-overlap")
	submit(k.Secret).want(200)
	third := e.post(adminKey, path+"/rotate", ``).want(200).key()
	submit(k.Secret).wantProblem(401, wire.CodeUnauthorized)
	submit(second.Secret).wantProblem(401, wire.CodeUnauthorized)
	submit(third.Secret).want(200)

	for range 2 {
		e.delete(adminKey, path).want(204)
	}
	if p := submit(third.Secret).wantProblem(401, wire.CodeUnauthorized); p.Detail != "The key was revoked." {
		t.Errorf("a revoked key is told %q", p.Detail)
	}
	if e.get(adminKey, path).want(200).key().RevokedAt == nil {
		t.Error("a revoked key is not shown as one")
	}
	patch(`{"name":"again"}`).wantProblem(409, "key-revoked")
	e.post(adminKey, path+"/rotate", ``).wantProblem(409, "key-revoked")
	e.get(adminKey, "/v1/keys/env:admin").wantProblem(404, "key-not-found")
	e.delete(adminKey, "/v1/keys/"+leaderboard.NewKeyID()).wantProblem(404, "key-not-found")
	if self := e.get(adminKey, "/v1/key").want(200).key(); self.ID != "env:admin" {
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
		if r := e.post(adminKey, "/v1/keys", body); r.status != want {
			t.Errorf("%s answers %d, want %d: %s", body, r.status, want, r.body)
		}
	}
	if len(e.fake.keys.rows) > 0 {
		t.Error("a key was made")
	}
	made := e.post(adminKey, "/v1/keys", `{"name":"a","scope":"read"}`).want(201).key()
	over := ask{method: "PATCH", path: "/v1/keys/" + made.ID, key: adminKey, body: `{"expires_at":"2020-01-01T00:00:00Z"}`}
	if p := e.do(over).wantProblem(422, leaderboard.CodeInvalidKey); p.Errors[0].Pointer != "/expires_at" {
		t.Errorf("points at %+v", p.Errors)
	}
	for _, overlap := range []string{"721h", "-1s", "a day"} {
		e.post(adminKey, "/v1/keys/"+made.ID+"/rotate", `{"overlap":"`+overlap+`"}`).wantProblem(400, wire.CodeMalformed)
	}
}

func TestKeysArePaged(t *testing.T) {
	e := newEnv(t)
	for range 5 {
		e.key(leaderboard.ScopeRead, nil)
	}
	seen, cursor := map[string]bool{}, ""
	for range 3 {
		var page struct {
			Keys []shownKey
			Next string `json:"next_cursor"`
		}
		e.get(adminKey, "/v1/keys?limit=2"+cursor).want(200).decode(&page)
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
	e.board("b", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate}, leaderboard.Submission{Member: "m"})
	e.board("open", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	now := leaderboard.MicrosOf(time.Now())
	unknown, _ := leaderboard.NewKeySecret(leaderboard.NewKeyID())
	dead := map[string]string{
		"unknown": unknown, "mistyped": "Lbk_x",
		"expired": e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.ExpiresAt = now }),
		"revoked": e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.RevokedAt = now }),
	}
	lesser := map[leaderboard.Scope][]string{
		leaderboard.ScopeWrite: {e.key(leaderboard.ScopeRead, nil)},
		leaderboard.ScopeAdmin: {e.key(leaderboard.ScopeRead, nil), e.key(leaderboard.ScopeWrite, nil)},
	}
	elsewhere := e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game2-*"} })
	writes := e.fake.writes()
	methods := map[string][]string{}
	for _, rt := range (&handlers{}).routes(true) {
		methods[rt.Path] = append(methods[rt.Path], rt.Method)
		on := func(board, key string) reply {
			path := strings.NewReplacer("{board}", board, "{id}", "1").Replace(rt.Path)
			return e.do(ask{method: rt.Method, path: concrete(path), key: key})
		}
		name := rt.Method + " " + rt.Path
		if rt.Access == guard.AccessAnyone {
			continue
		}
		for sort, key := range dead {
			if r := on("b", key); r.status != 401 {
				t.Errorf("%s with a key that is %s: %d", name, sort, r.status)
			}
		}
		if r := on("b", noKey); r.status != 401 && rt.Access != guard.AccessReaders {
			t.Errorf("%s without a key: %d", name, r.status)
		}
		for _, key := range lesser[rt.Access.Needs()] {
			if r := on("b", key); r.status != 403 {
				t.Errorf("%s with a lesser scope: %d", name, r.status)
			}
		}
		if !rt.SomeBoards && !rt.has("board") { // with one: TestNamesOfBoards
			if r := on("", elsewhere); r.status != 403 {
				t.Errorf("%s with a key for some boards: %d", name, r.status)
			}
		}
	}
	if e.fake.writes() != writes {
		t.Error("a request without rights changed something")
	}
	for path, has := range methods {
		for _, method := range []string{"GET", "PUT", "POST", "PATCH", "DELETE", "TRACE", "PURGE"} {
			if slices.Contains(has, method) {
				continue
			}
			if r := e.do(ask{method: method, path: concrete(path), key: adminKey}); r.status != http.StatusMethodNotAllowed && r.status != http.StatusNotFound {
				t.Errorf("%s %s, which is no route: %d", method, path, r.status)
			}
		}
	}
}

// TestKeyForSomeBoards: on routes about several boards a key that is for some of them sees and changes no other.
func TestKeyForSomeBoards(t *testing.T) {
	e := newEnv(t)
	for _, name := range []string{"game1-a", "game1-b", "game2-a"} {
		e.board(name, leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate, Labels: leaderboard.Labels{"type": "moba"}}, leaderboard.Submission{Member: name})
	}
	e.board("open", leaderboard.Rules{}, leaderboard.Submission{Member: "m"})
	key := e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} })
	var boards struct{ Boards []struct{ Name string } }
	e.get(key, "/v1/boards").want(200).decode(&boards)
	if got := fmt.Sprint(boards.Boards); got != "[{game1-a} {game1-b} {open}]" {
		t.Errorf("lists %s", got)
	}
	if got := e.get(key, "/v1/rankings/top?labels=type:moba").rows(); len(got.Entries) != 2 {
		t.Errorf("ranked as one: %+v", got)
	}
	e.get(key, "/v1/rankings/top?boards=game1-a,game1-b").want(200)
	e.get(key, "/v1/rankings/top?boards=game1-a,game2-a").wantProblem(404, "board-not-found")
	e.get(key, "/v1/rankings/top?boards=game1-a,nothing").wantProblem(404, "board-not-found")
	e.get(key, "/v1/rankings/top?boards=game1-a,open").want(200) // as for anybody

	both := `{"entries":[{"board":"game1-a","member":"x","score":1},{"board":"%s","member":"x","score":1}]}`
	e.post(key, "/v1/scores", fmt.Sprintf(both, "game1-b")).want(200)
	writes := e.fake.writes()
	for _, other := range []string{"game2-a", "nothing", "open"} {
		if p := e.post(key, "/v1/scores", fmt.Sprintf(both, other)).wantProblem(403, wire.CodeForbidden); p.Errors[0].Pointer != "/entries/1/board" {
			t.Errorf("points at %+v", p.Errors)
		}
	}
	if e.fake.writes() != writes {
		t.Error("a part of a request was done")
	}
	for _, path := range []string{"/v1/hidden", "/v1/runs"} {
		e.get(key, path).wantProblem(403, wire.CodeForbidden)
		e.get(key, path+"?board=game1-a").want(200)
	}
	run := e.post(adminKey, "/v1/boards/game2-a/rebuild", ``).want(202)
	e.get(adminKey, run.header.Get("Location")).want(200)
	e.get(key, run.header.Get("Location")).wantProblem(404, "run-not-found")
	e.put(key, "/v1/boards/game1-c", `{}`).want(201)
	e.put(key, "/v1/boards/game2-c", `{}`).wantProblem(403, wire.CodeForbidden)
	derived := `{"derive":{"from":[{"board":"game1-a"},{"board":"%s"}]}}`
	e.put(key, "/v1/boards/game1-d", fmt.Sprintf(derived, "game1-b")).want(201)
	if p := e.put(key, "/v1/boards/game1-e", fmt.Sprintf(derived, "game2-a")).wantProblem(403, wire.CodeForbidden); p.Errors[0].Pointer != "/derive/from/1/board" {
		t.Errorf("points at %+v", p.Errors)
	}
	e.do(ask{method: "PATCH", path: "/v1/boards/game1-d", key: key, body: fmt.Sprintf(derived, "game2-a")}).wantProblem(403, wire.CodeForbidden)
}

// TestKeysNotKnownNow: while it cannot be found out whether a key exists, it is not called unknown.
func TestKeysNotKnownNow(t *testing.T) {
	e := newEnv(t)
	key := e.key(leaderboard.ScopeAdmin, nil)
	e.fake.keys.fails = leaderboard.ErrUnavailable
	e.get(key, "/v1/runs").wantProblem(503, "unavailable")
	e.get(adminKey, "/v1/runs").want(200) // which is for emergencies
	e.fake.keys.fails = &leaderboard.OverloadError{}
	e.get(key, "/v1/runs").wantProblem(503, wire.CodeOverloaded)
}

// FuzzAuthorization: with any header, only a key opens a route, nothing breaks, and no answer repeats the header.
func FuzzAuthorization(f *testing.F) {
	text, _ := leaderboard.NewKeySecret(leaderboard.NewKeyID())
	for _, s := range []string{"", "Bearer", "Bearer ", "Bearer " + text, "bearer  " + text, "Basic " + text, text, "Bearer lbk_", "Bearer " + text + " ", "Bearer lbk_k\x00_é", "Bearer\t" + text} {
		f.Add(s)
	}
	e := newEnv(f)
	known := e.key(leaderboard.ScopeAdmin, nil)
	f.Fuzz(func(t *testing.T, value string) {
		e := &env{t: t, api: e.api, fake: e.fake}
		r := e.do(ask{method: "GET", path: "/v1/runs", header: http.Header{"Authorization": {value}}})
		_, secret, _ := strings.Cut(value, " ")
		if secret = strings.TrimSpace(secret); secret == known || secret == adminKey {
			return
		}
		if r.status != 401 && secret != readKey && secret != writeKey {
			t.Errorf("%q answers %d", value, r.status)
		}
		if len(secret) > 12 && strings.Contains(string(r.body), secret) {
			t.Errorf("the answer repeats %q: %s", value, r.body)
		}
	})
}
