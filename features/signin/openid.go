package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/api"
	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// OpenID is an OpenID provider for signing in. The settings name it, so it may be at a private address. It is asked for its
// OpenID Connect Discovery 1.0 document when somebody signs in, and its tokens are verified like issuers' tokens.
type OpenID struct {
	issuer, client string
	fetcher        *oidc.Fetcher
	log            *slog.Logger
	parser         *jwt.Parser

	mu    sync.Mutex // one question at a time
	found *found
	asked time.Time // when the last question began
}

// found is the provider's description of itself.
type found struct {
	places Places
	at     time.Time
	keys   *oidc.Published
}

const (
	placesHold = time.Hour       // the time for which findings are valid
	placesAsk  = 2 * time.Second // how often is asked at most while there is no answer
)

// NewOpenID returns the provider named issuer, with this service as one of its clients.
func NewOpenID(issuer, client string, log *slog.Logger) *OpenID {
	return &OpenID{issuer: issuer, client: client, fetcher: oidc.NewFetcher(true), log: log, parser: oidc.NewParser()}
}

// Places returns where the provider has what a sign-in needs. Errors: ErrProviderAway.
func (p *OpenID) Places(ctx context.Context, now time.Time) (Places, error) {
	f, err := p.discover(ctx, now)
	if err != nil {
		return Places{}, err
	}
	return f.places, nil
}

// Check asks the provider where it has what a sign-in needs. Its error says why that is not known.
func (p *OpenID) Check(ctx context.Context, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fetch(ctx, now)
}

// discover asks the provider, unless it was asked within the last hour. While the provider is away the last answer stays
// valid.
func (p *OpenID) discover(ctx context.Context, now time.Time) (*found, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil && now.Sub(p.found.at) < placesHold || !p.asked.IsZero() && now.Sub(p.asked) < placesAsk {
		return p.known()
	}
	p.asked = now
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), oidc.FetchFor) // others wait for it too
	defer cancel()
	if err := p.fetch(ctx, now); err != nil {
		p.log.Warn("the identity provider cannot be asked", "issuer", p.issuer, "error", err)
	}
	return p.known()
}

func (p *OpenID) known() (*found, error) {
	if p.found == nil {
		return nil, refusal(leaderboard.ErrProviderAway, "The identity provider does not answer.")
	}
	return p.found, nil
}

// fetch asks the provider. A document about another issuer is refused: it could be somebody else's.
func (p *OpenID) fetch(ctx context.Context, now time.Time) error {
	text, err := p.fetcher.Fetch(ctx, strings.TrimSuffix(p.issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return err
	}
	var said struct {
		Issuer    string   `json:"issuer"`
		Authorize string   `json:"authorization_endpoint"`
		Token     string   `json:"token_endpoint"`
		Keys      string   `json:"jwks_uri"`
		Methods   []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := json.Unmarshal(text, &said); err != nil {
		return err
	}
	if said.Issuer != p.issuer {
		return fmt.Errorf("it calls itself %q, the settings call it %q", said.Issuer, p.issuer)
	}
	for _, address := range []string{said.Authorize, said.Token, said.Keys} {
		if wrong := p.fetcher.Check(address); address == "" || wrong != "" {
			return fmt.Errorf("its address %q: %s", address, cmp.Or(wrong, "there is none"))
		}
	}
	next := &found{at: now, places: Places{
		Authorize: said.Authorize, Token: said.Token, SecretInBody: said.Methods != nil && !slices.Contains(said.Methods, "client_secret_basic"),
	}}
	if next.keys = oidc.NewPublished(p.issuer, said.Keys, p.fetcher, oidc.Options{Log: p.log}); p.found != nil && p.found.keys.URL() == said.Keys {
		next.keys = p.found.keys
	}
	p.found = next
	return nil
}

// Claims returns the claims of an ID token of the provider, for a sign-in with a nonce. Errors: ErrSignInRefused,
// ErrProviderAway.
func (p *OpenID) Claims(ctx context.Context, token, nonce string, now time.Time) (oidc.Claims, error) {
	f, err := p.discover(ctx, now)
	if err != nil {
		return nil, err
	}
	parsed, body, err := oidc.Parse(p.parser, token)
	if err != nil {
		return nil, refusal(leaderboard.ErrSignInRefused, "The ID token of the provider is no JWT, or has a header that is not known here.")
	}
	kid, _ := parsed.Header["kid"].(string)
	set := f.keys.Current(ctx, now, kid)
	if set == nil {
		return nil, refusal(leaderboard.ErrProviderAway, "The identity provider does not say by which keys it signs.")
	}
	key := set.Find(kid, api.TokenAlgorithm(parsed.Method.Alg()))
	if key == nil {
		return nil, refusal(leaderboard.ErrSignInRefused, "The ID token is signed with a key that the provider does not publish, or by another algorithm than RS256, ES256 or EdDSA.")
	}
	if parsed.Method.Verify(token[:strings.LastIndexByte(token, '.')], parsed.Signature, key) != nil {
		return nil, refusal(leaderboard.ErrSignInRefused, "The signature of the ID token is not right.")
	}
	return oidc.Claims(body), p.checkClaims(body, nonce, now)
}

// checkClaims decides about the claims of an ID token, as OpenID Connect Core 1.0, 3.1.3.7, has it.
func (p *OpenID) checkClaims(body jwt.MapClaims, nonce string, now time.Time) error {
	at, skew := leaderboard.MicrosOf(now), leaderboard.Micros(oidc.TokenSkew/time.Microsecond)
	expires, dated := oidc.Moment(body["exp"])
	issued, told := oidc.Moment(body["iat"])
	audiences, _ := oidc.Claims(body).Texts("aud")
	party, named := body["azp"]
	subject, _ := body["sub"].(string)
	switch {
	case body["iss"] != p.issuer:
		return refusal(leaderboard.ErrSignInRefused, "The ID token is of another issuer.")
	case !slices.Contains(audiences, p.client), named && party != p.client, len(audiences) > 1 && !named:
		return refusal(leaderboard.ErrSignInRefused, "The ID token is for another client of the provider.")
	case !dated || at >= expires+skew:
		return refusal(leaderboard.ErrSignInRefused, "The time of the ID token is over.")
	case !told || at >= issued+leaderboard.Micros(signInTime/time.Microsecond)+skew || at < issued-skew: // its nonce is of a sign-in that began later
		return refusal(leaderboard.ErrSignInRefused, "The ID token does not say that it was issued just now.")
	case subject == "":
		return refusal(leaderboard.ErrSignInRefused, "The ID token names no subject.")
	case nonce == "" || body["nonce"] != nonce:
		return refusal(leaderboard.ErrSignInRefused, "The ID token is of another sign-in.")
	}
	return nil
}
