package signin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// Places is where an OpenID provider has what a sign-in needs.
type Places struct {
	Authorize    string // where people are sent
	Token        string // where a code becomes an ID token
	SecretInBody bool   // the client's secret goes into the body, not into a header
}

// Provider is the OpenID provider. Errors of both: ErrProviderAway, ErrSignInRefused.
type Provider interface {
	// Places returns where the provider has what a sign-in needs.
	Places(ctx context.Context, now time.Time) (Places, error)
	// Claims verifies an ID token for the sign-in with a nonce, and returns its claims.
	Claims(ctx context.Context, token, nonce string, now time.Time) (oidc.Claims, error)
}

// Sealer proves that texts were given out by a server of this service. Errors of both: ErrUnavailable.
type Sealer interface {
	// Seal returns a text with a proof.
	Seal(ctx context.Context, text string, now time.Time) (string, error)
	// Unseal returns the text of a result of Seal on any server; ok is false for any other text.
	Unseal(ctx context.Context, sealed string, now time.Time) (text string, ok bool, err error)
}

// Config is the configuration of a SignIn.
type Config struct {
	Settings
	Callback string // URL to which the provider sends people back
	Log      *slog.Logger
}

// signInTime is how long a person may take at the provider.
const signInTime = 10 * time.Minute

// Begun is a sign-in under way: a person was sent to the provider and has not come back. All three are random. The person's
// browser holds them, so that any server can continue, and an abandoned sign-in leaves nothing behind.
type Begun struct {
	State    string // comes back in the address: an answer to another browser's sign-in has another one
	Nonce    string // comes back in the ID token: a token of another sign-in has another one
	Verifier string // proves to the provider who asked (PKCE, RFC 7636): a code alone is of no use
}

// begin begins a sign-in.
func begin() Begun { return Begun{randomText(), randomText(), randomText()} }

// randomText returns 256 random bits.
func randomText() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// SignIn signs people in. All methods may be called concurrently.
type SignIn struct {
	cfg      Config
	provider Provider
	sealer   Sealer
	client   *http.Client
	places   chan struct{} // one for each question to the provider under way
}

const (
	// exchangeFor bounds the question what a code stands for.
	exchangeFor = 5 * time.Second
	// atOnce is how many people the provider is asked about at once.
	atOnce = 8
)

// New returns a SignIn.
func New(provider Provider, sealer Sealer, cfg Config) *SignIn {
	return &SignIn{cfg: cfg, provider: provider, sealer: sealer, places: make(chan struct{}, atOnce), client: &http.Client{
		Timeout:       exchangeFor,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // it would take the secret elsewhere
	}}
}

// oauth returns the client that this service is at the provider.
func (s *SignIn) oauth(ctx context.Context, now time.Time) (*oauth2.Config, error) {
	places, err := s.provider.Places(ctx, now)
	if err != nil {
		return nil, err
	}
	style := oauth2.AuthStyleInHeader
	if places.SecretInBody || s.cfg.Secret == "" {
		style = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: s.cfg.Client, ClientSecret: s.cfg.Secret, RedirectURL: s.cfg.Callback, Scopes: slices.Concat([]string{"openid"}, s.cfg.Scopes),
		Endpoint: oauth2.Endpoint{AuthURL: places.Authorize, TokenURL: places.Token, AuthStyle: style},
	}, nil
}

// Begin returns the address of the provider to which a person is sent, and the cookie by which Resume recognises the
// browser. Errors: ErrProviderAway, ErrOverloaded, ErrUnavailable.
func (s *SignIn) Begin(ctx context.Context, now time.Time) (address, cookie string, err error) {
	leave, err := s.enter()
	if err != nil {
		return "", "", err
	}
	defer leave()
	client, err := s.oauth(ctx, now)
	if err != nil {
		return "", "", err
	}
	in := begin()
	until := strconv.FormatInt(now.Add(signInTime).Unix(), 10)
	cookie, err = s.sealer.Seal(ctx, strings.Join([]string{in.State, in.Nonce, in.Verifier, until}, "."), now)
	return client.AuthCodeURL(in.State, oauth2.S256ChallengeOption(in.Verifier), oauth2.SetAuthURLParam("nonce", in.Nonce)), cookie, err
}

// Resume returns the sign-in that a browser comes back from, by its cookie and by the state in the address: a sign-in that
// a server of this service has begun less than signInTime ago. It asks nobody. Errors: ErrSignInRefused, ErrUnavailable.
func (s *SignIn) Resume(ctx context.Context, cookie, state string, now time.Time) (in Begun, err error) {
	text, ok, err := s.sealer.Unseal(ctx, cookie, now)
	if err != nil {
		return in, err
	}
	parts := strings.Split(text, ".")
	if !ok || len(parts) != 4 || parts[0] != state {
		return in, errNotUnderWay()
	}
	if until, err := strconv.ParseInt(parts[3], 10, 64); err != nil || now.Unix() >= until {
		return in, errNotUnderWay()
	}
	return Begun{State: parts[0], Nonce: parts[1], Verifier: parts[2]}, nil
}

func errNotUnderWay() error {
	return refusal(leaderboard.ErrSignInRefused, "This browser has no such sign-in under way: it took longer than ten minutes, was finished, or was begun elsewhere.")
}

// enter takes a place for a question to the provider, until leave is called: a provider that hangs delays no more than
// atOnce requests, and the rest is refused at once.
func (s *SignIn) enter() (leave func(), err error) {
	select {
	case s.places <- struct{}{}:
		return func() { <-s.places }, nil
	default:
		return nil, &leaderboard.OverloadError{Wait: exchangeFor, Detail: "as many people sign in as may at once"}
	}
}

