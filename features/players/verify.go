package players

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/api"
	"leaderboard/cache"
	"leaderboard/cache/feed"
	"leaderboard/internal/bounded"
	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// Options adjust Players; the zero value is fit for production.
type Options struct {
	cache.TableOptions
	Private  bool          // keys may be asked for at addresses of private networks and of this machine, at the latter by http too
	Keys     oidc.Options  // about the keys that issuers publish
	Verified int           // tokens whose signature is remembered, 20,000
	Verifies int           // signatures that are verified at once, half of the processors
	Wait     time.Duration // how long a token waits for that, 250 ms
	// Observer hears of signatures, for metrics; nil: nobody does.
	Observer Observer
	// KeyGood returns why the API key that a token was made with is no longer valid: ErrKeyNotFound, ErrKeyRevoked,
	// ErrKeyExpired, or that it cannot be known. nil: all are valid.
	KeyGood func(ctx context.Context, id string, now time.Time) error
	// Clock returns the database clock, false when it is not known: tokens are dated by it, as bars are. nil: it is not.
	Clock func() (leaderboard.Micros, bool)
}

// Observer hears what happens, for metrics. Its method must not block.
type Observer interface {
	// TokenVerified is called for each signature that is verified.
	TokenVerified(good bool)
}

// unobserved is for nobody.
type unobserved struct{}

// TokenVerified implements Observer.
func (unobserved) TokenVerified(bool) {}

func (o Options) withDefaults() Options {
	o.Verified = cmp.Or(o.Verified, 20_000)
	o.Verifies = cmp.Or(o.Verifies, max(1, runtime.GOMAXPROCS(0)/2))
	o.Wait = cmp.Or(o.Wait, 250*time.Millisecond)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Keys.Log = cmp.Or(o.Keys.Log, o.Log)
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	if o.KeyGood == nil {
		o.KeyGood = func(context.Context, string, time.Time) error { return nil }
	}
	if o.Clock == nil {
		o.Clock = func() (leaderboard.Micros, bool) { return 0, false }
	}
	return o
}

// Players identifies players by their tokens. All methods may be called concurrently; nothing is read unless the feed runs.
type Players struct {
	source  Source
	opts    Options
	table   *cache.Table[*registry]
	fetcher *oidc.Fetcher
	parser  *jwt.Parser

	good, bad *bounded.Map[[sha256.Size]byte, *verified] // by the result of verifying their signatures
	places    chan struct{}
}

// verified is the remembered result of verifying a token's signature by these keys. Whether the token is valid is checked
// each time.
type verified struct {
	player leaderboard.Player
	issuer *issuer      // nil: of this service
	set    *oidc.KeySet // of the issuer
	signed *signingKey  // of this service
	key    string       // the API key that made it, for tokens of this service
	kid    string

	issuedAt, notBefore, expires leaderboard.Micros
}

// refusedTokens is how many tokens that are not signed rightly are remembered.
const refusedTokens = 4096

// New returns Players that have read nothing yet. The feed asks for the revision of the tables under leaderboard.TokensPeriod.
func New(source Source, f *feed.Feed, opts Options) *Players {
	p := &Players{source: source, opts: opts.withDefaults()}
	p.table = cache.NewTable("issuers and bars", leaderboard.TokensPeriod, p.readAll, f, p.opts.TableOptions)
	p.fetcher = oidc.NewFetcher(opts.Private)
	p.parser = oidc.NewParser()
	p.good, p.bad = bounded.New[[sha256.Size]byte, *verified](p.opts.Verified, 0), bounded.New[[sha256.Size]byte, *verified](refusedTokens, 0)
	p.places = make(chan struct{}, p.opts.Verifies)
	return p
}

// Renew returns when all commits before the call are known here.
func (p *Players) Renew(ctx context.Context) error { return p.table.Renew(ctx) }

// Find returns the player of a token. Only the signature is remembered: the time, the bar of the member and the issuer are
// looked at each time. admit is called before a signature is verified, and an error of it is returned. The player must not be
// written to. Errors: *leaderboard.TokenError, ErrUnavailable, ErrOverloaded.
func (p *Players) Find(ctx context.Context, token string, now time.Time, admit func() error) (*leaderboard.Player, error) {
	if len(token) > maxTokenBytes {
		return nil, refused("The token is longer than %d bytes.", maxTokenBytes)
	}
	r, err := p.table.Get(ctx, now, func(r *registry) bool { return r != nil })
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(token))
	if v, ok := p.good.Get(sum); ok && v.holds(ctx, r, now) {
		return p.checkValid(ctx, r, v, now)
	}
	v, err := p.verify(ctx, r, token, sum, now, admit)
	if err != nil {
		return nil, err
	}
	return p.checkValid(ctx, r, v, now)
}

