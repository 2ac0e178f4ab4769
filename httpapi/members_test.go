package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestProfile(t *testing.T) {
	e := newEnv(t)
	e.get(readKey, "/v1/members/u1").wantProblem(404, "profile-not-found")
	const body = `{"display_name":"Ada \"A\"","avatar_url":"https://example.org/u1.png","attributes":{"b":1.50,"a":"é","c":true}}`
	first := e.put(writeKey, "/v1/members/u1", body).want(201)
	const shown = `{"member":"u1","display_name":"Ada \"A\"","avatar_url":"https://example.org/u1.png","attributes":{"a":"é","b":1.50,"c":true},"updated_time":"2023-11-14T22:13:20.000000Z"}`
	if string(first.body) != shown {
		t.Errorf("got %s", first.body)
	}
	e.fake.SetNow(1_700_000_001_000_000)
	for _, r := range []reply{e.put(writeKey, "/v1/members/u1", body), e.get(readKey, "/v1/members/u1")} {
		if r.want(200); string(r.body) != shown {
			t.Errorf("got %s", r.body)
		}
	}
	// A PUT sets all of it.
	if got := e.put(writeKey, "/v1/members/u1", `{}`).want(200); !strings.Contains(string(got.body), `"display_name":"","avatar_url":"","attributes":{}`) {
		t.Errorf("got %s", got.body)
	}
	e.put(writeKey, "/v1/members/a%2Fb%20", `{"display_name":"slash and space"}`).want(201)
	e.get(readKey, "/v1/members/a%2Fb%20").want(200)
}

// TestPatchProfile: a merge patch changes what it names.
func TestPatchProfile(t *testing.T) {
	e := newEnv(t)
	patch := func(key, body string) reply {
		return e.do(ask{method: http.MethodPatch, path: "/v1/members/u1", key: key, body: body})
	}
	status := 201
	for _, c := range []struct{ body, want string }{
		{`{"display_name":"Ada"}`, `"display_name":"Ada","avatar_url":"","attributes":{}`},
		{`{"attributes":{"b":1.50,"a":"é"}}`, `"display_name":"Ada","avatar_url":"","attributes":{"a":"é","b":1.50}`},
		{`{"avatar_url":"https://example.org/","attributes":{"b":null,"c":true}}`, `"display_name":"Ada","avatar_url":"https://example.org/","attributes":{"a":"é","c":true}`},
		{`{}`, `"display_name":"Ada","avatar_url":"https://example.org/","attributes":{"a":"é","c":true}`},
		{`{"avatar_url":null,"attributes":{}}`, `"display_name":"Ada","avatar_url":"","attributes":{"a":"é","c":true}`},
		{`{"display_name":"","attributes":null}`, `"display_name":"","avatar_url":"","attributes":{}`},
	} {
		got := patch(writeKey, c.body).want(status)
		if !strings.Contains(string(got.body), c.want) {
			t.Errorf("%s: %s\nwant %s", c.body, got.body, c.want)
		}
		if again := e.get(readKey, "/v1/members/u1").want(200); string(again.body) != string(got.body) {
			t.Errorf("%s: shown as %s", c.body, again.body)
		}
		status = 200
	}
	for body, want := range map[string]string{
		`{"display_name":"a\nb"}`:                              "/display_name",
		`{"avatar_url":"ftp://example.org"}`:                   "/avatar_url",
		`{"attributes":{"a":[1]}}`:                             "/attributes/a",
		`{"attributes":{"a":{"b":1}}}`:                         "/attributes/a",
		`{"attributes":{"x":1e999,"c":null}}`:                  "/attributes/x",
		`{"attributes":{"` + strings.Repeat("x", 65) + `":1}}`: "/attributes/" + strings.Repeat("x", 65),
	} {
		p := e.do(ask{method: http.MethodPatch, path: "/v1/members/u1", key: writeKey, body: body, off: true}).wantProblem(422, "invalid-profile")
		if len(p.Errors) == 0 || p.Errors[0].Pointer != want {
			t.Errorf("%s: %+v, want %s", wire.Clip(body), p.Errors, want)
		}
	}
	for _, body := range []string{`[]`, `null`, ``, `{"name":"x"}`, `{"display_name":1}`, `{"attributes":{"a":1,"a":2}}`, `{"avatar_url":["x"]}`} {
		patch(writeKey, body).wantProblem(400, wire.CodeMalformed)
	}
	if p := patch(writeKey, `{"display_name":1}`).wantProblem(400, wire.CodeMalformed); p.Errors[0].Pointer != "/display_name" || p.Errors[0].Detail != "want a string" {
		t.Errorf("%+v", p.Errors)
	}
	patch(readKey, `{}`).wantProblem(403, wire.CodeForbidden)
}

