package httpapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// TestBelow: what a request is without the base path, and which ones are for something else.
func TestBelow(t *testing.T) {
	for address, want := range map[string]string{
		"/games/":                          "/",
		"/games/v1/boards":                 "/v1/boards",
		"/games/v1/boards?limit=1":         "/v1/boards?limit=1",
		"/games/boards/a%2Fb":              "/boards/a%2Fb",
		"/games/v1/boards/b/members/a%20b": "/v1/boards/b/members/a%20b",
		"/games/livez":                     "/livez",
		"/livez":                           "/livez",
		"/readyz":                          "/readyz",
		"/metrics":                         "/metrics",
		"/":                                "",
		"/v1/boards":                       "",
		"/gamesv1/boards":                  "",
		"/GAMES/v1/boards":                 "",
		"/g%61mes/boards/a%2Fb":            "",
		"/livez/more":                      "",
	} {
		r := httptest.NewRequest(http.MethodGet, address, http.NoBody)
		got := ""
		if inner := below("/games", r); inner != nil {
			got = inner.URL.RequestURI()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
		if r.URL.RequestURI() != address {
			t.Errorf("%s has become %s", address, r.URL.RequestURI())
		}
	}
}

// TestBasePath: below a path all answers name addresses below it, and what is not below it is not there.
func TestBasePath(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Base, c.Site = "/games", "https://scores.example" })
	do := func(a ask) reply {
		t.Helper()
		a.undocumented = true
		return e.do(a)
	}
	for _, c := range []struct {
		ask
		status   int
		location string
	}{
		{ask{method: http.MethodPut, path: "/games/v1/boards/b", key: adminKey, body: `{"visibility":"public"}`}, http.StatusCreated, "/games/v1/boards/b"},
		{ask{method: http.MethodPost, path: "/games/v1/boards/b/rebuild", key: adminKey, body: `{"kind":"full"}`}, http.StatusAccepted, "/games/v1/runs/"},
		{ask{method: http.MethodPost, path: "/games/v1/keys", key: adminKey, body: `{"name":"k","scope":"read"}`}, http.StatusCreated, "/games/v1/keys/"},
		{ask{method: http.MethodPut, path: "/games/v1/endpoints/hook", key: adminKey, body: `{"url":"https://hooks.example/"}`}, http.StatusCreated, "/games/v1/endpoints/hook"},
		{ask{method: http.MethodGet, path: "/games?lang=de"}, http.StatusPermanentRedirect, "/games/?lang=de"},
		{ask{method: http.MethodGet, path: "/games/v1/sign-in/callback?state=x&code=y", header: http.Header{"Accept": {"text/html"}}}, http.StatusSeeOther, "/games/console?sign-in="},
		{ask{method: http.MethodGet, path: "/games/boards/b"}, http.StatusOK, ""},
		{ask{method: http.MethodGet, path: "/games/livez"}, http.StatusOK, ""},
		{ask{method: http.MethodGet, path: "/livez"}, http.StatusOK, ""},
		{ask{method: http.MethodGet, path: "/metrics"}, http.StatusOK, ""},
		{ask{method: http.MethodGet, path: "/v1/boards/b"}, http.StatusNotFound, ""},
		{ask{method: http.MethodGet, path: "/boards/b"}, http.StatusNotFound, ""},
		{ask{method: http.MethodGet, path: "/"}, http.StatusNotFound, ""},
	} {
		if strings.HasPrefix(c.path, "/games?") { // it is answered before there is a call
			w := httptest.NewRecorder()
			e.api.ServeHTTP(w, c.request())
			if w.Code != c.status || w.Header().Get("Location") != c.location {
				t.Errorf("%s: %d, Location %q", c.path, w.Code, w.Header().Get("Location"))
			}
			continue
		}
		r := do(c.ask)
		if got := r.header.Get("Location"); r.status != c.status || !strings.HasPrefix(got, c.location) || (got == "") != (c.location == "") {
			t.Errorf("%s %s: %d, Location %q, want %d, %q: %s", c.method, c.path, r.status, got, c.status, c.location, r.body)
		}
	}
	begun := do(ask{method: http.MethodGet, path: "/games/v1/sign-in"}).header.Get("Set-Cookie")
	if !strings.HasPrefix(begun, "__Secure-leaderboard-sign-in=") || !strings.Contains(begun, "; Path=/games/;") || !strings.Contains(begun, "; Secure") {
		t.Errorf("the cookie %s", begun)
	}
	for path, want := range map[string]string{"/games/openapi.json": `"servers":[{"url":"/games"}]`, "/games/openapi.yaml": "servers:\n  - url: /games\n", "/games/docs": `href="/games/docs/start"`, "/games/docs/start": `href="/games/docs/boards`, "/games/problems/not-ranked": `href="/games/docs#errors"`} {
		r := do(ask{method: http.MethodGet, path: path})
		if r.status != http.StatusOK || !strings.Contains(string(r.body), want) {
			t.Errorf("%s: %d, no %s", path, r.status, want)
		}
		for _, link := range regexp.MustCompile(`<[a-z]+ [^<>]*(?:href|src|action)="(/[^"]*)"`).FindAllSubmatch(r.body, -1) {
			if !strings.HasPrefix(string(link[1]), "/games/") {
				t.Errorf("%s leads to %s", path, link[1])
			}
		}
	}
}

