package people_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/features/people"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// newEnv returns an API with the routes of the feature and its Show over a fake.
func newEnv(t testing.TB, change ...func(*httpapi.Config)) *apitest.Env {
	return newEnvShowing(t, func(f *fake) people.Loader { return f }, change...)
}

// newEnvShowing returns the API of newEnv with another source of the profiles that are shown.
func newEnvShowing(t testing.TB, shown func(*fake) people.Loader, change ...func(*httpapi.Config)) *apitest.Env {
	var of *fake
	show := func(c *httpapi.Config) { c.Shows = []httpapi.Show{people.Show{Profiles: shown(of)}} }
	return featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		of = newFake(f)
		return people.Routes(httpapi.Resolver{Catalog: f}, httpapi.Reading{Rankings: f, Feed: f}, of)
	}, append([]func(*httpapi.Config){show}, change...)...)
}

// TestExamples runs the lines for a shell of /docs that are about people.
func TestExamples(t *testing.T) {
	featuretest.Examples(t, people.Feature().Open(&features.Engine{}).Routes, func(t testing.TB) *apitest.Env {
		e := newEnv(t)
		e.Board("demo", leaderboard.Rules{}, apitest.Classic()...)
		e.Put(apitest.WriteKey, "/v1/members/1", `{"display_name":"Ada"}`).Want(201)
		return e
	}, nil)
}

// TestNullAndEmpty: null and the empty string are taken where the document says so and nowhere else.
func TestNullAndEmpty(t *testing.T) {
	const body = `{"display_name":"d","avatar_url":"https://example.org/a.png","attributes":{"window":"x","level":1}}`
	apitest.NullAndEmpty(t, newEnv(t), apitest.Ask{Method: "PUT", Path: "/v1/members/m", Key: apitest.AdminKey, Body: body}, false)
}

// charges are Quotas that note what callers are charged for.
type charges struct {
	httpapi.Quotas
	charged leaderboard.Charge
}

// Charge implements httpapi.Quotas.
func (q *charges) Charge(_ httpapi.Bearer, _ netip.Addr, c leaderboard.Charge) leaderboard.Allowance {
	for kind, n := range c {
		q.charged[kind] += n
	}
	return leaderboard.Allowance{}
}

// TestChargedFor: the charge of each route.
func TestChargedFor(t *testing.T) {
	for _, c := range []struct {
		method, path, body    string
		requests, rows, heavy int
	}{
		{"PUT", "/v1/members/m", `{"display_name":"M"}`, 1, 1, 0},
		{"GET", "/v1/boards/b/members?q=ada", "", 1, 0, 5},
	} {
		q := &charges{}
		e := newEnv(t, func(c *httpapi.Config) { c.Quotas = q })
		e.Board("b", leaderboard.Rules{})
		e.Do(apitest.Ask{Method: c.method, Path: c.path, Body: c.body, Key: apitest.AdminKey})
		if want := (leaderboard.Charge{c.requests, c.rows, c.heavy}); q.charged != want {
			t.Errorf("%s %s: charged %v, want %v", c.method, c.path, q.charged, want)
		}
	}
}

func TestProfile(t *testing.T) {
	e := newEnv(t)
	e.Get(apitest.ReadKey, "/v1/members/u1").WantProblem(404, "profile-not-found")
	const body = `{"display_name":"Ada \"A\"","avatar_url":"https://example.org/u1.png","attributes":{"b":1.50,"a":"é","c":true}}`
	first := e.Put(apitest.WriteKey, "/v1/members/u1", body).Want(201)
	const shown = `{"member":"u1","display_name":"Ada \"A\"","avatar_url":"https://example.org/u1.png","attributes":{"a":"é","b":1.50,"c":true},"updated_time":"2023-11-14T22:13:20.000000Z"}`
	if string(first.Body) != shown {
		t.Errorf("got %s", first.Body)
	}
	e.Fake.SetNow(1_700_000_001_000_000)
	for _, r := range []apitest.Reply{e.Put(apitest.WriteKey, "/v1/members/u1", body), e.Get(apitest.ReadKey, "/v1/members/u1")} {
		if r.Want(200); string(r.Body) != shown {
			t.Errorf("got %s", r.Body)
		}
	}
	// A PUT sets all of it.
	if got := e.Put(apitest.WriteKey, "/v1/members/u1", `{}`).Want(200); !strings.Contains(string(got.Body), `"display_name":"","avatar_url":"","attributes":{}`) {
		t.Errorf("got %s", got.Body)
	}
	e.Put(apitest.WriteKey, "/v1/members/a%2Fb%20", `{"display_name":"slash and space"}`).Want(201)
	e.Get(apitest.ReadKey, "/v1/members/a%2Fb%20").Want(200)
}