func refused(format string, args ...any) error {
	return &leaderboard.TokenError{Detail: fmt.Sprintf(format, args...)}
}

// over refuses a token whose signature is right.
func over(format string, args ...any) error {
	return &leaderboard.TokenError{Detail: fmt.Sprintf(format, args...), Signed: true}
}

// holds reports whether the keys that verified a token are still valid.
func (v *verified) holds(ctx context.Context, r *registry, now time.Time) bool {
	if v.issuer == nil {
		return r.signing[v.kid] == v.signed
	}
	return r.byIssuer[v.issuer.Issuer.Issuer] == v.issuer && v.issuer.keys.Current(ctx, now, v.kid) == v.set
}

// checkValid decides about a token whose signature is right.
func (p *Players) checkValid(ctx context.Context, r *registry, v *verified, now time.Time) (*leaderboard.Player, error) {
	at, skew := leaderboard.MicrosOf(now), leaderboard.Micros(oidc.TokenSkew/time.Microsecond)
	maxAge := maxTokenTTL
	if v.issuer != nil {
		maxAge = v.issuer.maxAge
	}
	switch {
	case at >= v.expires+skew:
		return nil, over("The time of the token is over.")
	case at < v.notBefore-skew:
		return nil, over("The token is not valid yet.")
	case at < v.issuedAt-skew:
		return nil, over("The token was issued later than now.")
	case at >= v.issuedAt+leaderboard.Micros(maxAge/time.Microsecond)+skew:
		return nil, over("The token was issued longer ago than tokens of its issuer are taken.")
	case v.issuedAt < r.bars[v.player.Member]:
		return nil, over("The token was ended.")
	case v.signed != nil && v.signed.isOver(now):
		return nil, over("The key that signed the token is no longer valid.")
	}
	if v.issuer != nil {
		return &v.player, nil
	}
	switch err := p.opts.KeyGood(ctx, v.key, now); {
	case errors.Is(err, leaderboard.ErrKeyNotFound), errors.Is(err, leaderboard.ErrKeyRevoked), errors.Is(err, leaderboard.ErrKeyExpired):
		return nil, over("The API key that the token was made with is no longer valid.")
	case err != nil:
		return nil, err
	}
	return &v.player, nil
}

// verify verifies a signature, unless that is known to be wrong.
func (p *Players) verify(ctx context.Context, r *registry, token string, sum [sha256.Size]byte, now time.Time, admit func() error) (*verified, error) {
	parsed, body, err := oidc.Parse(p.parser, token)
	if err != nil {
		return nil, err
	}
	v := &verified{}
	v.kid, _ = parsed.Header["kid"].(string)
	iss, _ := body["iss"].(string)
	if !r.knows(iss, v.kid) { // it may just have been made
		if r, err = p.table.Get(ctx, now, func(r *registry) bool { return r != nil && r.knows(iss, v.kid) }); err != nil {
			return nil, err
		}
	}
	if !r.knows(iss, v.kid) {
		return nil, refused("The issuer of the token, or its key, is not known.")
	}
	key, err := p.keyOf(ctx, r, v, iss, parsed.Method.Alg(), now)
	if err != nil {
		return nil, err
	}
	if err := v.read(body); err != nil {
		return nil, err
	}
	if wrong, ok := p.bad.Get(sum); ok && wrong.issuer == v.issuer && wrong.set == v.set && wrong.signed == v.signed {
		return nil, errSignature()
	}
	if err := admit(); err != nil {
		return nil, err
	}
	if err := p.signature(ctx, token, parsed, key); err != nil {
		if _, ok := errors.AsType[*leaderboard.TokenError](err); ok {
			p.bad.Put(sum, 0, v)
		}
		return nil, err
	}
	p.good.Put(sum, 0, v)
	return v, nil
}

// knows reports whether tokens with these claims can be verified.
func (r *registry) knows(iss, kid string) bool {
	if iss == ownIssuer {
		return r.signing[kid] != nil
	}
	return r.byIssuer[iss] != nil
}

