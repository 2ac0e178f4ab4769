package api

import (
	"encoding/json"
	"time"
)

// TokenAlgorithm is how a token is signed.
type TokenAlgorithm string

// All of them have a public key: with a shared secret, what verifies a token could make one.
const (
	TokenAlgorithmRS256 TokenAlgorithm = "RS256"
	TokenAlgorithmES256 TokenAlgorithm = "ES256"
	TokenAlgorithmEdDSA TokenAlgorithm = "EdDSA"
)

// UnusableKey is a key of an issuer's set that cannot verify a token.
type UnusableKey struct {
	KID    string `json:"kid"` // "" if the key has no ID
	Reason string `json:"reason"`
}

// Issuer is an identity provider whose tokens name a player.
type Issuer struct {
	Name        string `json:"name"`
	IssuerRules        // with all defaults
	// PassedOver is keys of its set that are not used, as far as the server that answers knows them: up to 10.
	PassedOver  []UnusableKey `json:"passed_over,omitempty"`
	CreatedTime time.Time     `json:"created_time"`
	UpdatedTime time.Time     `json:"updated_time"`
}

// IssuerRules are the rules of an issuer. An omitted rule has its default.
type IssuerRules struct {
	Issuer      string           `json:"issuer"`            // the claim iss
	Audience    string           `json:"audience"`          // one of the claim aud
	JWKS        json.RawMessage  `json:"jwks,omitzero"`     // its public keys, or
	JWKSURL     string           `json:"jwks_url,omitzero"` // where they are
	Algorithms  []TokenAlgorithm `json:"algorithms,omitempty"`
	MemberClaim string           `json:"member_claim,omitzero"` // "": sub
	Prefix      string           `json:"prefix"`                // of member ids
	BoardsClaim string           `json:"boards_claim,omitzero"` // "": tokens are for all boards
	MaxAge      string           `json:"max_age,omitzero"`      // a Go duration since a token was issued

	RequestsPerSecond int64 `json:"requests_per_second,omitzero"` // of all its players together, 0: any number
	RowsPerSecond     int64 `json:"rows_per_second,omitzero"`
}

// Token is a new token of a player.
type Token struct {
	Token     string    `json:"token"` // for the player; the argument of WithKey
	Member    string    `json:"member"`
	Boards    []string  `json:"boards"` // nil: all boards
	ExpiresAt time.Time `json:"expires_at"`
}

// SigningOverlap is the time for which tokens of the previous key stay valid after a rotation, if no other is asked for. No token of
// the service is valid longer.
const SigningOverlap = 24 * time.Hour

// Play is a play that a player has begun.
type Play struct {
	Play         string    `json:"play"` // SubmitOptions.Play of the one submission
	Board        string    `json:"board"`
	Member       string    `json:"member"`
	StartedTime  time.Time `json:"started_time"` // database clock
	SubmitAfter  time.Time `json:"submit_after"`
	SubmitBefore time.Time `json:"submit_before"`
}

// Bar is from when on tokens of a member are taken.
type Bar struct {
	Member    string    `json:"member"`
	NotBefore time.Time `json:"not_before"`
}

// TokenKeys are the public keys of the service's own tokens (RFC 7517).
type TokenKeys struct {
	Keys []TokenKey `json:"keys"`
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
