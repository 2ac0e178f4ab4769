package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// sealer seals the text that it gets, before a mark.
type sealer struct{ away error }

func (s sealer) Seal(_ context.Context, text string, _ time.Time) (string, error) {
	return text + "!", s.away
}

func (s sealer) Unseal(_ context.Context, sealed string, _ time.Time) (string, bool, error) {
	text, ok := strings.CutSuffix(sealed, "!")
	return text, ok, s.away
}

// idp is a provider whose ID token is the nonce that it wants.
type idp struct {
	*httptest.Server
	claims       oidc.Claims
	asked        atomic.Int64                     // exchanges
	exchange     atomic.Pointer[http.HandlerFunc] // nil: the provider is away
	secretInBody bool
}

// answers sets how the provider answers exchanges from now on.
func (p *idp) answers(exchange http.HandlerFunc) { p.exchange.Store(&exchange) }

func (p *idp) Places(context.Context, time.Time) (Places, error) {
	if p.exchange.Load() == nil {
		return Places{}, refusal(leaderboard.ErrProviderAway, "away")
	}
	return Places{Authorize: p.URL + "/authorize?realm=a", Token: p.URL + "/token", SecretInBody: p.secretInBody}, nil
}

func (p *idp) Claims(_ context.Context, token, nonce string, _ time.Time) (oidc.Claims, error) {
	if token != "token" || nonce == "" {
		return nil, refusal(leaderboard.ErrSignInRefused, "another token")
	}
	return p.claims, nil
}

func grant(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprint(w, `{"access_token":"unused","token_type":"Bearer","id_token":"token"}`)
}

func ada() oidc.Claims {
	return oidc.Claims{"sub": "7", "email": "ada@example.com", "email_verified": true, "groups": []any{"staff", "ops"}}
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	p := &idp{claims: ada()}
	p.answers(grant)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		(*p.exchange.Load())(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func configured() Config {
	return Config{Settings{
		Client: "scores", Secret: "s/e+cret", Scopes: []string{"email"}, Claim: "groups",
		Admins: []string{"ops"}, Writers: []string{"editors"}, Readers: []string{"Ada@Example.com", "staff"}, Session: time.Hour,
	}, "https://scores.example/back", slog.New(slog.DiscardHandler)}
}

// begun begins a sign-in and returns it with its cookie and the question to the provider.
func begun(t *testing.T, s *SignIn, now time.Time) (in Begun, cookie string, asked url.Values) {
	t.Helper()
	address, cookie, err := s.Begin(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	asked = at.Query()
	if in, err = s.Resume(t.Context(), cookie, asked.Get("state"), now); err != nil {
		t.Fatal(err)
	}
	return in, cookie, asked
}

// TestBegin: the provider is asked for a code by OpenID Connect and PKCE, and each sign-in has its own secrets.
func TestBegin(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	s, now := New(p, sealer{}, configured()), time.Now()
	in, cookie, asked := begun(t, s, now)
	for name, want := range map[string]string{
		"realm": "a", "client_id": "scores", "response_type": "code", "redirect_uri": "https://scores.example/back", "scope": "openid email",
		"code_challenge_method": "S256", "state": in.State, "nonce": in.Nonce,
	} {
		if asked.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, asked.Get(name), want)
		}
	}
	if len(asked.Get("code_challenge")) != 43 || strings.Contains(asked.Encode(), in.Verifier) {
		t.Errorf("the verifier is told: %v", asked)
	}
	other, otherCookie, _ := begun(t, s, now)
	if in.State == other.State || in.Nonce == other.Nonce || in.Verifier == other.Verifier || cookie == otherCookie {
		t.Error("two sign-ins have a secret in common")
	}
	if p.asked.Load() != 0 {
		t.Error("the provider was asked for nothing")
	}
}

// TestResume: only a sign-in that a server began less than ten minutes ago, with its state, continues; the provider is not
// asked for that (promise G10).
func TestResume(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	s, now := New(p, sealer{}, configured()), time.Now().Truncate(time.Second)
	in, cookie, _ := begun(t, s, now)
	_, other, _ := begun(t, s, now)
	for name, c := range map[string]struct {
		cookie, state string
		after         time.Duration
		good          bool
	}{
		"good":             {cookie, in.State, 0, true},
		"just in time":     {cookie, in.State, signInTime - time.Second, true},
		"too late":         {cookie, in.State, signInTime, false},
		"another state":    {cookie, in.State + "x", 0, false},
		"another's cookie": {other, in.State, 0, false},
		"no cookie":        {"", in.State, 0, false},
		"nothing":          {"", "", 0, false},
		"not given out":    {strings.TrimSuffix(cookie, "!"), in.State, 0, false},
		"made up":          {"s.n.v", "s", 0, false},
		"three parts":      {"s.n.v!", "s", 0, false},
		"no time":          {"s.n.v.x!", "s", 0, false},
	} {
		got, err := s.Resume(t.Context(), c.cookie, c.state, now.Add(c.after))
		if c.good != (err == nil) || c.good && got != in || !c.good && !errors.Is(err, leaderboard.ErrSignInRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	away := New(p, sealer{leaderboard.ErrUnavailable}, configured())
	if _, err := away.Resume(t.Context(), cookie, in.State, now); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Error(err)
	}
	if _, _, err := away.Begin(t.Context(), now); !errors.Is(err, leaderboard.ErrUnavailable) {
		t.Error(err)
	}
	if p.asked.Load() != 0 {
		t.Errorf("the provider was asked %d times", p.asked.Load())
	}
}

// TestFinish: a code becomes a session; a provider that refuses it, or does not answer, or redirects, is distinguished
// (promise G11).
func TestFinish(t *testing.T) {
	t.Parallel()
	p, now := newIDP(t), time.Now()
	s := New(p, sealer{}, configured())
	in, _, _ := begun(t, s, now)
	p.answers(func(w http.ResponseWriter, r *http.Request) {
		client, secret, _ := r.BasicAuth()
		if client != "scores" || secret != "s%2Fe%2Bcret" || r.PostFormValue("code") != "c" || r.PostFormValue("code_verifier") != in.Verifier || r.PostFormValue("redirect_uri") != "https://scores.example/back" {
			t.Errorf("%s %s %v", client, secret, r.PostForm)
		}
		grant(w, r)
	})
	k, err := s.Finish(t.Context(), in, "c", now)
	want := leaderboard.Key{Name: "ada@example.com", Person: "ada@example.com", Role: "ops", Scope: leaderboard.ScopeAdmin, ExpiresAt: leaderboard.MicrosOf(now.Add(time.Hour))}
	if err != nil || !reflect.DeepEqual(k, want) {
		t.Errorf("%+v, %v", k, err)
	}
	elsewhere := false
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request)
		cause  error
		words  string
	}{
		"a code that was used": {fail(http.StatusBadRequest, `{"error":"invalid_grant"}`), leaderboard.ErrSignInRefused, "does not take the code"},
		"another secret":       {fail(http.StatusUnauthorized, `{"error":"invalid_client"}`), leaderboard.ErrSignInRefused, "refuses this service"},
		"broken":               {fail(http.StatusInternalServerError, "{}"), leaderboard.ErrProviderAway, "does not answer"},
		"hung up":              {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, leaderboard.ErrProviderAway, "does not answer"},
		"another token":        {fail(http.StatusOK, `{"access_token":"a","id_token":"x"}`), leaderboard.ErrSignInRefused, "another token"},
		"no ID token":          {fail(http.StatusOK, `{"access_token":"a"}`), leaderboard.ErrSignInRefused, "another token"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				elsewhere = true
			}
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, leaderboard.ErrSignInRefused, "refuses this service"},
	} {
		p.answers(c.answer)
		if _, err := s.Finish(t.Context(), in, "c", now); !errors.Is(err, c.cause) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if elsewhere {
		t.Error("the secret went elsewhere")
	}
	p.exchange.Store(nil)
	if _, err := s.Finish(t.Context(), in, "c", now); !errors.Is(err, leaderboard.ErrProviderAway) {
		t.Error(err)
	}
	if _, _, err := s.Begin(t.Context(), now); !errors.Is(err, leaderboard.ErrProviderAway) {
		t.Error(err)
	}
}