// TestMergePatchMediaType: the media type of merge patches goes with PATCH, and with nothing else.
func TestMergePatchMediaType(t *testing.T) {
	e := newEnv(t)
	for media, status := range map[string]int{
		"application/merge-patch+json": 200, "application/json": 200, "application/merge-patch+json; charset=utf-8": 200,
		"application/json-patch+json": 415, "text/plain": 415, "": 415,
	} {
		for _, method := range []string{http.MethodPut, http.MethodPatch} {
			want := status
			if method == http.MethodPut && strings.Contains(media, "merge") {
				want = 415
			}
			e.put(writeKey, "/v1/members/u1", `{}`)
			r := e.do(ask{method: method, path: "/v1/members/u1", key: writeKey, body: `{}`, header: http.Header{"Content-Type": {media}}, off: true})
			if r.want(want); want == 415 {
				r.wantProblem(415, wire.CodeNotJSON)
			}
		}
	}
}

func TestProfileRejections(t *testing.T) {
	e := newEnv(t)
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf(`"a%d":1`, i)
	}
	for body, want := range map[string]string{
		`{"display_name":"` + strings.Repeat("é", 51) + `"}`:                    "/display_name",
		`{"display_name":"a\nb"}`:                                               "/display_name",
		`{"avatar_url":"javascript:alert(1)"}`:                                  "/avatar_url",
		`{"avatar_url":"//example.org/x"}`:                                      "/avatar_url",
		`{"avatar_url":"https://"}`:                                             "/avatar_url",
		`{"avatar_url":"https://user:pw@example.org/"}`:                         "/avatar_url",
		`{"avatar_url":"https://example.org/a b"}`:                              "/avatar_url",
		`{"avatar_url":"https://example.org/` + strings.Repeat("x", 500) + `"}`: "/avatar_url",
		`{"attributes":{` + strings.Join(many, ",") + `}}`:                      "/attributes",
		`{"attributes":{"a":null}}`:                                             "/attributes/a",
		`{"attributes":{"a/~":[1]}}`:                                            "/attributes/a~1~0",
		`{"attributes":{"a":{}}}`:                                               "/attributes/a",
		`{"attributes":{"":1}}`:                                                 "/attributes/",
		`{"attributes":{"a":1e999}}`:                                            "/attributes/a",
		`{"attributes":[]}`:                                                     "/attributes",
		`{"attributes":{"a":"` + strings.Repeat("x", 1200) + `","b":"` + strings.Repeat("y", 1000) + `"}}`: "/attributes",
	} {
		r := e.do(ask{method: http.MethodPut, path: "/v1/members/u1", key: writeKey, body: body})
		if p := r.wantProblem(422, "invalid-profile"); len(p.Errors) == 0 || p.Errors[0].Pointer != want {
			t.Errorf("%s: %+v, want %s", wire.Clip(body), p.Errors, want)
		}
	}
	for _, body := range []string{`[]`, `{"name":"x"}`, `{"display_name":1}`, `{"attributes":{"a":1,"a":2}}`, `{"display_name":"\ud800"}`, `null`} {
		e.put(writeKey, "/v1/members/u1", body).wantProblem(400, wire.CodeMalformed)
	}
	e.put(writeKey, "/v1/members/"+strings.Repeat("x", 65), `{}`).wantProblem(400, wire.CodeMalformed)
	e.put(readKey, "/v1/members/u1", `{}`).wantProblem(403, wire.CodeForbidden)
	e.get(noKey, "/v1/members/u1").wantProblem(401, wire.CodeUnauthorized)
	e.get(readKey, "/v1/members/u1").wantProblem(404, "profile-not-found") // nothing was stored
}