// keyOf returns the key that a token is verified with, and notes in v whose it is.
func (p *Players) keyOf(ctx context.Context, r *registry, v *verified, iss, alg string, now time.Time) (any, error) {
	if iss == ownIssuer {
		v.signed = r.signing[v.kid]
		if alg != string(api.TokenAlgorithmEdDSA) {
			return nil, refused("The token is not signed by a key of this service.")
		}
		return v.signed.public, nil
	}
	v.issuer = r.byIssuer[iss]
	allowed := false
	for _, a := range v.issuer.Algorithms {
		allowed = allowed || string(a) == alg
	}
	if !allowed {
		return nil, refused("The token is signed by another algorithm than its issuer allows.")
	}
	v.set = v.issuer.keys.Current(ctx, now, v.kid)
	key := v.set.Find(v.kid, api.TokenAlgorithm(alg))
	if key == nil {
		return nil, refused("The issuer of the token has no such key.")
	}
	return key, nil
}

func errSignature() error { return refused("The signature of the token is not right.") }

// costFactor is how much longer than its verification a wrong token keeps its place: so wrong ones take a small part of the
// processors, however many there are.
const costFactor = 7

// signature verifies the signature of a token once it is its turn. ErrOverloaded when that takes too long.
func (p *Players) signature(ctx context.Context, token string, parsed *jwt.Token, key any) error {
	if err := p.acquire(ctx); err != nil {
		return err
	}
	defer func() { <-p.places }()
	began := time.Now()
	err := parsed.Method.Verify(token[:strings.LastIndexByte(token, '.')], parsed.Signature, key)
	p.opts.Observer.TokenVerified(err == nil)
	if err == nil {
		return nil
	}
	select {
	case <-time.After(costFactor * time.Since(began)):
	case <-ctx.Done():
	}
	return errSignature()
}

func (p *Players) acquire(ctx context.Context) error {
	select {
	case p.places <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(p.opts.Wait)
	defer timer.Stop()
	select {
	case p.places <- struct{}{}:
		return nil
	case <-timer.C:
		return &leaderboard.OverloadError{Wait: p.opts.Wait, Detail: "as many new tokens are verified as may be at once"}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read reads the claims of a token before its signature is verified: a token that could never be valid costs no more.
func (v *verified) read(body jwt.MapClaims) error {
	audience, memberClaim, boardsClaim, prefix := ownIssuer, "sub", "boards", ""
	if v.player.Via = "token:"; v.issuer != nil {
		audience, memberClaim, boardsClaim, prefix = v.issuer.Audience, v.issuer.MemberClaim, v.issuer.BoardsClaim, v.issuer.Prefix
		v.player.Via, v.player.Quota = "issuer:"+v.issuer.Name, v.issuer.Quota()
	} else {
		v.key, _ = body["key"].(string)
		v.player.Via += v.key
	}
	if audiences, _ := oidc.Claims(body).Texts("aud"); !slices.Contains(audiences, audience) {
		return refused("The token is for another audience.")
	}
	var ok [3]bool
	v.expires, ok[0] = oidc.Moment(body["exp"])
	v.issuedAt, ok[1] = oidc.Moment(body["iat"])
	if v.notBefore, ok[2] = oidc.Moment(body["nbf"]); body["nbf"] == nil {
		ok[2] = true
	}
	if !ok[0] || !ok[1] || !ok[2] {
		return refused("The token needs the claims exp and iat, and these and nbf are numbers of seconds.")
	}
	member, _ := body[memberClaim].(string)
	if v.player.Member = prefix + member; member == "" || leaderboard.CheckMember(v.player.Member) != nil {
		return refused("The claim %s of the token is no member id.", memberClaim)
	}
	v.player.Owner = leaderboard.PlayerOwner(v.player.Via, v.player.Member)
	_, said := body[boardsClaim]
	if v.player.All = boardsClaim == "" || v.issuer == nil && !said; v.player.All {
		return nil
	}
	var is bool
	if v.player.Boards, is = oidc.Claims(body).Texts(boardsClaim); !is || len(v.player.Boards) > leaderboard.MaxKeyBoards {
		return refused("The claim %s of the token is no list of up to %d boards.", boardsClaim, leaderboard.MaxKeyBoards)
	}
	return nil
}