// TestSecretInBody: a provider that takes no header gets the secret in the body, and a public client has no secret.
func TestSecretInBody(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"s", ""} {
		p, cfg := newIDP(t), configured()
		cfg.Secret, p.secretInBody = secret, true
		p.answers(func(w http.ResponseWriter, r *http.Request) {
			if _, _, ok := r.BasicAuth(); ok || r.PostFormValue("client_id") != "scores" || r.PostFormValue("client_secret") != secret {
				t.Errorf("%v %v", r.Header, r.PostForm)
			}
			grant(w, r)
		})
		s := New(p, sealer{}, cfg)
		in, _, _ := begun(t, s, time.Now())
		if _, err := s.Finish(t.Context(), in, "c", time.Now()); err != nil {
			t.Error(err)
		}
	}
}

// TestAtOnce: a provider that hangs delays eight requests, and all others are refused at once, with the time to try again;
// as soon as a request ends the next is admitted (promise G10).
func TestAtOnce(t *testing.T) {
	t.Parallel()
	p, now := newIDP(t), time.Now()
	s := New(p, sealer{}, configured())
	in, _, _ := begun(t, s, now)
	arrived, answer := make(chan struct{}, 100), make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	defer release() // the provider does not end while it holds an answer back
	p.answers(func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-answer
		grant(w, r)
	})
	var waiting sync.WaitGroup
	refused := make(chan error, atOnce)
	for range atOnce {
		waiting.Go(func() {
			if _, err := s.Finish(t.Context(), in, "c", now); err != nil {
				refused <- err
			}
		})
	}
	for range atOnce {
		select {
		case <-arrived:
		case err := <-refused:
			t.Fatal(err)
		}
	}
	for range 400 {
		_, err := s.Finish(t.Context(), in, "c", now)
		busy, ok := errors.AsType[*leaderboard.OverloadError](err)
		if !ok || busy.Wait <= 0 {
			t.Fatal(err)
		}
	}
	if _, _, err := s.Begin(t.Context(), now); !errors.Is(err, leaderboard.ErrOverloaded) {
		t.Error(err)
	}
	if n := p.asked.Load(); n != 8 {
		t.Errorf("%d questions at once", n)
	}
	release()
	waiting.Wait()
	if len(refused) > 0 {
		t.Error(<-refused)
	}
	if _, err := s.Finish(t.Context(), in, "c", now); err != nil {
		t.Error(err)
	}
}

