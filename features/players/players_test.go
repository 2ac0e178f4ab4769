package players

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/api"
	"leaderboard/cache/feed"
	"leaderboard/features"
	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// tables is the source of Players and of their feed.
type tables struct {
	mu       sync.Mutex
	issuers  []Issuer
	keys     []SigningKey
	bars     []MemberBar
	revision leaderboard.Revision
	away     bool
	renewed  int
}

func (s *tables) Issuers(_ context.Context, after string, _ int) ([]Issuer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after != "" {
		return nil, nil
	}
	return s.issuers, nil
}

func (s *tables) SigningKeys(context.Context) ([]SigningKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys, nil
}

func (s *tables) RenewSigning(context.Context) error {
	s.change(func() {
		s.renewed++
		id := fmt.Sprint("s", s.renewed)
		s.keys = append(s.keys, SigningKey{ID: id, Seed: []byte(strings.Repeat(id[1:], ed25519.SeedSize)), CreatedTime: leaderboard.MicrosOf(time.Now())})
	})
	return nil
}

func (s *tables) Bars(_ context.Context, after string, _ int) ([]MemberBar, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after != "" {
		return nil, nil
	}
	return s.bars, nil
}

// Revisions implements feed.Source.
func (s *tables) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, leaderboard.ErrUnavailable
	}
	return map[int64]leaderboard.Revision{leaderboard.TokensPeriod: s.revision}, nil
}

func (s *tables) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	s.revision.Seq++
}

// fixture is Players of a test with one issuer that signs with a key of Ed25519 under the kid k.
type fixture struct {
	*Players
	t        *testing.T
	tables   *tables
	private  ed25519.PrivateKey
	verified atomic.Int64
	refused  atomic.Int64
	fetched  atomic.Int64
}

