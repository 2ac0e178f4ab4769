package signin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"leaderboard/features"
	"leaderboard/features/featuretest"
	"leaderboard/httpapi"
	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// newServer returns an API with the routes of the feature, where people sign in.
func newServer(t testing.TB, people fakePeople, change ...func(*httpapi.Config)) *apitest.Env {
	sessions := func(c *httpapi.Config) { c.Sessions.Cookie = cookieSession }
	return featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		return (&handlers{keys: fakeSessions{f.Keyring}, people: people}).routes()
	}, append(change, sessions)...)
}

// refuses is people whose codes are all refused.
func refuses() error {
	return &leaderboard.SignInError{Cause: leaderboard.ErrSignInRefused, Detail: "The code was used before."}
}

// TestExamples runs the lines for a shell of /docs.
func TestExamples(t *testing.T) {
	server := func(t testing.TB) *apitest.Env { return newServer(t, fakePeople{}) }
	featuretest.Examples(t, (&handlers{}).routes(), server, map[string]func(*apitest.Env, string) string{
		"finishSignIn": func(_ *apitest.Env, line string) string {
			return line + " -H 'Cookie: leaderboard-sign-in=s.n.v'"
		},
	})
}

// attempts are quotas that bound nothing but attempts: three from each address.
type attempts map[netip.Addr]int

func (attempts) Charge(httpapi.Bearer, netip.Addr, leaderboard.Charge) (out leaderboard.Allowance) {
	return out
}

func (q attempts) Attempt(from netip.Addr) leaderboard.Allowance {
	q[from]++
	return leaderboard.Allowance{Refused: q[from] > 3, Wait: 20 * time.Second}
}

func (q attempts) Attempts(from netip.Addr) leaderboard.Allowance {
	return leaderboard.Allowance{Refused: q[from] >= 3, Wait: 20 * time.Second}
}

// comeBack sends a browser back from the provider, with a cookie and the provider's parameters.
func comeBack(e *apitest.Env, cookie, query string, header http.Header) apitest.Reply {
	e.T.Helper()
	h := http.Header{"Cookie": {cookieSignIn + "=" + cookie}}
	for name, values := range header {
		h[name] = values
	}
	return e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/sign-in/callback?" + query, Header: h})
}

// forgets reports whether an answer ends the cookie of the sign-in.
func forgets(r apitest.Reply) bool {
	for _, c := range (&http.Response{Header: r.Header}).Cookies() {
		if c.Name == cookieSignIn && c.MaxAge < 0 {
			return true
		}
	}
	return false
}

// TestSignInGuesses: a refused sign-in counts as an attempt of its address, whatever was wrong; for an address without
// attempts left the provider is not asked, and the answer says when to try again (promises G9, G10).
func TestSignInGuesses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cookie, query string
		asked         int
	}{
		"a cookie that nobody gave out": {"", "state=s&code=c", 0},
		"another state":                 {"s.n.v", "state=x&code=c", 0},
		"a code that is refused":        {"s.n.v", "state=s&code=c", 3},
	} {
		asked := 0
		e := newServer(t, fakePeople{func() error { asked++; return refuses() }}, func(c *httpapi.Config) { c.Quotas = attempts{} })
		for range 3 {
			if got := comeBack(e, c.cookie, c.query, nil); got.WantProblem(http.StatusBadRequest, "sign-in-refused").Detail == "" || !forgets(got) {
				t.Errorf("%s: %v", name, got.Header)
			}
		}
		for range 5 {
			got := comeBack(e, c.cookie, c.query, nil)
			if got.WantProblem(http.StatusTooManyRequests, wire.CodeAttempts); got.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %v", name, got.Header)
			}
		}
		got := comeBack(e, c.cookie, c.query, http.Header{"Accept": {"text/html"}}).Want(http.StatusSeeOther)
		if got.Header.Get("Location") != "/console?sign-in=too-many-attempts" || got.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %v", name, got.Header)
		}
		if asked != c.asked {
			t.Errorf("%s: the provider was asked %d times", name, asked)
		}
		e.Do(apitest.Ask{Method: http.MethodGet, Path: "/v1/sign-in"}).Want(http.StatusSeeOther) // which is no guess
	}
}

