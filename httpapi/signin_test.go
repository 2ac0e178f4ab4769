package httpapi

import (
	"net/http"
	"testing"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// comeBack sends a browser back from the provider, with a cookie and what the provider says.
func (e *env) comeBack(cookie, query string, header http.Header) reply {
	e.t.Helper()
	h := http.Header{"Cookie": {cookieSignIn + "=" + cookie}}
	for name, values := range header {
		h[name] = values
	}
	return e.do(ask{method: http.MethodGet, path: "/v1/sign-in/callback?" + query, header: h})
}

// forgets reports whether an answer ends the cookie of the sign-in.
func (r reply) forgets() bool {
	for _, c := range (&http.Response{Header: r.header}).Cookies() {
		if c.Name == cookieSignIn && c.MaxAge < 0 {
			return true
		}
	}
	return false
}

// TestSignInGuesses: a sign-in that is refused is an attempt of its address, whatever was wrong; an address without attempts left has
// nobody asked, and is told when to come back (promises G9, G10).
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
		e := newEnv(t, withCharges(&charges{}), func(cfg *Config) {
			cfg.SignIn = fakePeople{func() error {
				asked++
				return &leaderboard.SignInError{Cause: leaderboard.ErrSignInRefused, Detail: "The code was used before."}
			}}
		})
		for range 3 {
			if got := e.comeBack(c.cookie, c.query, nil); got.wantProblem(http.StatusBadRequest, "sign-in-refused").Detail == "" || !got.forgets() {
				t.Errorf("%s: %v", name, got.header)
			}
		}
		for range 5 {
			got := e.comeBack(c.cookie, c.query, nil)
			if got.wantProblem(http.StatusTooManyRequests, wire.CodeAttempts); got.header.Get("Retry-After") == "" {
				t.Errorf("%s: %v", name, got.header)
			}
		}
		got := e.comeBack(c.cookie, c.query, http.Header{"Accept": {"text/html"}}).want(http.StatusSeeOther)
		if got.header.Get("Location") != "/console?sign-in=too-many-attempts" || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v", name, got.header)
		}
		if asked != c.asked {
			t.Errorf("%s: the provider was asked %d times", name, asked)
		}
		e.do(ask{method: http.MethodGet, path: "/v1/sign-in"}).want(http.StatusSeeOther) // which is no guess
	}
}

// TestSignInWaits: a browser that is refused because too many people sign in keeps its cookie, and the same address is good later
// (promise G10).
func TestSignInWaits(t *testing.T) {
	t.Parallel()
	q, busy := &charges{}, true
	e := newEnv(t, withCharges(q), func(cfg *Config) {
		cfg.SignIn = fakePeople{func() error {
			if busy {
				return &leaderboard.OverloadError{Wait: 5 * time.Second}
			}
			return nil
		}}
	})
	for range 5 {
		got := e.comeBack("s.n.v", "state=s&code=c", nil)
		if got.wantProblem(http.StatusServiceUnavailable, "overloaded"); got.forgets() || got.header.Get("Retry-After") == "" {
			t.Errorf("%v", got.header)
		}
	}
	if busy = false; q.attempts != 0 {
		t.Errorf("%d attempts", q.attempts)
	}
	got := e.comeBack("s.n.v", "state=s&code=c", nil).want(http.StatusSeeOther)
	if got.header.Get("Location") != "/console" || !got.forgets() {
		t.Errorf("%v", got.header)
	}
}