// TestProfilesBesideEntries: with profiles=true every reading answer shows them, looked up once, and is another answer
// than without.
func TestProfilesBesideEntries(t *testing.T) {
	e := newEnv(t)
	e.board("classic", leaderboard.Rules{}, classic()...)
	e.put(writeKey, "/v1/members/4", `{"display_name":"Four","attributes":{"country":"DE"}}`).want(201)
	const shown = `"profile":{"display_name":"Four","avatar_url":"","attributes":{"country":"DE"}}`
	ranks := func(query string) reply {
		return e.post(noKey, "/v1/boards/classic/ranks"+query, `{"members":["4","5","nobody"]}`)
	}
	read := func(path string) func(string) reply {
		return func(query string) reply { return e.get(noKey, "/v1/boards/classic/"+path+query) }
	}
	for name, ask := range map[string]func(query string) reply{
		"top": read("top"), "member": read("members/4"), "around": read("members/5/around"), "ranks": ranks,
	} {
		without := ask("").want(200)
		delete(e.fake.called, "ProfilesOf")
		with := ask("?profiles=true").want(200)
		if n := strings.Count(string(with.body), `"profile":`); n != 1 || !strings.Contains(string(with.body), shown) {
			t.Errorf("%s shows %d profiles: %s", name, n, with.body)
		}
		if strings.Contains(string(without.body), "profile") || e.fake.calls("ProfilesOf") != 1 {
			t.Errorf("%s: %d look-ups; without profiles it is %s", name, e.fake.calls("ProfilesOf"), without.body)
		}
		if bare := strings.Replace(string(with.body), ","+shown, "", 1); bare != string(without.body) {
			t.Errorf("%s differs in more than the profile:\n%s\n%s", name, with.body, without.body)
		}
		if again := ask("?profiles=false").want(200); string(again.body) != string(without.body) {
			t.Errorf("%s: profiles=false is %s", name, again.body)
		}
		ask("?profiles=yes").wantProblem(400, wire.CodeMalformed)
	}
}

// TestProfilesETag: the ETag names the profiles too, and nothing with profiles is kept for good.
func TestProfilesETag(t *testing.T) {
	e := newEnv(t)
	e.board("classic", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}}, leaderboard.Submission{Member: "4", Score: 1})
	const path = "/v1/boards/classic/members/4?profiles=true"
	etag := func(path string) string { return e.get(noKey, path).want(200).header.Get("Etag") }
	seen := map[string]string{etag("/v1/boards/classic/members/4"): "without", etag(path): "no profile"}
	for _, body := range []string{`{}`, `{"display_name":"x"}`, `{"avatar_url":"http://x"}`, `{"attributes":{"a":1}}`} {
		e.put(writeKey, "/v1/members/4", body)
		tag := etag(path)
		if old := seen[tag]; old != "" {
			t.Errorf("%s and %s have the same ETag", body, old)
		}
		seen[tag] = body
		e.do(ask{method: http.MethodGet, path: path, header: http.Header{"If-None-Match": {tag}}}).want(304)
	}
	e.fake.SetNow(1_700_000_000_000_000 + 86400_000_000)
	e.get(noKey, "/v1/boards/classic/top").want(200)
	const closed = "/v1/boards/classic/top?period=2023-11-14"
	if cc := e.get(noKey, closed+"&profiles=true").want(200).header.Get("Cache-Control"); cc != "public, no-cache" {
		t.Errorf("a closed period with profiles has %q", cc)
	}
}