func jwksOf(kid string, public ed25519.PublicKey) string {
	return fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}]}`, kid, base64.RawURLEncoding.EncodeToString(public))
}

func newKey(t *testing.T) (ed25519.PublicKey, ed25519.PrivateKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return public, private
}

func start(t *testing.T, url string, o Options) *fixture {
	t.Helper()
	public, private := newKey(t)
	f := &fixture{t: t, tables: &tables{revision: leaderboard.Revision{Seq: 1}}, private: private}
	o.Observer = observed(func(good bool) {
		if f.verified.Add(1); !good {
			f.refused.Add(1)
		}
	})
	o.Keys.OnFetch = func() { f.fetched.Add(1) }
	o.Private = true
	shows := feed.New(f.tables, feed.Options{})
	f.Players = New(f.tables, shows, o)
	rules := IssuerRules{Issuer: "i", Audience: "a", JWKSURL: url}
	if url == "" {
		rules.JWKS = []byte(jwksOf("k", public))
	}
	f.tables.issuers = []Issuer{{Name: "game", IssuerRules: rules.WithDefaults()}}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { shows.Run(ctx) })
	running.Go(func() { f.table.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return f
}

func (f *fixture) token(member, kid string, private ed25519.PrivateKey) string {
	f.t.Helper()
	now := time.Now()
	return f.tokenOf(member, kid, private, jwt.MapClaims{"iat": now.Unix(), "exp": now.Add(time.Hour).Unix()})
}

// tokenOf is token with other times.
func (f *fixture) tokenOf(member, kid string, private ed25519.PrivateKey, claims jwt.MapClaims) string {
	f.t.Helper()
	claims["iss"], claims["aud"], claims["sub"] = "i", "a", member
	j := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims)
	j.Header["kid"] = kid
	signed, err := j.SignedString(private)
	if err != nil {
		f.t.Fatal(err)
	}
	return signed
}

func free() error { return nil }

// find returns the member of a token, or why it is refused.
func (f *fixture) find(token string) string { return f.findAt(token, time.Now()) }

func (f *fixture) findAt(token string, now time.Time) string {
	p, err := f.Find(f.t.Context(), token, now, free)
	if err != nil {
		return err.Error()
	}
	return p.Member
}

// TestVerifiedOnce: the signature of a token is verified once, whether it is right or wrong; time, bar and issuer are
// looked at each time. A wrong token does not push right ones out of memory.
func TestVerifiedOnce(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{Verified: 8})
	good := f.token("ada", "k", f.private)
	_, other := newKey(t)
	forged := f.token("ada", "k", other)
	for range 100 {
		if got := f.find(good); got != "ada" {
			t.Fatal(got)
		}
		if got := f.find(forged); got != "The signature of the token is not right." {
			t.Fatal(got)
		}
	}
	if f.verified.Load() != 2 || f.refused.Load() != 1 {
		t.Errorf("%d signatures were verified, %d of them wrong, want 2 and 1", f.verified.Load(), f.refused.Load())
	}
	for i := range 100 {
		f.find(f.token(fmt.Sprint(i), "k", other))
	}
	if before := f.verified.Load(); f.find(good) != "ada" || f.verified.Load() != before {
		t.Error("the good token was forgotten for forged ones")
	}
	if got := f.findAt(good, time.Now().Add(2*time.Hour)); got != "The time of the token is over." {
		t.Error(got)
	}
	f.tables.change(func() {
		f.tables.bars = []MemberBar{{Member: "ada", NotBefore: leaderboard.MicrosOf(time.Now())}}
	})
	if err := f.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.find(good); got != "The token was ended." {
		t.Error(got)
	}
	f.tables.change(func() { f.tables.bars = nil; f.tables.issuers = nil })
	if err := f.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.find(good); got != "The issuer of the token, or its key, is not known." {
		t.Error(got)
	}
}

// TestAdmitted: no signature is verified for a request that is not admitted, and a token that is known needs no admission.
func TestAdmitted(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{})
	good, no := f.token("ada", "k", f.private), errors.New("no")
	if _, err := f.Find(t.Context(), good, time.Now(), func() error { return no }); !errors.Is(err, no) || f.verified.Load() != 0 {
		t.Errorf("%v, %d verified", err, f.verified.Load())
	}
	f.find(good)
	if _, err := f.Find(t.Context(), good, time.Now(), func() error { return no }); err != nil {
		t.Error(err)
	}
}

// TestForgedTakePlaces: forged tokens are verified a few at once, and beyond that refused; a token that cannot be valid
// costs no verification at all.
func TestForgedTakePlaces(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{Verifies: 1, Wait: time.Millisecond})
	good := f.token("ada", "k", f.private)
	f.places <- struct{}{} // one token that is being verified
	_, err := f.Find(t.Context(), good, time.Now(), free)
	if !errors.Is(err, leaderboard.ErrOverloaded) {
		t.Error(err)
	}
	<-f.places
	for _, token := range []string{"a.b.c", strings.Repeat("a", maxTokenBytes+1), f.token("", "k", f.private), f.token("ada", "other", f.private)} {
		f.find(token)
	}
	if n := f.verified.Load(); n != 0 {
		t.Errorf("%d signatures were verified", n)
	}
	if got := f.find(good); got != "ada" {
		t.Error(got)
	}
}

// TestPublishedKeys: keys are fetched when the first token comes, are valid for ten minutes, and longer while the issuer is
// away. An unknown kid causes a fetch at most once a minute; a key that the issuer has withdrawn is no longer valid, though
// the signature was verified.
func TestPublishedKeys(t *testing.T) {
	t.Parallel()
	public, private := newKey(t)
	public2, private2 := newKey(t)
	var set atomic.Pointer[string]
	publish := func(text string) { set.Store(&text) }
	publish(jwksOf("k", public))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text := *set.Load()
		if text == "" {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	f := start(t, server.URL, Options{})
	now := time.Now()
	first, second := f.token("ada", "k", private), f.token("bob", "k2", private2)
	check := func(after time.Duration, token, want string, fetches int64) {
		t.Helper()
		if got := f.findAt(token, now.Add(after)); got != want || f.fetched.Load() != fetches {
			t.Errorf("after %s: %q and %d questions, want %q and %d", after, got, f.fetched.Load(), want, fetches)
		}
	}
	const unknown = "The issuer of the token has no such key."
	check(0, first, "ada", 1)
	check(time.Second, second, unknown, 1)
	publish(jwksOf("k2", public2))
	check(59*time.Second, second, unknown, 1)
	check(60*time.Second, second, "bob", 2)
	check(61*time.Second, first, unknown, 2)
	publish(jwksOf("k", public))
	check(11*time.Minute+time.Second, second, unknown, 3)
	check(12*time.Minute, first, "ada", 3)
	publish("")
	check(22*time.Minute, first, "ada", 4)
	check(22*time.Minute+30*time.Second, first, "ada", 4)
	check(24*time.Minute, first, "ada", 5)
}

// TestNonsenseOfIssuer: an issuer whose answer is nonsense, too long, a redirect, or without an end, neither removes a
// known key nor adds one; it is asked again a minute later. An issuer without any good answer has no keys (promise G7).
func TestNonsenseOfIssuer(t *testing.T) {
	t.Parallel()
	public, private := newKey(t)
	public2, private2 := newKey(t)
	set, both := jwksOf("k", public), `{"keys":[`+inner(jwksOf("k", public))+","+inner(jwksOf("k2", public2))+"]}"
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(both)) }))
	t.Cleanup(elsewhere.Close)
	for name, answer := range map[string]http.HandlerFunc{
		"HTML":      say("<!DOCTYPE html><title>Sign in</title>"),
		"nothing":   say(""),
		"cut off":   say(both[:len(both)-2]),
		"no keys":   say(`{"keys":[]}`),
		"secrets":   say(strings.ReplaceAll(both, `{"kty"`, `{"d":"AA","kty"`)),
		"65 KiB":    say(strings.Repeat(" ", 65<<10) + both),
		"much":      say(both + strings.Repeat(" ", 10<<20)),
		"elsewhere": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) },
		"another state": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(both))
		},
		"hung up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"slow":    slowly(both),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var broken atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if broken.Load() {
					answer(w, r)
					return
				}
				_, _ = w.Write([]byte(set))
			}))
			defer server.Close()
			f, late := start(t, server.URL, Options{}), start(t, server.URL, Options{})
			now := time.Now()
			known, other := f.token("ada", "k", private), f.token("bob", "k2", private2)
			const unknown = "The issuer of the token has no such key."
			check := func(f *fixture, after time.Duration, token, want string, fetches int64) {
				t.Helper()
				if got := f.findAt(token, now.Add(after)); got != want || f.fetched.Load() != fetches {
					t.Errorf("after %s: %q and %d questions, want %q and %d", after, got, f.fetched.Load(), want, fetches)
				}
			}
			check(f, 0, known, "ada", 1)
			broken.Store(true)
			check(f, 2*time.Minute, other, unknown, 2)
			check(f, 2*time.Minute+59*time.Second, other, unknown, 2)
			check(f, 10*time.Minute, known, "ada", 2)
			check(f, 11*time.Minute, known, "ada", 3)
			check(late, 0, known, unknown, 1)
			check(late, 59*time.Second, known, unknown, 1)
			broken.Store(false)
			check(late, time.Minute, known, "ada", 2)
		})
	}
}

// inner is the key of a set with one key.
func inner(set string) string { return strings.TrimSuffix(strings.TrimPrefix(set, `{"keys":[`), `]}`) }

func say(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

// slowly answers one byte at a time, for much longer than the time limit.
func slowly(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		tick := time.NewTicker(5 * oidc.FetchFor / time.Duration(len(text)))
		defer tick.Stop()
		for i := range text {
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
			_, _ = w.Write([]byte(text[i : i+1]))
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// TestSkew: clocks of issuers may be 30 s wrong, either way, and no more: to the microsecond (promise G7).
func TestSkew(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{})
	at := time.Now().Truncate(time.Second)
	const skew, step, maxAge = 30 * time.Second, time.Microsecond, 24 * time.Hour // the default
	for name, c := range map[string]struct {
		claims     jwt.MapClaims
		good, late time.Time
		want       string
	}{
		"exp": {jwt.MapClaims{"iat": at.Unix(), "exp": at.Add(time.Hour).Unix()}, at.Add(time.Hour + skew - step), at.Add(time.Hour + skew), "The time of the token is over."},
		"nbf": {jwt.MapClaims{"iat": at.Add(-time.Hour).Unix(), "nbf": at.Unix(), "exp": at.Add(time.Hour).Unix()}, at.Add(-skew), at.Add(-skew - step), "The token is not valid yet."},
		"iat": {jwt.MapClaims{"iat": at.Unix(), "exp": at.Add(time.Hour).Unix()}, at.Add(-skew), at.Add(-skew - step), "The token was issued later than now."},
		"age": {
			jwt.MapClaims{"iat": at.Unix(), "exp": at.Add(1000 * time.Hour).Unix()},
			at.Add(maxAge + skew - step), at.Add(maxAge + skew), "The token was issued longer ago than tokens of its issuer are taken.",
		},
	} {
		token := f.tokenOf("ada", "k", f.private, c.claims)
		if got := f.findAt(token, c.good); got != "ada" {
			t.Errorf("%s, within the skew: %s", name, got)
		}
		if got := f.findAt(token, c.late); got != c.want {
			t.Errorf("%s, beyond it: %s", name, got)
		}
	}
}

// rsaKey is a key of RSA whose modulus has a number of bits, and may be any odd number.
func rsaKey(bits int, exponent string) string {
	n := new(big.Int).SetBit(big.NewInt(1), bits-1, 1)
	return fmt.Sprintf(`{"kty":"RSA","kid":"r","n":%q,"e":%q}`, base64.RawURLEncoding.EncodeToString(n.Bytes()), exponent)
}

// TestPassedOver: an unusable key does not affect players whose tokens another key has signed, and it is reported with the
// reason. Rules with a secret key are refused as a whole, since they would be stored and shown.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	public, private := newKey(t)
	keys := `{"keys":[{"kty":"oct","kid":"o","k":"AQAB"},` + rsaKey(16384, "AQAB") + `,` + inner(jwksOf("k", public)) + `]}`
	server := httptest.NewServer(say(keys))
	defer server.Close()
	f := start(t, server.URL, Options{})
	if got := f.find(f.token("ada", "k", private)); got != "ada" {
		t.Error(got)
	}
	set, err := oidc.ParseKeys([]byte(keys))
	if err != nil {
		t.Fatal(err)
	}
	want := []api.UnusableKey{{KID: "o", Reason: "is secret, and everybody can read it here: its tokens prove nothing"}, {KID: "r", Reason: "has 16384 bits, want 2048 to 4096"}}
	if !slices.Equal(set.Passed, want) {
		t.Errorf("%v", set.Passed)
	}
	bad := f.CheckIssuer(IssuerRules{JWKS: []byte(keys)})
	if len(bad) != 1 || bad[0].Pointer != "/jwks" || !strings.Contains(bad[0].Detail, "secret") {
		t.Errorf("%v", bad)
	}
}

// signed makes a token of any claims, by a method and with header fields.
func signed(t *testing.T, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	j := jwt.NewWithClaims(method, claims)
	maps.Copy(j.Header, header)
	text, err := j.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTokensOfOthers: a token whose signature is right is refused all the same when it is for another audience, by an algorithm that the
// issuer's rules do not have, or wants something that is not known here; no signature is verified for that.
func TestTokensOfOthers(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{})
	rules := f.tables.issuers[0].IssuerRules
	rules.Issuer, rules.Prefix, rules.Algorithms = "strict", "s:", []api.TokenAlgorithm{api.TokenAlgorithmRS256, api.TokenAlgorithmES256}
	f.tables.issuers = append(f.tables.issuers, Issuer{Name: "strict", IssuerRules: rules})
	now := time.Now()
	claims := func(name string, value any) jwt.MapClaims {
		c := jwt.MapClaims{"iss": "i", "aud": "a", "sub": "ada", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
		c[name] = value
		return c
	}
	kid := map[string]any{"kid": "k"}
	for name, c := range map[string]struct {
		token, want string
	}{
		"good":               {signed(t, jwt.SigningMethodEdDSA, f.private, kid, claims("aud", "a")), "ada"},
		"one of audiences":   {signed(t, jwt.SigningMethodEdDSA, f.private, kid, claims("aud", []string{"b", "a"})), "ada"},
		"another audience":   {signed(t, jwt.SigningMethodEdDSA, f.private, kid, claims("aud", "b")), "The token is for another audience."},
		"other audiences":    {signed(t, jwt.SigningMethodEdDSA, f.private, kid, claims("aud", []string{"b", "aa"})), "The token is for another audience."},
		"no audience":        {signed(t, jwt.SigningMethodEdDSA, f.private, kid, claims("aud", nil)), "The token is for another audience."},
		"audience of ours":   {signed(t, jwt.SigningMethodEdDSA, f.private, kid, claims("aud", ownIssuer)), "The token is for another audience."},
		"another algorithm":  {signed(t, jwt.SigningMethodEdDSA, f.private, kid, claims("iss", "strict")), "The token is signed by another algorithm than its issuer allows."},
		"none":               {signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid, claims("aud", "a")), "The token is signed by another algorithm than its issuer allows."},
		"by the public key":  {signed(t, jwt.SigningMethodHS256, []byte(f.private.Public().(ed25519.PublicKey)), kid, claims("aud", "a")), "The token is signed by another algorithm than its issuer allows."},
		"crit":               {signed(t, jwt.SigningMethodEdDSA, f.private, map[string]any{"kid": "k", "crit": []string{"exp"}}, claims("aud", "a")), "The token has a header that is not known here."},
		"crit that is empty": {signed(t, jwt.SigningMethodEdDSA, f.private, map[string]any{"kid": "k", "crit": []string{}}, claims("aud", "a")), "The token has a header that is not known here."},
	} {
		if got := f.find(c.token); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if n := f.verified.Load(); n != 2 {
		t.Errorf("%d signatures were verified", n)
	}
}

// TestWrongTokensCost: a wrong signature keeps its place for seven times as long as its verification took, so wrong ones take an eighth
// of the places' time at most; a right one leaves at once.
func TestWrongTokensCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const took = 10 * time.Millisecond
		public, private := newKey(t)
		_, other := newKey(t)
		p := New(&tables{}, nil, Options{Observer: observed(func(bool) { time.Sleep(took) })})
		for _, c := range []struct {
			key  ed25519.PrivateKey
			want time.Duration
		}{{private, took}, {other, (1 + 7) * took}} {
			text := signed(t, jwt.SigningMethodEdDSA, c.key, nil, jwt.MapClaims{})
			parsed, _, err := oidc.Parse(p.parser, text)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			err = p.signature(t.Context(), text, parsed, public)
			if got := time.Since(began); got != c.want || (err == nil) != (c.want == took) || len(p.places) != 0 {
				t.Errorf("%v after %s, want %s", err, got, c.want)
			}
		}
	})
}

// TestPlays: the token of a play comes from this service, for its plays only. A player's token is no play's token, nor the
// reverse.
func TestPlays(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{})
	now := time.Now()
	play := leaderboard.Play{ID: leaderboard.NewPlayID(), Board: "b", Member: "ada", StartedTime: leaderboard.MicrosOf(now)}
	good, err := f.MintPlay(t.Context(), play, now)
	if err != nil {
		t.Fatal(err)
	}
	player, _, err := f.Mint(t.Context(), TokenGrant{Member: "ada", TTL: time.Hour, Key: "k"}, now)
	if err != nil {
		t.Fatal(err)
	}
	own, kid := f.table.Value().signs, f.table.Value().signs.ID
	with := func(name string, value any) jwt.MapClaims {
		c := jwt.MapClaims{"iss": ownIssuer, "aud": playAudience, "sub": "ada", "board": "b", "jti": play.ID.String()}
		c[name] = value
		return c
	}
	by := func(header map[string]any, claims jwt.MapClaims) string {
		return signed(t, jwt.SigningMethodEdDSA, own.private, header, claims)
	}
	header := map[string]any{"kid": kid}
	_, other := newKey(t)
	for name, c := range map[string]struct{ token, want string }{
		"good":              {good, ""},
		"made alike":        {by(header, with("sub", "ada")), ""},
		"a player's token":  {player, "That is no play."},
		"another audience":  {by(header, with("aud", ownIssuer)), "That is no play."},
		"another issuer":    {by(header, with("iss", "i")), "That is no play."},
		"no id":             {by(header, with("jti", "x")), "That is no play."},
		"another key":       {by(map[string]any{"kid": "s0"}, with("sub", "ada")), "The key that signed the play is not known."},
		"crit":              {by(map[string]any{"kid": kid, "crit": []string{"b64"}}, with("sub", "ada")), "The token has a header that is not known here."},
		"forged":            {signed(t, jwt.SigningMethodEdDSA, other, header, with("sub", "ada")), "The signature of the token is not right."},
		"by the public key": {signed(t, jwt.SigningMethodHS256, []byte(own.public), header, with("sub", "ada")), "That is no play."},
		"none":              {signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, header, with("sub", "ada")), "That is no play."},
		"long":              {good + strings.Repeat("A", maxTokenBytes), "The play is longer than 8192 bytes."},
	} {
		got, err := f.FindPlay(t.Context(), c.token, now, free)
		if err == nil && (c.want != "" || got.ID != play.ID || got.Board != "b" || got.Member != "ada") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got := f.find(good); got != "The token is for another audience." {
		t.Errorf("a play as a player's token: %s", got)
	}
	no := errors.New("no")
	before := f.verified.Load()
	if _, err := f.FindPlay(t.Context(), good, now, func() error { return no }); !errors.Is(err, no) || f.verified.Load() != before {
		t.Errorf("%v: a play was verified that was not admitted", err)
	}
}

// TestPlayOfEndedKey: a play whose key has ended, or is gone, is refused as formerly valid; a forged play in that key's
// name is still a guess.
func TestPlayOfEndedKey(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{})
	now := time.Now()
	play, err := f.MintPlay(t.Context(), leaderboard.Play{ID: leaderboard.NewPlayID(), Board: "b", Member: "ada"}, now)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := f.Mint(t.Context(), TokenGrant{Member: "ada", TTL: time.Hour, Key: "k"}, now)
	if err != nil {
		t.Fatal(err)
	}
	_, other := newKey(t)
	forged := signed(t, jwt.SigningMethodEdDSA, other, map[string]any{"kid": f.table.Value().signs.ID}, jwt.MapClaims{"iss": ownIssuer, "aud": playAudience, "sub": "ada", "board": "b", "jti": leaderboard.NewPlayID().String()})
	for _, end := range []func(){
		func() { f.tables.keys[0].EndsAt = leaderboard.MicrosOf(now) },
		func() { f.tables.keys = nil }, // as a rotation without overlap
		func() {},
	} {
		f.tables.change(end)
		if err := f.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, ofPlay := f.FindPlay(t.Context(), play, now, free)
		_, ofToken := f.Find(t.Context(), token, now, free)
		for _, err := range []error{ofPlay, ofToken} {
			if refused, ok := errors.AsType[*leaderboard.TokenError](err); !ok || !refused.Signed {
				t.Errorf("%v: it was good once", err)
			}
		}
		_, err := f.FindPlay(t.Context(), forged, now, free)
		if refused, ok := errors.AsType[*leaderboard.TokenError](err); !ok || refused.Signed {
			t.Errorf("%v of a forged play", err)
		}
	}
	if keys, err := f.PublicKeys(t.Context(), now); err != nil || len(keys) > 0 {
		t.Errorf("%v, %v: keys that have ended are shown", keys, err)
	}
}

// TestGoneKeysAreBounded: of keys that are gone the newest are remembered.
func TestGoneKeysAreBounded(t *testing.T) {
	t.Parallel()
	before, r := &registry{signing: map[string]*signingKey{}}, &registry{signing: map[string]*signingKey{}}
	for i := range 2 * mostGone {
		id := fmt.Sprint("s", i)
		before.signing[id] = &signingKey{SigningKey: SigningKey{ID: id, CreatedTime: leaderboard.Micros(i)}}
	}
	r.keepGone(before)
	if len(r.signing) != mostGone || r.signing[fmt.Sprint("s", mostGone-1)] != nil || !r.signing[fmt.Sprint("s", mostGone)].gone {
		t.Errorf("%d keys are remembered", len(r.signing))
	}
}

// TestMintedAfterRotation: tokens made after another server has ended the signing key are signed by the next key, however
// short the time since then is.
func TestMintedAfterRotation(t *testing.T) {
	t.Parallel()
	f := start(t, "", Options{})
	grant := TokenGrant{Member: "ada", TTL: time.Hour, Key: "k"}
	now := time.Now()
	if _, _, err := f.Mint(t.Context(), grant, now); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		f.tables.change(func() { f.tables.keys = nil }) // as a rotation without overlap
		if err := f.tables.RenewSigning(t.Context()); err != nil {
			t.Fatal(err)
		}
		token, _, err := f.Mint(t.Context(), grant, now)
		if err != nil {
			t.Fatal(err)
		}
		play, err := f.MintPlay(t.Context(), leaderboard.Play{ID: leaderboard.NewPlayID(), Board: "b", Member: "ada"}, now)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := f.find(token); got != "ada" {
			t.Fatal(got)
		}
		if _, err := f.FindPlay(t.Context(), play, now, free); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOwnTokens: the first token has a signing key made, which is used for a month; another one then signs, and both verify. A
// token of a key that is gone, or of an API key that was revoked, is refused.
func TestOwnTokens(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	f := start(t, "", Options{KeyGood: func(_ context.Context, id string, _ time.Time) error {
		if id == "k1" && revoked.Load() {
			return leaderboard.ErrKeyRevoked
		}
		return nil
	}})
	grant := TokenGrant{Member: "ada", Boards: []string{"b*"}, TTL: time.Hour, Key: "k1"}
	mint := func(at time.Time) string {
		t.Helper()
		token, expires, err := f.Mint(t.Context(), grant, at)
		if err != nil || expires != leaderboard.MicrosOf(at.Add(time.Hour).Truncate(time.Second)) {
			t.Fatalf("until %s: %v", expires, err)
		}
		return token
	}
	now := time.Now()
	first := mint(now)
	p, err := f.Find(t.Context(), first, now, free)
	if err != nil || p.Member != "ada" || p.All || !p.Covers("b1") || p.Covers("c") || p.Via != "token:k1" || p.Owner == "" {
		t.Fatalf("%+v, %v", p, err)
	}
	for range 10 {
		mint(now)
	}
	if keys, err := f.PublicKeys(t.Context(), now); f.tables.renewed != 1 || len(keys) != 1 || err != nil {
		t.Errorf("%d signing keys, %v", f.tables.renewed, keys)
	}
	later := now.Add(signingKeyAge + time.Second)
	second := mint(later)
	if got := f.findAt(second, later); got != "ada" || f.tables.renewed != 2 {
		t.Errorf("%s by %d keys", got, f.tables.renewed)
	}
	if got := f.find(first); got != "ada" {
		t.Error(got)
	}
	revoked.Store(true)
	if got := f.find(first); got != "The API key that the token was made with is no longer valid." {
		t.Error(got)
	}
	revoked.Store(false)
	f.tables.change(func() { f.tables.keys = f.tables.keys[1:] })
	if err := f.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := f.find(first); got != "The key that signed the token is no longer valid." {
		t.Error(got)
	}
}

// TestSeal: sealed texts are recognised until their key ends, and no other texts, however similar; another database has
// other keys (promise G10).
func TestSeal(t *testing.T) {
	t.Parallel()
	f, other := start(t, "", Options{}), start(t, "", Options{})
	now := time.Now()
	sealed, err := f.Seal(t.Context(), "a.b", now)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.readAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := f.Mint(t.Context(), TokenGrant{Member: "ada", TTL: time.Hour, Key: "k"}, now)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name, text, want string) {
		t.Helper()
		if got, ok, err := f.Unseal(t.Context(), text, now); got != want || ok != (want != "") || err != nil {
			t.Errorf("%s: %q, %t, %v", name, got, ok, err)
		}
	}
	check("as it was", sealed, "a.b")
	for i := range sealed {
		check("another letter", sealed[:i]+string(sealed[i]^1)+sealed[i+1:], "")
		check("cut off", sealed[:i], "")
	}
	check("longer", sealed+"A", "")
	check("without a key", "a.b.."+r.signs.seal("a.b."), "")
	check("a token", token, "")
	if _, ok, _ := other.Unseal(t.Context(), sealed, now); ok {
		t.Error("another database knows it")
	}
	f.tables.change(func() { f.tables.keys[0].EndsAt = leaderboard.MicrosOf(now.Add(time.Second)) })
	if err := f.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("while the key is taken", sealed, "a.b")
	now = now.Add(time.Second)
	check("when it has ended", sealed, "")
}

// TestKeyGood: on a server without API keys only the keys of the settings are valid.
func TestKeyGood(t *testing.T) {
	t.Parallel()
	good := keyGood(&features.Engine{})
	if err := good(t.Context(), leaderboard.NewKeyID(), time.Now()); !errors.Is(err, leaderboard.ErrKeyNotFound) {
		t.Errorf("a key that there is not: %v", err)
	}
	if err := good(t.Context(), "env:admin", time.Now()); err != nil {
		t.Errorf("a key of the settings: %v", err)
	}
}
