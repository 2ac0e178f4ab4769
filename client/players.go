package client

import (
	"context"
	"iter"
	"net/http"
	"time"

	"leaderboard/api"
)

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

// CreateToken makes a token for a player, who may read the player's own data with it, and submit if a board's rule players allows
// it. Needs scope write.
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

// RotateTokens makes another key for new tokens. Tokens of the old key stay valid for the time of the overlap, up to 24 h; 0 ends
// them now. It is sent once.
func (c *Client) RotateTokens(ctx context.Context, overlap time.Duration) error {
	return c.drop(ctx, Request{Method: http.MethodPost, Path: Path("tokens", "rotate"), Body: map[string]string{"overlap": overlap.String()}, Once: true})
}

// BeginPlay begins a play of the player whose token the client has, on a board whose rule players.submit is play. It ends the
// one before.
func (c *Client) BeginPlay(ctx context.Context, board string) (Play, error) {
	return call[Play](ctx, c, Request{Method: http.MethodPost, Path: Path("boards", board, "plays")})
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

// TokenKeys returns the public keys by which tokens of the service are verified. It needs no key.
func (c *Client) TokenKeys(ctx context.Context) ([]TokenKey, error) {
	set, err := get[api.TokenKeys](ctx, c, "/.well-known/jwks.json", nil)
	return set.Keys, err
}
