package players

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"leaderboard/api"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// newEnv returns an API with the routes of the feature over a fake.
func newEnv(t testing.TB) (*apitest.Env, *fakeIssuers) {
	fake := &fakeIssuers{apitest.NewTable[Issuer](leaderboard.ErrIssuerNotFound), apitest.NewTable[MemberBar](leaderboard.ErrBarNotFound), nil, nil}
	return featuretest.New(t, func(*apitest.Fake) []httpapi.Route {
		return routes(issuerHandlers{fake, fake}, tokenHandlers{fake, fake, fake})
	}), fake
}

// TestExamples runs the lines for a shell of /docs.
func TestExamples(t *testing.T) {
	server := func(t testing.TB) *apitest.Env { e, _ := newEnv(t); return e }
	issuer := func(e *apitest.Env, line string) string {
		e.Put(apitest.AdminKey, "/v1/issuers/game1", `{"issuer":"i","audience":"a","jwks_url":"https://i.example/"}`).Want(201)
		return line
	}
	bar := func(e *apitest.Env, line string) string {
		e.Put(apitest.AdminKey, "/v1/members/1/bar", "").Want(200)
		return line
	}
	featuretest.Examples(t, routes(issuerHandlers{}, tokenHandlers{}), server, map[string]func(*apitest.Env, string) string{
		"getIssuer": issuer, "deleteIssuer": issuer, "getBar": bar, "unbarMember": bar,
	})
}

// TestCreateToken: the claims that a key may put into a token.
func TestCreateToken(t *testing.T) {
	e, fake := newEnv(t)
	var made api.Token
	e.Post(apitest.WriteKey, "/v1/tokens", `{"member":"5","boards":["game1-x"],"ttl":"10m"}`).Want(201).Decode(&made)
	g := fake.granted[0]
	if g.Member != "5" || g.Boards[0] != "game1-x" || g.TTL != 10*time.Minute || g.Key != "env:write" || made.Token != "a.b.c" || made.Member != "5" {
		t.Errorf("%+v of %+v", made, g)
	}
	e.Post(apitest.WriteKey, "/v1/tokens", `{"member":"5"}`).Want(201)
	if g := fake.granted[1]; g.TTL != time.Hour || g.Boards != nil {
		t.Errorf("%+v", g)
	}
	for _, body := range []string{
		`{"member":"5","ttl":"25h"}`, `{"member":"5","ttl":"0s"}`, `{"member":""}`, `{"member":"5","boards":["UPPER"]}`,
	} {
		e.Post(apitest.WriteKey, "/v1/tokens", body).WantProblem(422, leaderboard.CodeInvalidToken)
	}
	for _, body := range []string{`{}`, `{"member":"5","boards":[]}`, `{"member":"5","ttl":"x"}`, `{"member":"5","scope":"admin"}`} {
		e.Do(apitest.Ask{Method: "POST", Path: "/v1/tokens", Key: apitest.WriteKey, Body: body, Off: true}).WantProblem(400, wire.CodeMalformed)
	}
	key := e.Key(leaderboard.ScopeWrite, func(k *leaderboard.Key) { k.Boards = []string{"game1-*", "other"} })
	for body, want := range map[string]int{
		`{"member":"5","boards":["game1-x","other"]}`: 201, `{"member":"5","boards":["game1-x*"]}`: 201, `{"member":"5"}`: 403,
		`{"member":"5","boards":["game*"]}`: 403, `{"member":"5","boards":["other*"]}`: 403, `{"member":"5","boards":null}`: 403,
	} {
		if r := e.Post(key, "/v1/tokens", body); r.Status != want {
			t.Errorf("%s: %d, want %d", body, r.Status, want)
		}
	}
	if n := len(fake.granted); n != 4 {
		t.Errorf("%d tokens were made", n)
	}
	var set api.TokenKeys
	e.Get(apitest.NoKey, "/.well-known/jwks.json").Want(200).Decode(&set)
	if len(set.Keys) != 1 || set.Keys[0].CRV != "Ed25519" {
		t.Errorf("%+v", set)
	}
	e.Post(apitest.AdminKey, "/v1/tokens/rotate", `{"overlap":"0s"}`).Want(204)
	e.Do(apitest.Ask{Method: "POST", Path: "/v1/tokens/rotate", Key: apitest.AdminKey}).Want(204)
	e.Post(apitest.AdminKey, "/v1/tokens/rotate", `{"overlap":"25h"}`).WantProblem(400, wire.CodeMalformed)
	if got := fmt.Sprint(fake.overlap); got != "[0s 24h0m0s]" {
		t.Error(got)
	}
}