// Finish asks the provider whom a code stands for, and returns the session of that person, without an id: a key that nobody has
// yet. Errors: ErrSignInRefused, ErrNoRole, ErrProviderAway, ErrOverloaded.
func (s *SignIn) Finish(ctx context.Context, in Begun, code string, now time.Time) (leaderboard.Key, error) {
	leave, err := s.enter()
	if err != nil {
		return leaderboard.Key{}, err
	}
	defer leave()
	client, err := s.oauth(ctx, now)
	if err != nil {
		return leaderboard.Key{}, err
	}
	token, err := client.Exchange(context.WithValue(ctx, oauth2.HTTPClient, s.client), code, oauth2.VerifierOption(in.Verifier))
	if err != nil {
		return leaderboard.Key{}, s.refusedCode(ctx, err)
	}
	text, _ := token.Extra("id_token").(string)
	claims, err := s.provider.Claims(ctx, text, in.Nonce, now)
	if err != nil {
		return leaderboard.Key{}, err
	}
	k, err := s.session(claims, now)
	if err != nil {
		s.cfg.Log.WarnContext(ctx, "somebody could not sign in", "error", err)
	}
	return k, err
}

// refusedCode distinguishes an invalid code from a provider that does not answer.
func (s *SignIn) refusedCode(ctx context.Context, err error) error {
	answered, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok || answered.Response.StatusCode >= http.StatusInternalServerError {
		s.cfg.Log.WarnContext(ctx, "the identity provider does not answer", "error", err)
		return &leaderboard.SignInError{Cause: leaderboard.ErrProviderAway, Detail: "The identity provider does not answer."}
	}
	s.cfg.Log.WarnContext(ctx, "the identity provider refuses a sign-in", "status", answered.Response.StatusCode, "code", answered.ErrorCode)
	detail := "The identity provider does not take the code of this sign-in: it was used before, or is too old."
	if answered.ErrorCode != "invalid_grant" {
		detail = "The identity provider refuses this service. The log of the server has its reason."
	}
	return &leaderboard.SignInError{Cause: leaderboard.ErrSignInRefused, Detail: detail}
}

// session returns the rights of a person, and for how long.
func (s *SignIn) session(claims oidc.Claims, now time.Time) (k leaderboard.Key, err error) {
	if k.Person = nameOf(claims); !leaderboard.IsPersonName(k.Person) {
		return k, refusal(leaderboard.ErrSignInRefused, "The identity provider gives no name of up to 100 bytes: neither a verified email address nor a subject.")
	}
	if k.Scope, k.Role = s.scopeOf(s.values(claims)); k.Scope == "" {
		return k, refusal(leaderboard.ErrNoRole, "You are "+k.Person+" at the identity provider, and have no role here: none of its "+s.cfg.Claim+
			" is in the settings of the server. Ask whoever runs it.")
	}
	if s.cfg.Boards != "" {
		if k.Boards, _ = claims.Texts(s.cfg.Boards); len(k.Boards) == 0 {
			return k, refusal(leaderboard.ErrNoRole, "You are "+k.Person+" at the identity provider, which names no boards for you in "+s.cfg.Boards+".")
		}
	}
	k.Name, k.ExpiresAt = k.Person, leaderboard.MicrosOf(now.Add(s.cfg.Session))
	if k.Check() != nil {
		return k, refusal(leaderboard.ErrNoRole, "What the identity provider says in "+s.cfg.Boards+" is no list of up to 100 boards.")
	}
	return k, nil
}

func refusal(cause *leaderboard.Error, detail string) error {
	return &leaderboard.SignInError{Cause: cause, Detail: detail}
}

// nameOf returns the name of a person: an email address only if the provider has verified it, since anyone may claim one.
func nameOf(claims oidc.Claims) string {
	if email, _ := claims["email"].(string); email != "" && isVerified(claims) {
		return email
	}
	subject, _ := claims["sub"].(string)
	return subject
}

func isVerified(claims oidc.Claims) bool {
	return claims["email_verified"] == true || claims["email_verified"] == "true" // some providers have all claims as texts
}

// values returns the provider's values of a claim about a person.
func (s *SignIn) values(claims oidc.Claims) []string {
	if s.cfg.Claim == "email" && !isVerified(claims) {
		return nil
	}
	values, _ := claims.Texts(s.cfg.Claim)
	return values
}

// scopeOf returns the greatest scope that one of some values has, and that value; or "".
func (s *SignIn) scopeOf(values []string) (leaderboard.Scope, string) {
	for _, to := range []struct {
		scope leaderboard.Scope
		who   []string
	}{{leaderboard.ScopeAdmin, s.cfg.Admins}, {leaderboard.ScopeWrite, s.cfg.Writers}, {leaderboard.ScopeRead, s.cfg.Readers}} {
		for _, value := range values {
			if slices.ContainsFunc(to.who, func(who string) bool { return same(who, value) }) {
				return to.scope, value
			}
		}
	}
	return "", ""
}

// same compares a value of the settings with one of a claim. The case of email addresses does not matter.
func same(who, value string) bool {
	return who == value || strings.Contains(who, "@") && strings.EqualFold(who, value)
}

// Holds reports whether the settings still give the role of a session what the session may do. Other keys have no role.
func (s *SignIn) Holds(k *leaderboard.Key) bool {
	scope, _ := s.scopeOf([]string{k.Role})
	return scope != "" && scope.Includes(k.Scope)
}
