package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

func TestReadyz(t *testing.T) {
	e := newEnv(t)
	away := errors.New("dial tcp 10.0.0.7: connection refused, secret")
	for _, c := range []struct {
		health   Health
		draining bool
		status   int
		body     string
	}{
		{Health{map[string]error{"mysql": nil, "redis": nil}, true}, false, 200, `"status":"ok"`},
		{Health{map[string]error{"mysql": nil, "redis": away}, true}, false, 200, `"status":"degraded"`},
		{Health{map[string]error{"mysql": away, "redis": nil}, true}, false, 200, `"status":"degraded"`},
		{Health{map[string]error{"mysql": away, "redis": nil}, false}, false, 503, `"mysql":"unreachable"`},
		{Health{map[string]error{"mysql": away, "redis": away}, false}, false, 503, `"status":"unavailable"`},
		{Health{map[string]error{"mysql": fmt.Errorf("x: %w", wire.Reason("migrations are pending"))}, false}, false, 503, `"mysql":"migrations are pending"`},
		{Health{map[string]error{"mysql": nil, "redis": nil}, true}, true, 503, `"status":"draining"`},
		{Health{Ready: true}, false, 200, `"status":"ok"`},
	} {
		e.fake.health = c.health
		e.api.SetDraining(c.draining)
		r := e.Get(apitest.NoKey, "/readyz").Want(c.status)
		if !strings.Contains(string(r.Body), c.body) || strings.Contains(string(r.Body), "secret") {
			t.Errorf("%v: %s", c.health, r.Body)
		}
		e.Get(apitest.NoKey, "/livez").Want(200)
	}
}

func TestMetricsElsewhere(t *testing.T) {
	e := newEnv(t, func(c *Config) { c.Metrics = nil })
	r := e.Do(apitest.Ask{Method: "GET", Path: "/metrics", Undocumented: true})
	r.WantProblem(404, wire.CodeNotFound)
	if got := string(newEnv(t).Get(apitest.NoKey, "/metrics").Want(200).Body); got != "up 1\n" {
		t.Errorf("got %q", got)
	}
}

// fakePages answers with the first part of the path, below /boards with the status that the API has for the board, below /docs and
// /problems with 404.
func fakePages(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		board, picture := strings.CutSuffix(r.URL.Path, "/picture.png")
		w.Header().Set("Content-Type", map[bool]string{false: "text/html", true: "image/png"}[picture])
		if strings.HasPrefix(r.URL.Path, "/boards/") {
			answer := httptest.NewRecorder()
			api.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/v1"+board+"/top", http.NoBody))
			if picture && answer.Code != http.StatusOK {
				w.Header().Set("Content-Type", "text/plain")
			}
			w.WriteHeader(answer.Code)
		}
		_, _ = io.WriteString(w, strings.Split(r.URL.Path, "/")[1])
	})
}

// TestLost: a browser that asks for a missing address gets a page, every other caller the problem.
func TestLost(t *testing.T) {
	e := newEnv(t)
	const browser, problem = "text/html,application/xhtml+xml,*/*;q=0.8", "application/problem+json"
	for _, c := range []struct{ method, path, accept, want string }{
		{http.MethodGet, "/nothing", browser, "text/html"},
		{http.MethodGet, "/nothing/here", browser, "text/html"},
		{http.MethodGet, "/boards/b/", "*/*", problem},
		{http.MethodGet, "/v1/boards/", browser, problem},
		{http.MethodPost, "/boards/b/", browser, problem},
		{http.MethodGet, "//here/", browser, problem},
		{http.MethodHead, "/nothing", browser, "text/html"},
		{http.MethodGet, "/nothing", "*/*", problem},
		{http.MethodGet, "/nothing", "", problem},
		{http.MethodGet, "/v1/nothing", browser, problem},
		{http.MethodGet, "/nothing/../here", browser, problem},
		{http.MethodPost, "/nothing", browser, problem},
	} {
		r := e.Do(apitest.Ask{Method: c.method, Path: c.path, Header: http.Header{"Accept": {c.accept}}, Undocumented: true})
		if got := r.Header.Get("Content-Type"); got != c.want {
			t.Errorf("%s %s for %q: %d %s, want %s", c.method, c.path, c.accept, r.Status, got, c.want)
		}
	}
}

// TestSlashAtTheEnd: a browser that asks for an address with a slash at the end is sent to the address without it.
func TestSlashAtTheEnd(t *testing.T) {
	for _, base := range []string{"", "/games"} {
		e := newEnv(t, func(c *Config) { c.Base = base })
		for address, want := range map[string]string{
			"/boards/b/": "/boards/b", "/boards/b/?lang=de&offset=100": "/boards/b?lang=de&offset=100", "/boards/a%2Fb/": "/boards/a%2Fb", "/console/": "/console",
			"/nothing/here/": "/nothing/here",
		} {
			r := e.Do(apitest.Ask{Method: http.MethodGet, Path: base + address, Header: http.Header{"Accept": {"text/html"}}, Undocumented: true})
			if got := r.Header.Get("Location"); r.Status != http.StatusPermanentRedirect || got != base+want || r.Header.Get("Vary") != "Accept" {
				t.Errorf("%s: %d, Location %q, want %q", base+address, r.Status, got, base+want)
			}
		}
	}
}

// TestPages asks for each page: it is Config.Pages that answers, and it may ask the API.
func TestPages(t *testing.T) {
	e := newEnv(t)
	e.Board("b", leaderboard.Rules{})
	for path, want := range map[string]string{
		"/": "200 ", "/boards/b": "200 boards", "/boards/none": "404 boards", "/boards/b/picture.png": "200 boards", "/boards/none/picture.png": "404 boards", "/console": "200 console", "/assets/f.js": "200 assets",
	} {
		r := e.Do(apitest.Ask{Method: http.MethodGet, Path: path, Undocumented: true})
		if got := fmt.Sprintf("%d %s", r.Status, r.Body); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
