package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"leaderboard/httpapi/apitest"
	"leaderboard/leaderboard"
)

const gameOrigin, otherOrigin, strangeOrigin = "https://game.example", "http://localhost:3000", "https://game.example.evil.example"

// crossOriginEnv is an API that pages of two origins may use.
func crossOriginEnv(t testing.TB, origins ...string) *env {
	e := newEnv(t, func(c *Config) { c.CORSOrigins = origins })
	e.Board("b", leaderboard.Rules{}, apitest.Classic()...)
	return e
}

// preflight asks as a browser does before it lets a page send a request.
func (e *env) preflight(path, origin, method, headers string) http.Header {
	e.T.Helper()
	r := httptest.NewRequest(http.MethodOptions, path, nil)
	r.Header.Set("Origin", origin)
	r.Header.Set("Access-Control-Request-Method", method)
	if headers != "" {
		r.Header.Set("Access-Control-Request-Headers", headers)
	}
	w := httptest.NewRecorder()
	e.api.ServeHTTP(w, r)
	if w.Code != http.StatusNoContent || w.Body.Len() > 0 || w.Header().Get("X-Content-Type-Options") != "nosniff" {
		e.T.Errorf("a preflight of %s %s is answered %d %v", method, path, w.Code, w.Header())
	}
	return w.Result().Header
}

// TestPreflights: pages of the origins of the setting may send every method of the table of routes, with a key; no others.
func TestPreflights(t *testing.T) {
	t.Parallel()
	e := crossOriginEnv(t, gameOrigin, otherOrigin)
	const headers = "authorization,content-type,idempotency-key,if-match,if-none-match,x-request-id"
	for i := range e.api.routes {
		route := &e.api.routes[i]
		if route.Ops() {
			continue
		}
		path := strings.NewReplacer("{", "", "}", "").Replace(route.Path)
		for _, origin := range []string{gameOrigin, otherOrigin} {
			h := e.preflight(path, origin, route.Method, headers)
			if h.Get("Access-Control-Allow-Origin") != origin || h.Get("Access-Control-Allow-Methods") != route.Method ||
				h.Get("Access-Control-Allow-Headers") != headers || h.Get("Access-Control-Max-Age") != "7200" ||
				h["Access-Control-Allow-Credentials"] != nil || !strings.Contains(h.Get("Vary"), "Origin") {
				t.Errorf("%s %s from %s: %v", route.Method, path, origin, h)
			}
		}
	}
	for name, h := range map[string]http.Header{
		"another origin": e.preflight("/v1/boards/b/top", strangeOrigin, "GET", ""),
		"no origin":      e.preflight("/v1/boards/b/top", "null", "GET", ""),
		"another method": e.preflight("/v1/boards/b/top", gameOrigin, "TRACE", ""),
		"another header": e.preflight("/v1/boards/b/top", gameOrigin, "GET", "authorization,x-other"),
	} {
		if h["Access-Control-Allow-Origin"] != nil {
			t.Errorf("%s is let in: %v", name, h)
		}
	}
}

// TestCrossOrigin: an answer says which page may read it, for each request, kept and compressed ones and problems too.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	e := crossOriginEnv(t, gameOrigin, otherOrigin)
	etag := e.Get(apitest.NoKey, "/v1/boards/b/top").Want(200).Header.Get("Etag")
	for _, path := range []string{"/v1/boards/b/top", "/v1/boards/b/members/5", "/v1/boards/none/top", "/v1/boards", "/v1/runs", "/v1/nothing", "/v1/boards/b/verify"} {
		for _, encoding := range []string{"gzip", "identity"} {
			for _, origin := range []string{gameOrigin, otherOrigin, strangeOrigin, "null", "", gameOrigin} {
				header := http.Header{"Accept-Encoding": {encoding}}
				want := origin
				if origin != "" {
					header["Origin"] = []string{origin}
				}
				if origin == strangeOrigin || origin == "null" {
					want = ""
				}
				h := e.Do(apitest.Ask{Method: "GET", Path: path, Header: header, Off: true}).Header
				if h.Get("Access-Control-Allow-Origin") != want || len(h["Access-Control-Allow-Origin"]) > 1 || !strings.Contains(h.Get("Vary"), "Origin") {
					t.Errorf("%s from %q: allowed to %q, varies by %q", path, origin, h["Access-Control-Allow-Origin"], h["Vary"])
				}
				if exposed := h.Get("Access-Control-Expose-Headers"); want != "" && (!strings.Contains(exposed, "Etag") || !strings.Contains(exposed, "Retry-After")) {
					t.Errorf("%s: a page may read %q", path, exposed)
				}
			}
		}
	}
	header := http.Header{"Origin": {otherOrigin}, "If-None-Match": {etag}}
	if r := e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top", Header: header}).Want(304); r.Header.Get("Access-Control-Allow-Origin") != otherOrigin {
		t.Errorf("304 has %v", r.Header)
	}
	if h := e.Do(apitest.Ask{Method: "GET", Path: "/livez", Header: header}).Header; h["Access-Control-Allow-Origin"] != nil {
		t.Errorf("health is for pages too: %v", h)
	}
}

// TestNoCrossOrigin: unless it is asked for, no page of another origin may do anything; asked for with "*", all may.
func TestNoCrossOrigin(t *testing.T) {
	t.Parallel()
	header := http.Header{"Origin": {gameOrigin}, "Access-Control-Request-Method": {"GET"}}
	e := crossOriginEnv(t)
	for _, method := range []string{"GET", "OPTIONS"} {
		r := e.Do(apitest.Ask{Method: method, Path: "/v1/boards/b/top", Header: header})
		if r.Header["Access-Control-Allow-Origin"] != nil || strings.Contains(r.Header.Get("Vary"), "Origin") || (r.Status == 200) != (method == "GET") {
			t.Errorf("%s: %d %v", method, r.Status, r.Header)
		}
	}
	e = crossOriginEnv(t, "*")
	if h := e.preflight("/v1/boards/b/scores", "https://any.example", "POST", "authorization"); h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a preflight: %v", h)
	}
	if h := e.Do(apitest.Ask{Method: "GET", Path: "/v1/boards/b/top", Header: header}).Header; h.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a page: %v", h)
	}
}

// TestCrossOriginIsCheap: to say which page may read it costs a kept answer one small allocation, and nothing unless the
// request comes from a page.
func TestCrossOriginIsCheap(t *testing.T) {
	allocs := func(origin string, origins ...string) float64 {
		f := newFixed()
		api := New(Config{Catalog: f, Rankings: f, Writer: f, CORSOrigins: origins})
		r := httptest.NewRequest(http.MethodGet, benchPaths["top10"], nil)
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		w := discard{http.Header{}}
		return testing.AllocsPerRun(100, func() {
			clear(w.Header())
			api.ServeHTTP(w, r)
		})
	}
	off, asked, page := allocs(gameOrigin), allocs("", otherOrigin, gameOrigin), allocs(gameOrigin, otherOrigin, gameOrigin)
	if asked > off || page > off+1 {
		t.Errorf("%.0f allocations for a page, %.0f for others, %.0f without the setting", page, asked, off)
	}
}