// TestPatchProfile: a merge patch changes only the parts that it has.
func TestPatchProfile(t *testing.T) {
	e := newEnv(t)
	patch := func(key, body string) apitest.Reply {
		return e.Do(apitest.Ask{Method: http.MethodPatch, Path: "/v1/members/u1", Key: key, Body: body})
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
		got := patch(apitest.WriteKey, c.body).Want(status)
		if !strings.Contains(string(got.Body), c.want) {
			t.Errorf("%s: %s\nwant %s", c.body, got.Body, c.want)
		}
		if again := e.Get(apitest.ReadKey, "/v1/members/u1").Want(200); string(again.Body) != string(got.Body) {
			t.Errorf("%s: shown as %s", c.body, again.Body)
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
		p := e.Do(apitest.Ask{Method: http.MethodPatch, Path: "/v1/members/u1", Key: apitest.WriteKey, Body: body, Off: true}).WantProblem(422, "invalid-profile")
		if len(p.Errors) == 0 || p.Errors[0].Pointer != want {
			t.Errorf("%s: %+v, want %s", wire.Clip(body), p.Errors, want)
		}
	}
	for _, body := range []string{`[]`, `null`, ``, `{"name":"x"}`, `{"display_name":1}`, `{"attributes":{"a":1,"a":2}}`, `{"avatar_url":["x"]}`} {
		patch(apitest.WriteKey, body).WantProblem(400, wire.CodeMalformed)
	}
	if p := patch(apitest.WriteKey, `{"display_name":1}`).WantProblem(400, wire.CodeMalformed); p.Errors[0].Pointer != "/display_name" || p.Errors[0].Detail != "want a string" {
		t.Errorf("%+v", p.Errors)
	}
	patch(apitest.ReadKey, `{}`).WantProblem(403, wire.CodeForbidden)
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
			e.Put(apitest.WriteKey, "/v1/members/u1", `{}`)
			r := e.Do(apitest.Ask{Method: method, Path: "/v1/members/u1", Key: apitest.WriteKey, Body: `{}`, Header: http.Header{"Content-Type": {media}}, Off: true})
			if r.Want(want); want == 415 {
				r.WantProblem(415, wire.CodeNotJSON)
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
		r := e.Do(apitest.Ask{Method: http.MethodPut, Path: "/v1/members/u1", Key: apitest.WriteKey, Body: body})
		if p := r.WantProblem(422, "invalid-profile"); len(p.Errors) == 0 || p.Errors[0].Pointer != want {
			t.Errorf("%s: %+v, want %s", wire.Clip(body), p.Errors, want)
		}
	}
	for _, body := range []string{`[]`, `{"name":"x"}`, `{"display_name":1}`, `{"attributes":{"a":1,"a":2}}`, `{"display_name":"\ud800"}`, `null`} {
		e.Put(apitest.WriteKey, "/v1/members/u1", body).WantProblem(400, wire.CodeMalformed)
	}
	e.Put(apitest.WriteKey, "/v1/members/"+strings.Repeat("x", 65), `{}`).WantProblem(400, wire.CodeMalformed)
	e.Put(apitest.ReadKey, "/v1/members/u1", `{}`).WantProblem(403, wire.CodeForbidden)
	e.Get(apitest.NoKey, "/v1/members/u1").WantProblem(401, wire.CodeUnauthorized)
	e.Get(apitest.ReadKey, "/v1/members/u1").WantProblem(404, "profile-not-found") // nothing was stored
}

// TestProfilesBesideEntries: with profiles=true every reading answer shows them, looked up once, and is another answer
// than without.
func TestProfilesBesideEntries(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.Put(apitest.WriteKey, "/v1/members/4", `{"display_name":"Four","attributes":{"country":"DE"}}`).Want(201)
	const shown = `"profile":{"display_name":"Four","avatar_url":"","attributes":{"country":"DE"}}`
	ranks := func(query string) apitest.Reply {
		return e.Post(apitest.NoKey, "/v1/boards/classic/ranks"+query, `{"members":["4","5","nobody"]}`)
	}
	read := func(path string) func(string) apitest.Reply {
		return func(query string) apitest.Reply { return e.Get(apitest.NoKey, "/v1/boards/classic/"+path+query) }
	}
	for name, ask := range map[string]func(query string) apitest.Reply{
		"top": read("top"), "member": read("members/4"), "around": read("members/5/around"), "ranks": ranks,
	} {
		without := ask("").Want(200)
		delete(e.Fake.Called, "ProfilesOf")
		with := ask("?profiles=true").Want(200)
		if n := strings.Count(string(with.Body), `"profile":`); n != 1 || !strings.Contains(string(with.Body), shown) {
			t.Errorf("%s shows %d profiles: %s", name, n, with.Body)
		}
		if strings.Contains(string(without.Body), "profile") || e.Fake.Calls("ProfilesOf") != 1 {
			t.Errorf("%s: %d look-ups; without profiles it is %s", name, e.Fake.Calls("ProfilesOf"), without.Body)
		}
		if bare := strings.Replace(string(with.Body), ","+shown, "", 1); bare != string(without.Body) {
			t.Errorf("%s differs in more than the profile:\n%s\n%s", name, with.Body, without.Body)
		}
		if again := ask("?profiles=false").Want(200); string(again.Body) != string(without.Body) {
			t.Errorf("%s: profiles=false is %s", name, again.Body)
		}
		ask("?profiles=yes").WantProblem(400, wire.CodeMalformed)
	}
}

// TestProfilesOnSeveralBoards: entries on several boards show the same profile.
func TestProfilesOnSeveralBoards(t *testing.T) {
	e := newEnv(t)
	for _, board := range []string{"card", "moba"} {
		e.Board(board, leaderboard.Rules{}, apitest.Classic()...)
	}
	e.Put(apitest.WriteKey, "/v1/members/4", `{"display_name":"Four"}`).Want(201)
	if body := string(e.Get(apitest.ReadKey, "/v1/rankings/members/4?boards=card,moba&profiles=true").Want(200).Body); strings.Count(body, `"display_name":"Four"`) != 2 {
		t.Error(body)
	}
}

// TestNumbersAsStrings: numbers=string does not change the attributes of a profile.
func TestNumbersAsStrings(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{}, leaderboard.Submission{Member: "77", Score: 9007199254740993})
	e.Put(apitest.WriteKey, "/v1/members/77", `{"display_name":"5","attributes":{"score":5,"fields":7}}`).Want(201)
	for _, path := range []string{"/v1/members?q=77&", "/v1/members/77?", "/v1/boards/b/top?profiles=true&"} {
		plain, quoted := e.Get(apitest.AdminKey, path+"numbers=number").Want(200), e.Get(apitest.AdminKey, path+"numbers=string").Want(200)
		attributes := []byte(`"attributes":{"fields":7,"score":5}`)
		if wide := strings.Contains(path, "/top"); !bytes.Contains(quoted.Body, attributes) || bytes.Equal(plain.Body, quoted.Body) == wide || bytes.Contains(quoted.Body, []byte(`"score":"9007199254740993"`)) != wide {
			t.Errorf("%s: %s, with numbers as strings %s", path, plain.Body, quoted.Body)
		}
	}
}