// TestProblemsBelow: the type of a problem, and of an entry that was rejected, leads to its page below the base path.
func TestProblemsBelow(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Base = "/games" })
	most := int64(5)
	e.board("b", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: &most}})
	for _, c := range []struct {
		ask  ask
		code string
	}{
		{ask{method: http.MethodGet, path: "/games/v1/boards/none/top", key: readKey}, "board-not-found"},
		{ask{method: http.MethodGet, path: "/games/v1/boards/b/top?limit=x", key: readKey}, "malformed-request"},
		{ask{method: http.MethodGet, path: "/elsewhere"}, "not-found"},
		{ask{method: http.MethodPost, path: "/games/v1/boards/b/scores", key: writeKey, body: `{"entries":[{"member":"a","score":9}]}`}, "score-out-of-range"},
		{ask{method: http.MethodPost, path: "/games/v1/scores", key: writeKey, body: `{"entries":[{"board":"b","member":"a","score":9}]}`}, "score-out-of-range"},
		{ask{method: http.MethodGet, path: "/games/openapi.json"}, "not-ranked"},
	} {
		c.ask.undocumented = true
		if body := string(e.do(c.ask).body); !strings.Contains(body, `"/games/problems/`+c.code+`"`) || strings.Contains(body, `"/problems/`+c.code) {
			t.Errorf("%s: no /games/problems/%s in %.300s", c.ask.path, c.code, body)
		}
	}
	doc := string(e.do(ask{method: http.MethodGet, path: "/games/openapi.yaml", undocumented: true}).body)
	if !strings.Contains(doc, "\n        - /games/problems/not-ranked\n") || !strings.Contains(doc, "\n  /problems/{code}:\n") {
		t.Error("openapi.yaml has other types of problems than the answers")
	}
	page := e.do(ask{method: http.MethodGet, path: "/games/problems/not-ranked", undocumented: true})
	page.want(http.StatusOK)
}

// TestLocations: nothing but locate and redirect says where something is, so that all of it is below the base path.
func TestLocations(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(body), `Set("Location"`); n > 0 && !strings.HasSuffix(file, "_test.go") {
			found[file] = n
		}
	}
	if len(found) != 2 || found["send.go"] != 1 || found["signin.go"] != 1 {
		t.Errorf("the header Location is set in %v", found)
	}
}

// TestBaseOfSessions: at the root nothing is different: cookies are of the host alone.
func TestBaseOfSessions(t *testing.T) {
	for base, want := range map[string]string{"": "__Host-leaderboard-session", "/games": "__Secure-leaderboard-session"} {
		c := Config{Site: "https://scores.example", SignIn: fakePeople{}, Base: base}
		if got := c.sessions().Cookie; got != want {
			t.Errorf("below %q: %s", base, got)
		}
	}
	if got := cookieName(cookieSession, false, "/games"); got != cookieSession {
		t.Errorf("over http: %s", got)
	}
}
