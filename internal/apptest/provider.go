package apptest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Provider is an OpenID provider of a test. It signs everybody in at once, as the person of SetPerson.
type Provider struct {
	*httptest.Server
	Client, Secret string // of the service under test

	mu     sync.Mutex
	key    *rsa.PrivateKey
	person map[string]any
	change func(claims map[string]any)
	away   bool
	codes  map[string]url.Values // the query of the request for a code, until the code is used
}

// NewProvider starts a provider; it ends with the test.
func NewProvider(t testing.TB) *Provider {
	t.Helper()
	p, err := StartProvider()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// StartProvider starts a provider, until Close.
func StartProvider() (*Provider, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	p := &Provider{Client: "scores", Secret: "a/secret+of the client", key: key, codes: map[string]url.Values{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.isAway() {
			http.Error(w, "away", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	return p, nil
}

// SetPerson sets the person who is signed in from then on: claims in addition to the claims of the sign-in.
func (p *Provider) SetPerson(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person = claims
}

// SetChange changes the claims of ID tokens before they are signed; nil: nothing.
func (p *Provider) SetChange(change func(claims map[string]any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.change = change
}

// SetAway makes the provider answer 503 to everything.
func (p *Provider) SetAway(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

func (p *Provider) isAway() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.away
}

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) {
	sendJSON(w, http.StatusOK, map[string]any{
		"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	text := base64.RawURLEncoding.EncodeToString
	sendJSON(w, http.StatusOK, map[string]any{"keys": []map[string]string{
		{"kty": "RSA", "kid": "r", "use": "sig", "alg": "RS256", "n": text(p.key.N.Bytes()), "e": text(big.NewInt(int64(p.key.E)).Bytes())},
	}})
}

// authorize sends the browser back with a code.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	back, err := url.Parse(asked.Get("redirect_uri"))
	switch {
	case err != nil || asked.Get("client_id") != p.Client || asked.Get("response_type") != "code" || !strings.HasPrefix(asked.Get("scope"), "openid "),
		asked.Get("code_challenge_method") != "S256", asked.Get("nonce") == "", asked.Get("state") == "":
		http.Error(w, "this is no request for a code: "+r.URL.RawQuery, http.StatusBadRequest)
		return
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = asked
	p.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {asked.Get("state")}, "session_state": {"x"}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

// token gives an ID token for a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	client, secret, _ := r.BasicAuth()
	if id, err := url.QueryUnescape(client); err != nil || id != p.Client {
		sendJSON(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	if text, err := url.QueryUnescape(secret); err != nil || text != p.Secret {
		sendJSON(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, ok := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	challenge := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || base64.RawURLEncoding.EncodeToString(challenge[:]) != asked.Get("code_challenge") || r.PostFormValue("redirect_uri") != asked.Get("redirect_uri") {
		sendJSON(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	now := time.Now()
	claims := map[string]any{"iss": p.URL, "aud": p.Client, "nonce": asked.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	maps.Copy(claims, p.person)
	if p.change != nil {
		p.change(claims)
	}
	signed, err := p.sign(claims)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{"access_token": "unused", "token_type": "Bearer", "id_token": signed})
}

func (p *Provider) sign(claims map[string]any) (string, error) {
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString
	signed := text([]byte(`{"alg":"RS256","kid":"r","typ":"JWT"}`)) + "." + text(body)
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:])
	return signed + "." + text(signature), err
}
