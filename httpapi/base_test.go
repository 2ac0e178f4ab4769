package httpapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

// TestBelow: a request without the base path, and the requests that are not below it.
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

// TestBasePath: all answers below a base path name addresses below it, and other addresses do not exist.
func TestBasePath(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Base = "/games" })
	do := func(a apitest.Ask) apitest.Reply {
		t.Helper()
		a.Undocumented = true
		return e.Do(a)
	}
	for _, c := range []struct {
		apitest.Ask
		status   int
		location string
	}{
		{apitest.Ask{Method: http.MethodPut, Path: "/games/v1/boards/b", Key: apitest.AdminKey, Body: `{"visibility":"public"}`}, http.StatusCreated, "/games/v1/boards/b"},
		{apitest.Ask{Method: http.MethodPost, Path: "/games/v1/boards/b/rebuild", Key: apitest.AdminKey, Body: `{"kind":"full"}`}, http.StatusAccepted, "/games/v1/runs/"},
		{apitest.Ask{Method: http.MethodGet, Path: "/games?lang=de"}, http.StatusPermanentRedirect, "/games/?lang=de"},
		{apitest.Ask{Method: http.MethodGet, Path: "/games/boards/b"}, http.StatusOK, ""},
		{apitest.Ask{Method: http.MethodGet, Path: "/games/livez"}, http.StatusOK, ""},
		{apitest.Ask{Method: http.MethodGet, Path: "/livez"}, http.StatusOK, ""},
		{apitest.Ask{Method: http.MethodGet, Path: "/metrics"}, http.StatusOK, ""},
		{apitest.Ask{Method: http.MethodGet, Path: "/v1/boards/b"}, http.StatusNotFound, ""},
		{apitest.Ask{Method: http.MethodGet, Path: "/boards/b"}, http.StatusNotFound, ""},
		{apitest.Ask{Method: http.MethodGet, Path: "/"}, http.StatusNotFound, ""},
	} {
		if strings.HasPrefix(c.Path, "/games?") { // it is answered before there is a call
			w := httptest.NewRecorder()
			e.api.ServeHTTP(w, c.Request())
			if w.Code != c.status || w.Header().Get("Location") != c.location {
				t.Errorf("%s: %d, Location %q", c.Path, w.Code, w.Header().Get("Location"))
			}
			continue
		}
		r := do(c.Ask)
		if got := r.Header.Get("Location"); r.Status != c.status || !strings.HasPrefix(got, c.location) || (got == "") != (c.location == "") {
			t.Errorf("%s %s: %d, Location %q, want %d, %q: %s", c.Method, c.Path, r.Status, got, c.status, c.location, r.Body)
		}
	}
}

// TestProblemsBelow: the type of a problem, and of an entry that was rejected, is an address below the base path.
func TestProblemsBelow(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Base = "/games" })
	most := int64(5)
	e.Board("b", leaderboard.Rules{Limits: leaderboard.Limits{MaxScore: &most}})
	for _, c := range []struct {
		ask  apitest.Ask
		code string
	}{
		{apitest.Ask{Method: http.MethodGet, Path: "/games/v1/boards/none/top", Key: apitest.ReadKey}, "board-not-found"},
		{apitest.Ask{Method: http.MethodGet, Path: "/games/v1/boards/b/top?limit=x", Key: apitest.ReadKey}, "malformed-request"},
		{apitest.Ask{Method: http.MethodGet, Path: "/elsewhere"}, "not-found"},
		{apitest.Ask{Method: http.MethodPost, Path: "/games/v1/boards/b/scores", Key: apitest.WriteKey, Body: `{"entries":[{"member":"a","score":9}]}`}, "score-out-of-range"},
		{apitest.Ask{Method: http.MethodPost, Path: "/games/v1/scores", Key: apitest.WriteKey, Body: `{"entries":[{"board":"b","member":"a","score":9}]}`}, "score-out-of-range"},
	} {
		c.ask.Undocumented = true
		if body := string(e.Do(c.ask).Body); !strings.Contains(body, `"/games/problems/`+c.code+`"`) || strings.Contains(body, `"/problems/`+c.code) {
			t.Errorf("%s: no /games/problems/%s in %.300s", c.ask.Path, c.code, body)
		}
	}
}

// TestLocations: nothing but Locate says where something is, so that all of it is below the base path.
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
	if len(found) != 1 || found["send.go"] != 1 {
		t.Errorf("the header Location is set in %v", found)
	}
}
