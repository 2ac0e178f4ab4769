package players

import (
	"time"

	"leaderboard/api"
	"leaderboard/leaderboard"
)

// Bounds of tokens.
const (
	maxTokenBytes   = 8 << 10
	maxTokenTTL     = api.SigningOverlap // for tokens of this service
	defaultTokenTTL = time.Hour
	maxTokenAge     = 7 * 24 * time.Hour // since it was issued, of any token
	// signingKeyAge is the maximum age of the key that signs new tokens.
	signingKeyAge = 30 * 24 * time.Hour
)

// TokenGrant is the content of a token of this service.
type TokenGrant struct {
	Member string
	Boards []string // names and prefixes such as "game1-*"; none: all boards
	TTL    time.Duration
	Key    string // ID of the API key that it is made with: the token ends with it
}

// Check returns a *leaderboard.RuleError when a grant is invalid.
func (g *TokenGrant) Check() error {
	bad := leaderboard.CheckPatterns(g.Boards)
	if broken := leaderboard.AsRule(leaderboard.CheckMember(g.Member)); broken != nil {
		bad = append(bad, leaderboard.FieldError{Pointer: "/member", Detail: broken.Detail})
	}
	if g.TTL < time.Second || g.TTL > maxTokenTTL {
		bad = append(bad, leaderboard.FieldError{Pointer: "/ttl", Detail: "want a duration from 1s to 24h"})
	}
	if bad == nil {
		return nil
	}
	return &leaderboard.RuleError{Code: leaderboard.CodeInvalidToken, Detail: "there can be no such token", Fields: bad}
}

// SigningKey signs the tokens of this service.
type SigningKey struct {
	ID          string // kid
	Seed        []byte // of Ed25519, 32 bytes: secret
	CreatedTime leaderboard.Micros
	EndsAt      leaderboard.Micros // from when its tokens are refused; 0: it signs
}

// PublicKey is the public part of a SigningKey, a JSON Web Key of Ed25519.
type PublicKey struct{ ID, X string }

// newSigningKeyID returns an id that no other signing key has.
func newSigningKeyID() string { return "s" + leaderboard.NewKeyID()[1:] }

// MemberBar ends the tokens of a member that were issued before a time.
type MemberBar struct {
	Member    string
	NotBefore leaderboard.Micros
}
