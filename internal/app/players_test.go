package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// provider is an identity provider of a test.
type provider struct {
	*httptest.Server
	rsa     *rsa.PrivateKey
	ec      *ecdsa.PrivateKey
	ed      ed25519.PrivateKey
	fetched atomic.Int64
	away    atomic.Bool
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	var err error
	if p.rsa, err = rsa.GenerateKey(rand.Reader, 2048); err != nil {
		t.Fatal(err)
	}
	if p.ec, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	if _, p.ed, err = ed25519.GenerateKey(rand.Reader); err != nil {
		t.Fatal(err)
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.fetched.Add(1)
		if p.away.Load() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, p.set(t))
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) set(t *testing.T) string {
	t.Helper()
	text := base64.RawURLEncoding.EncodeToString
	point, err := p.ec.PublicKey.Bytes() // 4, X, Y
	if err != nil {
		t.Error(err)
	}
	set, err := json.Marshal(map[string]any{"keys": []map[string]string{
		{"kty": "RSA", "kid": "r", "use": "sig", "n": text(p.rsa.N.Bytes()), "e": text(big.NewInt(int64(p.rsa.E)).Bytes())},
		{"kty": "EC", "kid": "e", "crv": "P-256", "alg": "ES256", "x": text(point[1:33]), "y": text(point[33:])},
		{"kty": "OKP", "kid": "d", "crv": "Ed25519", "x": text(p.ed.Public().(ed25519.PublicKey))},
		{"kty": "OKP", "kid": "x", "crv": "X25519", "x": text(p.ed.Public().(ed25519.PublicKey))},
	}})
	if err != nil {
		t.Error(err)
	}
	return string(set)
}

