package keys

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// newEnv returns an API with the routes of keys over a fake.
func newEnv(t testing.TB) *apitest.Env {
	return featuretest.New(t, func(f *apitest.Fake) []httpapi.Route { h := handlers{&fakeKeys{f.Keyring}}; return h.routes() })
}

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

func shownIn(r apitest.Reply) (k shownKey) {
	r.T.Helper()
	r.Decode(&k)
	return k
}

// TestExamples runs the lines for a shell of /docs.
func TestExamples(t *testing.T) {
	about := func(e *apitest.Env, line string) string {
		made := shownIn(e.Post(apitest.AdminKey, "/v1/keys", `{"name":"a","scope":"read"}`).Want(201))
		return regexp.MustCompile(`/v1/keys/\w+`).ReplaceAllString(line, "/v1/keys/"+made.ID)
	}
	featuretest.Examples(t, (&handlers{}).routes(), newEnv, map[string]func(*apitest.Env, string) string{"getKey": about, "changeKey": about, "revokeKey": about, "rotateKey": about})
}

// TestKeyLife makes a key, uses, changes, rotates and revokes it, all through the API.
func TestKeyLife(t *testing.T) {
	e := newEnv(t)
	e.Board("game1-a", leaderboard.Rules{Visibility: leaderboard.VisibilityPrivate})
	made := e.Post(apitest.AdminKey, "/v1/keys", `{"name":"game1 backend","scope":"write","boards":["game1-*"],"expires_at":null,"quota":{"requests_per_second":50}}`).Want(201)
	k := shownIn(made)
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
	if id, _ := leaderboard.KeyIDIn(admin); e.Fake.Caller.Key != id {
		t.Errorf("the board was deleted by %q, want %q", e.Fake.Caller.Key, id)
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
	got := shownIn(patch(`{"boards":null,"name":"all"}`).Want(200))
	if got.Boards != nil || got.Name != "all" || *got.Quota.Requests != 50 || *got.Quota.Rows != 7 {
		t.Errorf("changed to %+v", got)
	}
	if got = shownIn(patch(`{"quota":null}`).Want(200)); got.Quota != nil {
		t.Errorf("changed to %+v", got)
	}
	submit(k.Secret).Want(200)

	rotated := e.Post(apitest.AdminKey, path+"/rotate", `{"overlap":"24h"}`).Want(200)
	second := shownIn(rotated)
	if second.ID != k.ID || second.Secret == k.Secret || second.PreviousUntil == nil || rotated.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("rotated: %s", rotated.Body)
	}
	submit(k.Secret).Want(200)
	submit(second.Secret).Want(200)
	e.Post(apitest.AdminKey, path+"/rotate", `{"overlap":"1h"}`).WantProblem(409, "key-overlap")
	submit(k.Secret).Want(200)
	third := shownIn(e.Post(apitest.AdminKey, path+"/rotate", ``).Want(200))
	submit(k.Secret).WantProblem(401, wire.CodeUnauthorized)
	submit(second.Secret).WantProblem(401, wire.CodeUnauthorized)
	submit(third.Secret).Want(200)

	for range 2 {
		e.Delete(apitest.AdminKey, path).Want(204)
	}
	if p := submit(third.Secret).WantProblem(401, wire.CodeUnauthorized); p.Detail != "The key was revoked." {
		t.Errorf("a revoked key is told %q", p.Detail)
	}
	if shownIn(e.Get(apitest.AdminKey, path).Want(200)).RevokedAt == nil {
		t.Error("a revoked key is not shown as one")
	}
	patch(`{"name":"again"}`).WantProblem(409, "key-revoked")
	e.Post(apitest.AdminKey, path+"/rotate", ``).WantProblem(409, "key-revoked")
	e.Get(apitest.AdminKey, "/v1/keys/env:admin").WantProblem(404, "key-not-found")
	e.Delete(apitest.AdminKey, "/v1/keys/"+leaderboard.NewKeyID()).WantProblem(404, "key-not-found")
	if self := shownIn(e.Get(apitest.AdminKey, "/v1/key").Want(200)); self.ID != "env:admin" {
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
	if len(e.Fake.Keyring.Rows) > 0 {
		t.Error("a key was made")
	}
	made := shownIn(e.Post(apitest.AdminKey, "/v1/keys", `{"name":"a","scope":"read"}`).Want(201))
	over := apitest.Ask{Method: "PATCH", Path: "/v1/keys/" + made.ID, Key: apitest.AdminKey, Body: `{"expires_at":"2020-01-01T00:00:00Z"}`}
	if p := e.Do(over).WantProblem(422, leaderboard.CodeInvalidKey); p.Errors[0].Pointer != "/expires_at" {
		t.Errorf("points at %+v", p.Errors)
	}
	key := `{"name":"n","scope":"write","quota":{"requests_per_second":1e2,"rows_per_second":"1000.0"}}` // numbers in other forms
	e.Do(apitest.Ask{Method: "POST", Path: "/v1/keys", Key: apitest.AdminKey, Body: key, Off: true}).Want(201)
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