// TestProfilesETag: the ETag names the profiles too, and nothing with profiles is kept for good.
func TestProfilesETag(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowDay}}, leaderboard.Submission{Member: "4", Score: 1})
	const path = "/v1/boards/classic/members/4?profiles=true"
	etag := func(path string) string { return e.Get(apitest.NoKey, path).Want(200).Header.Get("Etag") }
	seen := map[string]string{etag("/v1/boards/classic/members/4"): "without", etag(path): "no profile"}
	for _, body := range []string{`{}`, `{"display_name":"x"}`, `{"avatar_url":"http://x"}`, `{"attributes":{"a":1}}`} {
		e.Put(apitest.WriteKey, "/v1/members/4", body)
		tag := etag(path)
		if old := seen[tag]; old != "" {
			t.Errorf("%s and %s have the same ETag", body, old)
		}
		seen[tag] = body
		e.Do(apitest.Ask{Method: http.MethodGet, Path: path, Header: http.Header{"If-None-Match": {tag}}}).Want(304)
	}
	e.Fake.SetNow(1_700_000_000_000_000 + 86400_000_000)
	e.Get(apitest.NoKey, "/v1/boards/classic/top").Want(200)
	const closed = "/v1/boards/classic/top?period=2023-11-14"
	if cc := e.Get(apitest.NoKey, closed+"&profiles=true").Want(200).Header.Get("Cache-Control"); cc != "public, no-cache" {
		t.Errorf("a closed period with profiles has %q", cc)
	}
}

