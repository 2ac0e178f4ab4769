package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"leaderboard/leaderboard"
)

// Issuer is an identity provider whose tokens tell who a player is.
type Issuer struct {
	Name string `json:"name"`
	IssuerRules
	// PassedOver is keys of its set that are not used, as far as the server that answers knows them: up to leaderboard.MaxPassedOver.
	PassedOver  []leaderboard.UnusableKey `json:"passed_over,omitempty"`
	CreatedTime time.Time                 `json:"created_time"`
	UpdatedTime time.Time                 `json:"updated_time"`
}

// IssuerRules are the rules of an issuer; what is left out has its default.
type IssuerRules struct {
	Issuer      string                       `json:"issuer"`             // the claim iss
	Audience    string                       `json:"audience"`           // one of the claim aud
	JWKS        json.RawMessage              `json:"jwks,omitempty"`     // its public keys, or
	JWKSURL     string                       `json:"jwks_url,omitempty"` // where they are
	Algorithms  []leaderboard.TokenAlgorithm `json:"algorithms,omitempty"`
	MemberClaim string                       `json:"member_claim,omitempty"` // "": sub
	Prefix      string                       `json:"prefix,omitempty"`       // of member ids
	BoardsClaim string                       `json:"boards_claim,omitempty"` // "": tokens are for all boards
	MaxAge      string                       `json:"max_age,omitempty"`      // a Go duration since a token was issued

	RequestsPerSecond int64 `json:"requests_per_second,omitempty"` // of all its players together, 0: any number
	RowsPerSecond     int64 `json:"rows_per_second,omitempty"`
}

// PutIssuer makes an issuer, or replaces its rules. It takes effect on every server within a second. Needs scope admin, like
// the methods below except CreateToken.
func (c *Client) PutIssuer(ctx context.Context, name string, rules IssuerRules) (Issuer, error) {
	return call[Issuer](ctx, c, Request{Method: http.MethodPut, Path: Path("issuers", name), Body: rules})
}

// Issuers lists the issuers, by name.
func (c *Client) Issuers(ctx context.Context) iter.Seq2[Issuer, error] {
	return Items[Issuer](ctx, c, Path("issuers"), nil, "issuers")
}

// GetIssuer returns an issuer. Errors: leaderboard.ErrIssuerNotFound.
func (c *Client) GetIssuer(ctx context.Context, name string) (Issuer, error) {
	return get[Issuer](ctx, c, Path("issuers", name), nil)
}

// DeleteIssuer ends an issuer with its tokens. Errors: leaderboard.ErrIssuerNotFound.
func (c *Client) DeleteIssuer(ctx context.Context, name string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("issuers", name)})
}

// TokenRequest describes a token for a player.
type TokenRequest struct {
	Member string
	Boards []string      // names and prefixes such as "game1-*"; empty: all boards
	TTL    time.Duration // up to 24 h; 0: an hour
}

// Token is a new token of a player.
type Token struct {
	Token     string    `json:"token"` // for the player; the argument of WithKey
	Member    string    `json:"member"`
	Boards    []string  `json:"boards"` // nil: all boards
	ExpiresAt time.Time `json:"expires_at"`
}

// CreateToken makes a token by which a player reads what is the player's own, and submits, where a board's rule players says so.
// Needs scope write.
func (c *Client) CreateToken(ctx context.Context, t TokenRequest) (Token, error) {
	body := struct {
		Member string   `json:"member"`
		Boards []string `json:"boards,omitempty"`
		TTL    string   `json:"ttl,omitempty"`
	}{Member: t.Member, Boards: t.Boards}
	if t.TTL != 0 {
		body.TTL = t.TTL.String()
	}
	return call[Token](ctx, c, Request{Method: http.MethodPost, Path: Path("tokens"), Body: body})
}

// RotateTokens makes another key for new tokens. Those that were signed before are taken for the time of the overlap, up to
// 24 h; 0 ends them now. It is sent once.
func (c *Client) RotateTokens(ctx context.Context, overlap time.Duration) error {
	return c.drop(ctx, Request{Method: http.MethodPost, Path: Path("tokens", "rotate"), Body: map[string]string{"overlap": overlap.String()}, Once: true})
}

// Play is a play that a player has begun.
type Play struct {
	Play         string    `json:"play"` // SubmitOptions.Play of the one submission
	Board        string    `json:"board"`
	Member       string    `json:"member"`
	StartedTime  time.Time `json:"started_time"` // database clock
	SubmitAfter  time.Time `json:"submit_after"`
	SubmitBefore time.Time `json:"submit_before"`
}

// BeginPlay begins a play of the player whose token the client has, on a board whose rule players.submit is play. It ends the
// one before.
func (c *Client) BeginPlay(ctx context.Context, board string) (Play, error) {
	return call[Play](ctx, c, Request{Method: http.MethodPost, Path: Path("boards", board, "plays")})
}

// Bar is from when on tokens of a member are taken.
type Bar struct {
	Member    string    `json:"member"`
	NotBefore time.Time `json:"not_before"`
}

// BarMember ends the tokens of a member that were issued before now, by any issuer.
func (c *Client) BarMember(ctx context.Context, member string) (Bar, error) {
	return call[Bar](ctx, c, Request{Method: http.MethodPut, Path: Path("members", member, "bar")})
}

// GetBar returns the bar of a member. Errors: leaderboard.ErrBarNotFound.
func (c *Client) GetBar(ctx context.Context, member string) (Bar, error) {
	return get[Bar](ctx, c, Path("members", member, "bar"), nil)
}

// UnbarMember takes a bar back. Errors: leaderboard.ErrBarNotFound.
func (c *Client) UnbarMember(ctx context.Context, member string) error {
	return c.drop(ctx, Request{Method: http.MethodDelete, Path: Path("members", member, "bar")})
}

// TokenKey is a public key of the service's own tokens, a JSON Web Key of Ed25519 (RFC 8037).
type TokenKey struct {
	KTY string `json:"kty"`
	CRV string `json:"crv"`
	ALG string `json:"alg"`
	USE string `json:"use"`
	KID string `json:"kid"`
	X   string `json:"x"`
}

// TokenKeys returns the public keys by which tokens of the service are verified. It needs no key.
func (c *Client) TokenKeys(ctx context.Context) ([]TokenKey, error) {
	set, err := get[struct {
		Keys []TokenKey `json:"keys"`
	}](ctx, c, "/.well-known/jwks.json", nil)
	return set.Keys, err
}