// TestSignInWaits: a browser that is refused because too many people sign in keeps its cookie, and the same address is good later
// (promise G10).
func TestSignInWaits(t *testing.T) {
	t.Parallel()
	q, busy := attempts{}, true
	e := newServer(t, fakePeople{func() error {
		if busy {
			return &leaderboard.OverloadError{Wait: 5 * time.Second}
		}
		return nil
	}}, func(c *httpapi.Config) { c.Quotas = q })
	for range 5 {
		got := comeBack(e, "s.n.v", "state=s&code=c", nil)
		if got.WantProblem(http.StatusServiceUnavailable, "overloaded"); forgets(got) || got.Header.Get("Retry-After") == "" {
			t.Errorf("%v", got.Header)
		}
	}
	if busy = false; len(q) != 0 {
		t.Errorf("attempts: %v", q)
	}
	got := comeBack(e, "s.n.v", "state=s&code=c", nil).Want(http.StatusSeeOther)
	if got.Header.Get("Location") != "/console" || !forgets(got) {
		t.Errorf("%v", got.Header)
	}
}

// TestSessionGuesses tries every way to guess a secret of signing in, with its bound: an address has three attempts here,
// and then gets 429; each address has its own (promise G9).
func TestSessionGuesses(t *testing.T) {
	t.Parallel()
	cookie := func(name, value string) http.Header { return http.Header{"Cookie": {name + "=" + value}} }
	for name, way := range map[string]struct {
		method, path string
		status       int // of a guess that is counted
		guess        func(i int) http.Header
	}{
		"a key to keep":          {"POST", "/v1/session", 401, func(i int) http.Header { return http.Header{"Authorization": {fmt.Sprint("Bearer guess", i)}} }},
		"a session":              {"GET", "/v1/session", 200, func(i int) http.Header { return cookie(cookieSession, fmt.Sprint("guess", i)) }},
		"a sign-in":              {"GET", "/v1/sign-in/callback?state=s&code=c", 400, func(i int) http.Header { return cookie(cookieSignIn, fmt.Sprint("x", i)) }},
		"the state of a sign-in": {"GET", "/v1/sign-in/callback?state=x&code=c", 400, func(int) http.Header { return cookie(cookieSignIn, "s.n.v") }},
		"the code of a sign-in":  {"GET", "/v1/sign-in/callback?state=s&code=c", 400, func(int) http.Header { return cookie(cookieSignIn, "s.n.v") }},
	} {
		e := newServer(t, fakePeople{refuses}, func(c *httpapi.Config) { c.Quotas = attempts{} })
		for address := range 20 {
			for i := range 5 {
				r := apitest.Ask{Method: way.method, Path: way.path, Header: way.guess(i)}.Request()
				r.RemoteAddr = fmt.Sprintf("198.51.100.%d:7", address+1)
				w := httptest.NewRecorder()
				e.Handler.ServeHTTP(w, r)
				want := way.status
				if i >= 3 {
					want = http.StatusTooManyRequests
				}
				if w.Code != want || want == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
					t.Fatalf("%s, guess %d of address %d: %d, want %d: %s", name, i+1, address+1, w.Code, want, w.Body)
				}
			}
		}
	}
}

// TestBaseOfSessions: below a path the cookies and the way back to the console are below it; at the root cookies are of the host alone.
func TestBaseOfSessions(t *testing.T) {
	for base, want := range map[string]string{"": "__Host-leaderboard-session", "/games": "__Secure-leaderboard-session"} {
		e, feature := &features.Engine{Server: features.Server{Base: base}}, Feature()
		feature.Settings.(*Settings).PublicURL = "https://scores.example"
		features.Open([]features.Feature{feature}, e)
		if got := features.Offered[httpapi.Sessions](e).Cookie; got != want {
			t.Errorf("below %q: %s", base, got)
		}
	}
	if got := cookieName(cookieSession, false, "/games"); got != cookieSession {
		t.Errorf("over http: %s", got)
	}
	e := featuretest.New(t, func(f *apitest.Fake) []httpapi.Route {
		return (&handlers{fakeSessions{f.Keyring}, fakePeople{}, true, "/games"}).routes()
	}, func(c *httpapi.Config) { c.Base = "/games" })
	back := e.Do(apitest.Ask{Method: http.MethodGet, Path: "/games/v1/sign-in/callback?state=x&code=y", Header: http.Header{"Accept": {"text/html"}}, Undocumented: true})
	if got := back.Want(http.StatusSeeOther).Header.Get("Location"); !strings.HasPrefix(got, "/games/console?sign-in=") {
		t.Errorf("the way back: %s", got)
	}
	begun := e.Do(apitest.Ask{Method: http.MethodGet, Path: "/games/v1/sign-in", Undocumented: true}).Header.Get("Set-Cookie")
	if !strings.HasPrefix(begun, "__Secure-leaderboard-sign-in=") || !strings.Contains(begun, "; Path=/games/;") || !strings.Contains(begun, "; Secure") {
		t.Errorf("the cookie %s", begun)
	}
}