// token signs claims, which change may change: a claim set to nil is left out.
func (p *provider) token(t *testing.T, member string, change ...map[string]any) string {
	t.Helper()
	now := time.Now()
	claims := jwt.MapClaims{"iss": "https://idp.example", "aud": "game", "sub": member, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	alg, kid, key := "RS256", "r", any(p.rsa)
	for _, c := range change {
		c = maps.Clone(c)
		for name, at := range map[string]*string{"alg": &alg, "kid": &kid} {
			if text, ok := c[name].(string); ok {
				*at = text
				delete(c, name)
			}
		}
		if with, ok := c["key"]; ok {
			key = with
			delete(c, "key")
		}
		maps.Copy(claims, c)
	}
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	j := jwt.NewWithClaims(jwt.GetSigningMethod(alg), claims)
	if j.Header["kid"] = kid; kid == "" {
		delete(j.Header, "kid")
	}
	signed, err := j.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// as sends a request with a token or a key, and returns the status and the body.
func (a *testApp) as(ctx context.Context, key, method, path, body string) (int, string) {
	req, err := http.NewRequestWithContext(ctx, method, a.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(text)
}

const (
	ownEntry = "/v1/boards/b/members/g:ada"
	topOfB   = "/v1/boards/b/top"
	toB      = "/v1/boards/b/scores"
	adasOwn  = `{"entries":[{"member":"g:ada","score":7}]}`
	bobsOwn  = `{"entries":[{"member":"g:bob","score":7}]}`
)

// issuerOf makes an issuer game of a provider, by the address of its keys.
func (a *testApp) issuerOf(p *provider, status int) {
	a.Ask(status, "PUT", "/v1/issuers/game", fmt.Sprintf(`{"issuer":"https://idp.example","audience":"game","jwks_url":%q,"prefix":"g:","boards_claim":"boards","max_age":"2h"}`, p.URL))
}

func privateIssuers(cfg *Config) { cfg.AllowPrivate = true }

// public returns the public part of the RSA key, which an attacker knows, as a secret for HS256.
func (p *provider) public(t *testing.T) []byte {
	t.Helper()
	public, err := json.Marshal(p.rsa.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return public
}

// TestPassedOverIsShown: an issuer shows which keys of its set are not used, and why: keys in its rules at once, other keys after
// they were fetched. The shown issuer can be put back. Players of its good key are accepted.
func TestPassedOverIsShown(t *testing.T) {
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	a := startReady(t, dsn, redisURL, privateIssuers)
	p := newProvider(t)
	n := base64.RawURLEncoding.EncodeToString(p.rsa.N.Bytes())
	usable := fmt.Sprintf(`{"kty":"RSA","kid":"even","n":%q,"e":"AQAA"},{"kty":"RSA","kid":"r","n":%q,"e":"AQAB"}`, n, n)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"keys":[{"kty":"oct","kid":"o","k":"AQAB"},`+usable+`]}`)
	}))
	t.Cleanup(keys.Close)
	p.Server = keys
	const even = "map[kid:even reason:has an exponent or a modulus that no key of RSA has]"
	shows := func(issuer apptest.Object, want string) {
		t.Helper()
		if got := fmt.Sprint(issuer["passed_over"]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	shows(a.Ask(201, "PUT", "/v1/issuers/given", `{"issuer":"given","audience":"game","prefix":"x:","jwks":{"keys":[`+usable+`]}}`), "["+even+"]")
	a.issuerOf(p, 201)
	shows(a.Ask(200, "GET", "/v1/issuers/game", ""), "<nil>")
	a.Ask(201, "PUT", "/v1/boards/b", `{"visibility":"private","players":{"read":true,"submit":"own"}}`)
	if status, text := a.as(t.Context(), p.token(t, "ada", map[string]any{"boards": "b"}), "POST", toB, adasOwn); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	both := "[map[kid:o reason:is secret, and everybody can read it here: its tokens prove nothing] " + even + "]"
	shown := a.Ask(200, "GET", "/v1/issuers/game", "")
	shows(shown, both)
	body, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	a.Ask(200, "PUT", "/v1/issuers/game", string(body))
}

// TestIssuerTokens: every sort of token reads and submits, for the player's own entry and for another's, on a private board on
// which players read and submit. The signature must be made with a key of the issuer, by its algorithms, and the claims must hold:
// HS256 with the public key, none, another key under a known kid, another audience, issuer or time are all 401, and change
// nothing.
func TestIssuerTokens(t *testing.T) {
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	a := startReady(t, dsn, redisURL, privateIssuers)
	p, other := newProvider(t), newProvider(t)
	a.issuerOf(p, 201)
	a.Ask(201, "PUT", "/v1/boards/b", `{"visibility":"private","policy":"latest","players":{"read":true,"submit":"own"}}`)
	a.Ask(200, "POST", toB, `{"entries":[{"member":"g:ada","score":1},{"member":"g:bob","score":1}]}`)
	now := time.Now()
	boards := map[string]any{"boards": []string{"b"}}
	public := p.public(t)
	good := map[string]string{
		"RS256":                   p.token(t, "ada", boards),
		"ES256":                   p.token(t, "ada", boards, map[string]any{"alg": "ES256", "kid": "e", "key": p.ec}),
		"EdDSA":                   p.token(t, "ada", boards, map[string]any{"alg": "EdDSA", "kid": "d", "key": p.ed}),
		"one audience of several": p.token(t, "ada", boards, map[string]any{"aud": []string{"x", "game"}}),
		"a prefix of boards":      p.token(t, "ada", map[string]any{"boards": "b*"}),
		"over within the skew":    p.token(t, "ada", boards, map[string]any{"exp": now.Add(-10 * time.Second).Unix()}),
		"to come within the skew": p.token(t, "ada", boards, map[string]any{"nbf": now.Add(10 * time.Second).Unix(), "iat": now.Add(10 * time.Second).Unix()}),
		"times with fractions":    p.token(t, "ada", boards, map[string]any{"exp": float64(now.UnixMilli())/1e3 + 100}),
		"a claim that says more":  p.token(t, "ada", boards, map[string]any{"scope": "admin"}),
		"nearly as old as may be": p.token(t, "ada", boards, map[string]any{"iat": now.Add(-119 * time.Minute).Unix()}),
	}
	bad := map[string]string{
		"another issuer":           p.token(t, "ada", boards, map[string]any{"iss": "https://idp.example/"}),
		"this service as issuer":   p.token(t, "ada", boards, map[string]any{"iss": "leaderboard", "aud": "leaderboard", "alg": "EdDSA", "key": p.ed}),
		"another audience":         p.token(t, "ada", boards, map[string]any{"aud": "game2"}),
		"no audience":              p.token(t, "ada", boards, map[string]any{"aud": nil}),
		"an unknown kid":           p.token(t, "ada", boards, map[string]any{"kid": "q"}),
		"no kid":                   p.token(t, "ada", boards, map[string]any{"kid": ""}),
		"a key for other uses":     p.token(t, "ada", boards, map[string]any{"kid": "x"}),
		"another's key":            other.token(t, "ada", boards),
		"a kid of another key":     p.token(t, "ada", boards, map[string]any{"alg": "EdDSA", "kid": "r", "key": p.ed}),
		"another algorithm":        p.token(t, "ada", boards, map[string]any{"alg": "RS512"}),
		"HS256 with the set":       p.token(t, "ada", boards, map[string]any{"alg": "HS256", "key": []byte(p.set(t))}),
		"HS256 with the key":       p.token(t, "ada", boards, map[string]any{"alg": "HS256", "key": public}),
		"HS256 with the modulus":   p.token(t, "ada", boards, map[string]any{"alg": "HS256", "key": p.rsa.N.Bytes()}),
		"none":                     p.token(t, "ada", boards, map[string]any{"alg": "none", "key": jwt.UnsafeAllowNoneSignatureType}),
		"over":                     p.token(t, "ada", boards, map[string]any{"exp": now.Add(-time.Minute).Unix()}),
		"not valid yet":            p.token(t, "ada", boards, map[string]any{"nbf": now.Add(time.Minute).Unix()}),
		"issued later than now":    p.token(t, "ada", boards, map[string]any{"iat": now.Add(time.Minute).Unix()}),
		"older than may be":        p.token(t, "ada", boards, map[string]any{"iat": now.Add(-3 * time.Hour).Unix()}),
		"without an end":           p.token(t, "ada", boards, map[string]any{"exp": nil}),
		"without a beginning":      p.token(t, "ada", boards, map[string]any{"iat": nil}),
		"an end that is no number": p.token(t, "ada", boards, map[string]any{"exp": "tomorrow"}),
		"an end that is no time":   p.token(t, "ada", boards, map[string]any{"exp": 1e300}),
		"without a member":         p.token(t, "ada", boards, map[string]any{"sub": nil}),
		"a member that is no id":   p.token(t, strings.Repeat("a", 63), boards),
		"boards of another kind":   p.token(t, "ada", map[string]any{"boards": 5}),
		"no boards":                p.token(t, "ada"),
		"a changed claim":          changed(good["RS256"], "ada", "bob"),
		"a changed signature":      good["RS256"][:len(good["RS256"])-6] + "AAAAAA",
		"no signature":             good["RS256"][:strings.LastIndexByte(good["RS256"], '.')+1],
		"not a token":              "a.b.c",
		"a long one":               good["RS256"] + strings.Repeat("A", 9<<10),
	}
	for name, token := range good {
		if status, text := a.as(t.Context(), token, "GET", ownEntry, ""); status != 200 {
			t.Errorf("%s: the own entry: %d %s", name, status, text)
		}
		if status, text := a.as(t.Context(), token, "POST", toB, adasOwn); status != 200 || !strings.Contains(text, `"status":"applied"`) && !strings.Contains(text, `"status":"unchanged"`) {
			t.Errorf("%s: an own score: %d %s", name, status, text)
		}
		for _, of := range []string{"/v1/boards/b/members/g:bob", topOfB, "/v1/boards/b/members/ada"} {
			if status, text := a.as(t.Context(), token, "GET", of, ""); status != 404 {
				t.Errorf("%s: %s: %d %s", name, of, status, text)
			}
		}
		for _, body := range []string{bobsOwn, strings.Replace(adasOwn, "g:ada", "ada", 1)} {
			if status, text := a.as(t.Context(), token, "POST", toB, body); status != 403 {
				t.Errorf("%s: another's score: %d %s", name, status, text)
			}
		}
	}
	for name, token := range bad {
		for _, of := range []struct{ method, path, body string }{{"GET", ownEntry, ""}, {"GET", "/v1/boards", ""}, {"POST", toB, adasOwn}, {"POST", toB, bobsOwn}} {
			if status, text := a.as(t.Context(), token, of.method, of.path, of.body); status != 401 && (len(token) < 9<<10 || status != 431) {
				t.Errorf("%s: %s %s: %d %s", name, of.method, of.path, status, text)
			}
		}
	}
	if n := p.fetched.Load(); n > 1 {
		t.Errorf("the keys were asked for %d times", n)
	}
	if got := a.Ask(200, "GET", "/v1/boards/b/members/g:bob", "").Text("score"); got != "1" {
		t.Errorf("bob has %s", got)
	}
	if status, text := a.as(t.Context(), p.token(t, "ada", map[string]any{"boards": []string{"c"}}), "POST", toB, adasOwn); status != 404 {
		t.Errorf("a token for another board: %d %s", status, text)
	}
}

// changed replaces a text in the claims of a token.
func changed(token, from, to string) string {
	parts := strings.Split(token, ".")
	body, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return err.Error()
	}
	parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(body), from, to, 1)))
	return strings.Join(parts, ".")
}

// TestPlayersSpread: a change made through one server counts on the others within a second, though they have the token's signature
// in memory: an issuer, its rules, a bar, a rule of the board, a key that made tokens, a key that signs. Before each change the
// test sees the token accepted.
func TestPlayersSpread(t *testing.T) {
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	a, b := startReady(t, dsn, redisURL, privateIssuers), startReady(t, dsn, redisURL, privateIssuers)
	p := newProvider(t)
	a.issuerOf(p, 201)
	players := `{"visibility":"private","policy":"latest","players":{"read":true,"submit":"own"}}`
	a.Ask(201, "PUT", "/v1/boards/b", players)
	a.Ask(200, "POST", toB, `{"entries":[{"member":"g:ada","score":1}]}`)
	within := func(what string, want int, token string) {
		t.Helper()
		began := time.Now()
		for _, s := range []*testApp{b, a} {
			apptest.Eventually(t, func() string {
				if status, text := s.as(t.Context(), token, "GET", ownEntry, ""); status != want {
					return fmt.Sprintf("%s: %d, want %d: %s", what, status, want, text)
				}
				return ""
			})
		}
		t.Logf("%s: %s", what, time.Since(began))
	}
	token := p.token(t, "ada", map[string]any{"boards": "b", "iat": time.Now().Add(-5 * time.Second).Unix()})
	within("an issuer is made", 200, token)
	a.Ask(200, "PUT", "/v1/members/g:ada/bar", "")
	within("a bar", 401, token)
	within("a token issued after it", 200, p.token(t, "ada", map[string]any{"boards": "b", "iat": time.Now().Add(2 * time.Second).Unix()}))
	a.Ask(204, "DELETE", "/v1/members/g:ada/bar", "")
	within("no bar", 200, token)
	a.Ask(200, "PATCH", "/v1/boards/b", `{"players":null}`)
	within("players do not read", 404, token)
	a.Ask(200, "PUT", "/v1/boards/b", players)
	within("players read", 200, token)
	a.Ask(200, "PUT", "/v1/issuers/game", fmt.Sprintf(`{"issuer":"https://idp.example","audience":"game2","jwks_url":%q,"prefix":"g:"}`, p.URL))
	within("another audience", 401, token)
	a.issuerOf(p, 200)
	within("the audience as before", 200, token)
	a.Ask(204, "DELETE", "/v1/issuers/game", "")
	within("no issuer", 401, token)

	key := a.Ask(201, "POST", "/v1/keys", `{"name":"backend","scope":"write"}`)
	made := func() string {
		t.Helper()
		status, text := a.as(t.Context(), key.Text("secret"), "POST", "/v1/tokens", `{"member":"g:ada","boards":["b"]}`)
		var out struct{ Token string }
		if err := json.Unmarshal([]byte(text), &out); status != 201 || err != nil {
			t.Fatalf("%d %s", status, text)
		}
		return out.Token
	}
	own := made()
	within("a token of the service", 200, own)
	a.Ask(200, "PUT", "/v1/members/g:ada/bar", "")
	within("a bar for it", 401, own)
	after := made()
	within("one made after the bar", 200, after)
	a.Ask(204, "POST", "/v1/tokens/rotate", `{"overlap":"1h"}`)
	within("a rotation with an overlap", 200, after)
	within("one of the new key", 200, made())
	a.Ask(204, "POST", "/v1/tokens/rotate", `{"overlap":"0s"}`)
	within("a rotation without", 401, after)
	last := made()
	within("one of the newest key", 200, last)
	a.Ask(204, "DELETE", "/v1/keys/"+key.Text("id"), "")
	within("the key that made it is revoked", 401, last)

	_, actions := a.as(t.Context(), apptest.AdminKey, "GET", "/v1/audit?limit=100", "")
	for _, want := range []string{"issuer.create", "issuer.update", "issuer.delete", "member.bar", "member.unbar", "signing.rotate"} {
		if !strings.Contains(actions, want) {
			t.Errorf("the audit has no %s", want)
		}
	}
}

// TestIdempotencyKeysOfPlayers: the same Idempotency-Key of two players is two keys.
func TestIdempotencyKeysOfPlayers(t *testing.T) {
	a := startReady(t, testenv.MySQL(t), "")
	a.Ask(201, "PUT", "/v1/boards/b", `{"policy":"sum","players":{"submit":"own"}}`)
	for _, member := range []string{"ada", "bob"} {
		token := a.Ask(201, "POST", "/v1/tokens", fmt.Sprintf(`{"member":%q}`, member)).Text("token")
		for range 2 {
			req, err := http.NewRequestWithContext(t.Context(), "POST", a.URL+toB, strings.NewReader(fmt.Sprintf(`{"entries":[{"member":%q,"score":5}]}`, member)))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Idempotency-Key", "k")
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != 200 {
				t.Errorf("%s: %d", member, resp.StatusCode)
			}
		}
		if got := a.Ask(200, "GET", "/v1/boards/b/members/"+member, "").Text("score"); got != "5" {
			t.Errorf("%s has %s", member, got)
		}
	}
}

// TestPlayTokens: a play that begins on one server is submitted with on another, once. A token that is no play of this player on
// this board is refused and leaves the play unchanged: another player's or another board's play, a changed one, a token that is
// signed otherwise, the player's own token; and a play is no token of a player.
func TestPlayTokens(t *testing.T) {
	dsn, redisURL := testenv.MySQL(t), testenv.Redis(t)
	a, b := startReady(t, dsn, redisURL), startReady(t, dsn, redisURL)
	p := newProvider(t)
	rules := `{"policy":"sum","players":{"read":true,"submit":"play"%s},"limits":{"per_second":1000000}}`
	a.Ask(201, "PUT", "/v1/boards/b", fmt.Sprintf(rules, ""))
	a.Ask(201, "PUT", "/v1/boards/c", fmt.Sprintf(rules, ""))
	a.Ask(201, "PUT", "/v1/boards/slow", fmt.Sprintf(rules, `,"min_time":"1h","max_time":"2h"`))
	token := func(member string) string {
		return a.Ask(201, "POST", "/v1/tokens", fmt.Sprintf(`{"member":%q}`, member)).Text("token")
	}
	ada, bob := token("ada"), token("bob")
	begin := func(of *testApp, player, board string) string {
		t.Helper()
		var out struct{ Play string }
		status, text := of.as(t.Context(), player, "POST", "/v1/boards/"+board+"/plays", "")
		if err := json.Unmarshal([]byte(text), &out); status != 201 || err != nil {
			t.Fatalf("%d %s", status, text)
		}
		return out.Play
	}
	submit := func(board, play string) (int, string) {
		return b.as(t.Context(), ada, "POST", "/v1/boards/"+board+"/scores", fmt.Sprintf(`{"entries":[{"member":"ada","score":1,"play":%q}]}`, play))
	}
	play := begin(a, ada, "b")
	of := func(claims jwt.MapClaims, method jwt.SigningMethod, key any) string {
		parsed, _, err := jwt.NewParser().ParseUnverified(play, jwt.MapClaims{})
		if err != nil {
			t.Fatal(err)
		}
		j := jwt.NewWithClaims(method, maps.Clone(parsed.Claims.(jwt.MapClaims)))
		maps.Copy(j.Claims.(jwt.MapClaims), claims)
		j.Header["kid"] = parsed.Header["kid"]
		signed, err := j.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return signed
	}
	_, keys := a.as(t.Context(), ada, "GET", "/.well-known/jwks.json", "")
	for name, wrong := range map[string]string{
		"another player's":          begin(a, bob, "b"),
		"another board's":           begin(a, ada, "c"),
		"a changed board":           changed(begin(a, ada, "c"), `"board":"c"`, `"board":"b"`),
		"a changed player":          changed(begin(a, bob, "b"), `"sub":"bob"`, `"sub":"ada"`),
		"a changed id":              changed(play, `"jti":"`, `"jti":"A`),
		"another signature":         of(nil, jwt.SigningMethodEdDSA, p.ed),
		"none":                      of(nil, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType),
		"HS256 with the public key": of(nil, jwt.SigningMethodHS256, []byte(keys)),
		"RS256":                     of(nil, jwt.SigningMethodRS256, p.rsa),
		"the player's own token":    ada,
		"no token":                  "x",
		"nothing":                   "",
		"a long one":                play + strings.Repeat("A", 8000),
	} {
		if status, text := submit("b", wrong); status != 422 && status != 400 || status == 422 && !strings.Contains(text, "invalid-play") {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
	for _, of := range []string{"/v1/boards", "/v1/boards/b/members/ada"} {
		if status, text := a.as(t.Context(), play, "GET", of, ""); status != 401 {
			t.Errorf("a play in the place of a token: %d %s", status, text)
		}
	}
	if status, text := submit("b", play); status != 200 || !strings.Contains(text, `"status":"applied"`) {
		t.Errorf("the play after all that: %d %s", status, text)
	}
	if status, text := submit("b", play); status != 200 || !strings.Contains(text, "play-gone") {
		t.Errorf("the play once more: %d %s", status, text)
	}
	if status, text := submit("slow", begin(b, ada, "slow")); status != 200 || !strings.Contains(text, "play-time") {
		t.Errorf("too quick: %d %s", status, text)
	}
	if got := a.Ask(200, "GET", "/v1/boards/b/members/ada", "").Text("score"); got != "1" {
		t.Errorf("ada has %s", got)
	}
	a.Ask(204, "POST", "/v1/tokens/rotate", `{"overlap":"1h"}`)
	if status, text := submit("b", begin(a, ada, "b")); status != 200 || !strings.Contains(text, `"status":"applied"`) {
		t.Errorf("a play of a key that was made just now: %d %s", status, text)
	}
}