// TestProfilesAway: when profiles cannot be looked up the ranking is told all the same, marked stale.
func TestProfilesAway(t *testing.T) {
	e := newEnv(t)
	e.board("classic", leaderboard.Rules{}, classic()...)
	e.put(writeKey, "/v1/members/4", `{"display_name":"Four"}`).want(201)
	e.fake.fail["ProfilesOf"] = leaderboard.ErrUnavailable
	for _, path := range []string{"top", "members/4", "members/4/around"} {
		r := e.get(noKey, "/v1/boards/classic/"+path+"?profiles=true").want(200)
		if !r.rows().Stale || r.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: stale %t, %s", path, r.rows().Stale, r.header.Get("Cache-Control"))
		}
		if e.get(noKey, "/v1/boards/classic/"+path).rows().Stale {
			t.Errorf("%s: without profiles it is stale too", path)
		}
	}
}

// lateProfiles finds profiles after longer than an answer beside them may wait unjudged.
type lateProfiles struct{ *fake }

func (l lateProfiles) ProfilesOf(ctx context.Context, members []string) ([]*leaderboard.Profile, error) {
	time.Sleep(2 * slowProfiles)
	return l.fake.ProfilesOf(ctx, members)
}

// TestProfilesLate: an answer that became old while its profiles were looked up says so.
func TestProfilesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, late := range []bool{false, true} {
			for _, fresh := range []bool{false, true} {
				e := newEnv(t, func(c *Config) {
					c.Rankings.(*fake).outlasted = !fresh
					if late {
						c.Profiles = lateProfiles{c.Writer.(*fake)}
					}
				})
				e.board("classic", leaderboard.Rules{}, classic()...)
				for _, path := range []string{"boards/classic/top?", "boards/classic/members/4?", "rankings/top?boards=classic&"} {
					if r := e.get(noKey, "/v1/"+path+"profiles=true").want(200); r.rows().Stale != (late && !fresh) {
						t.Errorf("%s: late %t, fresh %t: stale %t", path, late, fresh, r.rows().Stale)
					}
				}
			}
		}
	})
}

// TestResetName: an admin takes a name away for a reason; keys of scope write cannot give it again, another one they can, and an admin
// gives it back. Only admins are told which names were taken away.
func TestResetName(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const profile, reset = "/v1/members/m", "/v1/members/m/reset-name"
	e.post(adminKey, reset, `{"reason":"a slur"}`).wantProblem(404, leaderboard.ErrProfileNotFound.Code)
	e.put(writeKey, profile, `{"display_name":"Bad","attributes":{"level":7}}`).want(201)
	e.post(writeKey, reset, `{"reason":"a slur"}`).wantProblem(403, wire.CodeForbidden)
	e.post(adminKey, reset, `{}`).wantProblem(422, leaderboard.CodeInvalidReset)
	e.post(adminKey, reset, `{"reason":"`+strings.Repeat("x", 201)+`"}`).wantProblem(422, leaderboard.CodeInvalidReset)
	e.post(e.key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} }), reset, `{"reason":"x"}`).wantProblem(403, wire.CodeForbidden)
	told := func(r reply) string {
		t.Helper()
		var p struct {
			DisplayName string   `json:"display_name"`
			ResetNames  []string `json:"reset_names"`
		}
		r.want(200).decode(&p)
		return fmt.Sprint(p.DisplayName, p.ResetNames)
	}
	if got := told(e.post(adminKey, reset, `{"reason":"a slur","actor":"ruth"}`)); got != "[Bad]" {
		t.Errorf("taken away: %s", got)
	}
	p := e.put(writeKey, profile, `{"display_name":"bad"}`).wantProblem(422, leaderboard.CodeNameReset)
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/display_name" {
		t.Errorf("the problem is %+v", p)
	}
	if got := told(e.do(ask{method: http.MethodPatch, path: profile, key: writeKey, body: `{"display_name":"Good"}`})); got != "Good[]" {
		t.Errorf("another name: %s", got)
	}
	for key, want := range map[string]string{readKey: "Good[]", writeKey: "Good[]", adminKey: "Good[Bad]"} {
		if got := told(e.get(key, profile)); got != want {
			t.Errorf("%s is told %s", key, got)
		}
	}
	if got := told(e.do(ask{method: http.MethodPatch, path: profile, key: adminKey, body: `{"display_name":"Bad"}`})); got != "Bad[]" {
		t.Errorf("given back: %s", got)
	}
}