// TestIssuersByHTTP: issuers are made, replaced, listed and deleted; faults are reported with their place.
func TestIssuersByHTTP(t *testing.T) {
	e, _ := newEnv(t)
	good := `{"issuer":"https://a.example","audience":"game","jwks_url":"https://a.example/keys","algorithms":["ES256"],"prefix":"a:"}`
	var made api.Issuer
	e.Put(apitest.AdminKey, "/v1/issuers/a", good).Want(201).Decode(&made)
	if made.Name != "a" || made.MemberClaim != "sub" || made.MaxAge != "24h" || made.Prefix != "a:" {
		t.Errorf("%+v", made)
	}
	own := e.Get(apitest.AdminKey, "/v1/issuers/a").Want(200)
	e.Put(apitest.AdminKey, "/v1/issuers/a", string(own.Body)).Want(200)
	for body, pointer := range map[string]string{
		`{"issuer":"x","audience":"g"}`:                                                          "/jwks_url",
		`{"issuer":"x","audience":"g","jwks_url":"https://x","jwks":{"keys":[]}}`:                "/jwks_url",
		`{"issuer":"x","audience":"g","jwks_url":"ftp://x"}`:                                     "/jwks_url",
		`{"issuer":"x","audience":"g","jwks_url":"https://10.0.0.1/keys"}`:                       "/jwks_url",
		`{"issuer":"x","audience":"g","jwks_url":"https://u:p@x/"}`:                              "/jwks_url",
		`{"issuer":"leaderboard","audience":"g","jwks_url":"https://x/"}`:                        "/issuer",
		`{"issuer":"x","audience":"g","jwks_url":"https://x/","max_age":"169h"}`:                 "/max_age",
		`{"issuer":"https://a.example","audience":"g","jwks_url":"https://x/","prefix":"b:"}`:    "/issuer",
		`{"issuer":"x","audience":"g","jwks_url":"https://x/"}`:                                  "/prefix",
		`{"issuer":"x","audience":"g","jwks_url":"https://x/","prefix":"a:b:"}`:                  "/prefix",
		`{"issuer":"x","audience":"g","jwks_url":"https://x/","requests_per_second":2000000000}`: "/requests_per_second",
	} {
		r := e.Do(apitest.Ask{Method: "PUT", Path: "/v1/issuers/b", Key: apitest.AdminKey, Body: body, Off: true})
		if p := r.WantProblem(422, leaderboard.CodeInvalidIssuer); len(p.Errors) != 1 || p.Errors[0].Pointer != pointer {
			t.Errorf("%s: %+v", body, p.Errors)
		}
	}
	e.Do(apitest.Ask{Method: "PUT", Path: "/v1/issuers/b", Key: apitest.AdminKey, Body: `{"issuer":"x","audience":"g","jwks_url":"https://x/","algorithms":["HS256"]}`, Off: true}).
		WantProblem(422, leaderboard.CodeInvalidIssuer)
	e.Do(apitest.Ask{Method: "PUT", Path: "/v1/issuers/B", Key: apitest.AdminKey, Body: good, Off: true}).WantProblem(422, leaderboard.CodeInvalidIssuer)
	var list struct{ Issuers []api.Issuer }
	e.Get(apitest.AdminKey, "/v1/issuers").Want(200).Decode(&list)
	if len(list.Issuers) != 1 || list.Issuers[0].Name != "a" {
		t.Errorf("%+v", list)
	}
	e.Delete(apitest.AdminKey, "/v1/issuers/a").Want(204)
	e.Delete(apitest.AdminKey, "/v1/issuers/a").WantProblem(404, leaderboard.ErrIssuerNotFound.Code)
	e.Get(apitest.AdminKey, "/v1/issuers/a").WantProblem(404, leaderboard.ErrIssuerNotFound.Code)
}

// TestBarsByHTTP: the tokens of a member end, and that is taken back.
func TestBarsByHTTP(t *testing.T) {
	e, _ := newEnv(t)
	e.Get(apitest.AdminKey, "/v1/members/5/bar").WantProblem(404, leaderboard.ErrBarNotFound.Code)
	e.Put(apitest.AdminKey, "/v1/members/5/bar", "").Want(200)
	var bar api.Bar
	e.Get(apitest.AdminKey, "/v1/members/5/bar").Want(200).Decode(&bar)
	if bar.Member != "5" || bar.NotBefore.IsZero() {
		t.Errorf("%+v", bar)
	}
	e.Delete(apitest.AdminKey, "/v1/members/5/bar").Want(204)
	e.Delete(apitest.AdminKey, "/v1/members/5/bar").WantProblem(404, leaderboard.ErrBarNotFound.Code)
}

// TestNullAndEmpty: null and the empty string are taken where the document allows them and nowhere else.
func TestNullAndEmpty(t *testing.T) {
	for path, body := range map[string]string{
		"PUT /v1/issuers/i": `{"issuer":"x","audience":"g","jwks_url":"https://x.example/","algorithms":["RS256"],"member_claim":"m","prefix":"p","boards_claim":"b","max_age":"1h",
			"requests_per_second":1,"rows_per_second":2,"name":"i","passed_over":[],"created_time":"2026-01-01T00:00:00Z","updated_time":"2026-01-01T00:00:00Z"}`,
		"PUT /v1/members/m/bar": `{"not_before":"2026-01-01T00:00:00Z"}`,
		"POST /v1/tokens":       `{"member":"m","boards":["b"],"ttl":"1h"}`,
	} {
		e, _ := newEnv(t)
		method, path, _ := strings.Cut(path, " ")
		apitest.NullAndEmpty(t, e, apitest.Ask{Method: method, Path: path, Key: apitest.AdminKey, Body: body}, true)
	}
}