func fail(status int, body string) func(w http.ResponseWriter, _ *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
}

// TestWho: the rights of a person follow from the claims and the settings alone: the greatest matching scope.
func TestWho(t *testing.T) {
	t.Parallel()
	with := func(change ...any) oidc.Claims {
		claims := ada()
		for i := 0; i < len(change); i += 2 {
			claims[change[i].(string)] = change[i+1]
		}
		return claims
	}
	for name, c := range map[string]struct {
		claims oidc.Claims
		claim  string // "": groups
		boards string
		want   string // person, scope, role and boards; or the cause and words of the refusal
	}{
		"admin":                         {claims: ada(), want: "ada@example.com admin ops []"},
		"the greatest":                  {claims: with("groups", []any{"editors", "ops", "staff"}), want: "ada@example.com admin ops []"},
		"a writer":                      {claims: with("groups", "editors"), want: "ada@example.com write editors []"},
		"a reader":                      {claims: with("groups", "staff"), want: "ada@example.com read staff []"},
		"groups with cases":             {claims: with("groups", "OPS"), want: "no-role have no role"},
		"no group":                      {claims: with("groups", []any{}), want: "no-role You are ada@example.com"},
		"no groups":                     {claims: with("groups", nil), want: "no-role have no role"},
		"groups of numbers":             {claims: with("groups", []any{"ops", 1}), want: "no-role have no role"},
		"inside of others":              {claims: with("realm", map[string]any{"roles": []any{"ops"}}), claim: "realm.roles", want: "ada@example.com admin ops []"},
		"by address":                    {claims: ada(), claim: "email", want: "ada@example.com read ada@example.com []"},
		"by an address not verified":    {claims: with("email_verified", false), claim: "email", want: "no-role You are 7"},
		"not verified, named otherwise": {claims: with("email_verified", false), want: "7 admin ops []"},
		"verified by a text":            {claims: with("email_verified", "true"), want: "ada@example.com admin ops []"},
		"verified by another text":      {claims: with("email_verified", "yes"), want: "7 admin ops []"},
		"no name":                       {claims: with("email", nil, "sub", nil), want: "sign-in-refused no name"},
		"a long name":                   {claims: with("email", strings.Repeat("a", 101)), want: "sign-in-refused no name"},
		"boards":                        {claims: with("games", []any{"chess", "go-*"}), boards: "games", want: "ada@example.com admin ops [chess go-*]"},
		"no boards":                     {claims: ada(), boards: "games", want: "no-role names no boards"},
		"boards that are none":          {claims: with("games", []any{"a b"}), boards: "games", want: "no-role no list of up to 100 boards"},
	} {
		cfg := configured()
		cfg.Boards = c.boards
		if c.claim != "" {
			cfg.Claim = c.claim
		}
		k, err := New(&idp{}, sealer{}, cfg).session(c.claims, time.Now())
		got := fmt.Sprint(k.Person, " ", k.Scope, " ", k.Role, " ", k.Boards)
		if code, words, _ := strings.Cut(c.want, " "); err != nil {
			refused, ok := errors.AsType[*leaderboard.SignInError](err)
			if !ok || refused.Cause.Code != code || !strings.Contains(refused.Detail, words) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		} else if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestHolds: a session ends with its role in the settings, and when the role is worth less; more does not make it more.
func TestHolds(t *testing.T) {
	t.Parallel()
	s := New(&idp{}, sealer{}, configured())
	for name, c := range map[string]struct {
		key  leaderboard.Key
		want bool
	}{
		"as it was":      {leaderboard.Key{Role: "ops", Scope: leaderboard.ScopeAdmin}, true},
		"worth more":     {leaderboard.Key{Role: "ops", Scope: leaderboard.ScopeRead}, true},
		"worth less":     {leaderboard.Key{Role: "editors", Scope: leaderboard.ScopeAdmin}, false},
		"gone":           {leaderboard.Key{Role: "bosses", Scope: leaderboard.ScopeRead}, false},
		"an address":     {leaderboard.Key{Role: "ada@example.com", Scope: leaderboard.ScopeRead}, true},
		"without a role": {leaderboard.Key{Scope: leaderboard.ScopeRead}, false},
	} {
		if got := s.Holds(&c.key); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
