package httpapi

import (
	"net/http"
	"testing"
	"time"

	"leaderboard/httpapi/apitest"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// comeBack sends a browser back from the provider, with a cookie and what the provider says.
func (e *env) comeBack(cookie, query string, header http.Header) apitest.Reply {
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
			if got := e.comeBack(c.cookie, c.query, nil); got.WantProblem(http.StatusBadRequest, "sign-in-refused").Detail == "" || !forgets(got) {
				t.Errorf("%s: %v", name, got.Header)
			}
		}
		for range 5 {
			got := e.comeBack(c.cookie, c.query, nil)
			if got.WantProblem(http.StatusTooManyRequests, wire.CodeAttempts); got.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %v", name, got.Header)
			}
		}
		got := e.comeBack(c.cookie, c.query, http.Header{"Accept": {"text/html"}}).Want(http.StatusSeeOther)
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
		if got.WantProblem(http.StatusServiceUnavailable, "overloaded"); forgets(got) || got.Header.Get("Retry-After") == "" {
			t.Errorf("%v", got.Header)
		}
	}
	if busy = false; q.attempts != 0 {
		t.Errorf("%d attempts", q.attempts)
	}
	got := e.comeBack("s.n.v", "state=s&code=c", nil).Want(http.StatusSeeOther)
	if got.Header.Get("Location") != "/console" || !forgets(got) {
		t.Errorf("%v", got.Header)
	}
}