// TestProfilesAway: if profiles cannot be looked up, the answer has the ranking all the same, marked stale.
func TestProfilesAway(t *testing.T) {
	e := newEnv(t)
	e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
	e.Put(apitest.WriteKey, "/v1/members/4", `{"display_name":"Four"}`).Want(201)
	e.Fake.Fails["ProfilesOf"] = leaderboard.ErrUnavailable
	for _, path := range []string{"top", "members/4", "members/4/around"} {
		r := e.Get(apitest.NoKey, "/v1/boards/classic/"+path+"?profiles=true").Want(200)
		if !r.Rows().Stale || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: stale %t, %s", path, r.Rows().Stale, r.Header.Get("Cache-Control"))
		}
		if e.Get(apitest.NoKey, "/v1/boards/classic/"+path).Rows().Stale {
			t.Errorf("%s: without profiles it is stale too", path)
		}
	}
}

// lateProfiles finds profiles after longer than an answer with profiles may wait unjudged.
type lateProfiles struct{ *fake }

func (l lateProfiles) ProfilesOf(ctx context.Context, members []string) ([]*people.Profile, error) {
	time.Sleep(2 * httpapi.SlowLookUp)
	return l.fake.ProfilesOf(ctx, members)
}

// TestProfilesLate: an answer that became old while its profiles were looked up says so.
func TestProfilesLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, late := range []bool{false, true} {
			for _, fresh := range []bool{false, true} {
				e := newEnvShowing(t, func(f *fake) people.Loader {
					if late {
						return lateProfiles{f}
					}
					return f
				})
				e.Fake.Outlasted = !fresh
				e.Board("classic", leaderboard.Rules{}, apitest.Classic()...)
				for _, path := range []string{"boards/classic/top?", "boards/classic/members/4?", "rankings/top?boards=classic&"} {
					if r := e.Get(apitest.NoKey, "/v1/"+path+"profiles=true").Want(200); r.Rows().Stale != (late && !fresh) {
						t.Errorf("%s: late %t, fresh %t: stale %t", path, late, fresh, r.Rows().Stale)
					}
				}
			}
		}
	})
}

// TestResetName: an admin takes a name away for a reason. Keys of scope write cannot give it again, but they can give another
// name, and an admin gives it back. Only admins see the names that were taken away.
func TestResetName(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const profile, reset = "/v1/members/m", "/v1/members/m/reset-name"
	e.Post(apitest.AdminKey, reset, `{"reason":"a slur"}`).WantProblem(404, leaderboard.ErrProfileNotFound.Code)
	e.Put(apitest.WriteKey, profile, `{"display_name":"Bad","attributes":{"level":7}}`).Want(201)
	e.Post(apitest.WriteKey, reset, `{"reason":"a slur"}`).WantProblem(403, wire.CodeForbidden)
	e.Post(apitest.AdminKey, reset, `{}`).WantProblem(422, leaderboard.CodeInvalidReset)
	e.Post(apitest.AdminKey, reset, `{"reason":"`+strings.Repeat("x", 201)+`"}`).WantProblem(422, leaderboard.CodeInvalidReset)
	e.Post(e.Key(leaderboard.ScopeAdmin, func(k *leaderboard.Key) { k.Boards = []string{"game1-*"} }), reset, `{"reason":"x"}`).WantProblem(403, wire.CodeForbidden)
	told := func(r apitest.Reply) string {
		t.Helper()
		var p struct {
			DisplayName string   `json:"display_name"`
			ResetNames  []string `json:"reset_names"`
		}
		r.Want(200).Decode(&p)
		return fmt.Sprint(p.DisplayName, p.ResetNames)
	}
	if got := told(e.Post(apitest.AdminKey, reset, `{"reason":"a slur","actor":"ruth"}`)); got != "[Bad]" {
		t.Errorf("taken away: %s", got)
	}
	p := e.Put(apitest.WriteKey, profile, `{"display_name":"bad"}`).WantProblem(422, leaderboard.CodeNameReset)
	if len(p.Errors) != 1 || p.Errors[0].Pointer != "/display_name" {
		t.Errorf("the problem is %+v", p)
	}
	if got := told(e.Do(apitest.Ask{Method: http.MethodPatch, Path: profile, Key: apitest.WriteKey, Body: `{"display_name":"Good"}`})); got != "Good[]" {
		t.Errorf("another name: %s", got)
	}
	for key, want := range map[string]string{apitest.ReadKey: "Good[]", apitest.WriteKey: "Good[]", apitest.AdminKey: "Good[Bad]"} {
		if got := told(e.Get(key, profile)); got != want {
			t.Errorf("%s is told %s", key, got)
		}
	}
	if got := told(e.Do(apitest.Ask{Method: http.MethodPatch, Path: profile, Key: apitest.AdminKey, Body: `{"display_name":"Bad"}`})); got != "Bad[]" {
		t.Errorf("given back: %s", got)
	}
}
