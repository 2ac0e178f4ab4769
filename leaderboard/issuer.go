package leaderboard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Issuer is an identity provider whose tokens identify players to this service.
type Issuer struct {
	Name string // as of a board
	IssuerRules
	CreatedTime Micros
	UpdatedTime Micros
}

// IssuerRules are the rules that an admin gives an issuer. The JSON form is the body of PUT /v1/issuers/{name}.
type IssuerRules struct {
	Issuer   string `json:"issuer"`   // the claim iss of its tokens
	Audience string `json:"audience"` // one of their claim aud
	// JWKS are its public keys, or JWKSURL is where they are: one of the two.
	JWKS       json.RawMessage  `json:"jwks,omitempty"`
	JWKSURL    string           `json:"jwks_url,omitempty"`
	Algorithms []TokenAlgorithm `json:"algorithms"`
	// MemberClaim has the member id, after Prefix. Two issuers have no member in common: no prefix begins like another.
	MemberClaim string `json:"member_claim"`
	Prefix      string `json:"prefix"`
	// BoardsClaim lists the boards of a token, as Key.Boards; "": tokens are for all boards.
	BoardsClaim string `json:"boards_claim,omitempty"`
	MaxAge      string `json:"max_age"` // Go duration since a token was issued

	RequestsPerSecond int64 `json:"requests_per_second,omitzero"` // of all players of the issuer together; 0: any number
	RowsPerSecond     int64 `json:"rows_per_second,omitzero"`
}

// UnusableKey is a key of an issuer's set that cannot verify a token.
type UnusableKey struct {
	KID    string `json:"kid"` // "" if the key has no ID
	Reason string `json:"reason"`
}

// TokenAlgorithm is how a token is signed.
type TokenAlgorithm string

// All of them have a public key: with a shared secret, what verifies a token could make one.
const (
	TokenAlgorithmRS256 TokenAlgorithm = "RS256"
	TokenAlgorithmES256 TokenAlgorithm = "ES256"
	TokenAlgorithmEdDSA TokenAlgorithm = "EdDSA"
)

// TokenAlgorithms lists all algorithms.
func TokenAlgorithms() []TokenAlgorithm {
	return []TokenAlgorithm{TokenAlgorithmRS256, TokenAlgorithmES256, TokenAlgorithmEdDSA}
}

// Defaults and bounds of issuers.
const (
	DefaultMemberClaim = "sub"
	DefaultMaxAge      = "24h"
	MaxIssuers         = 100
	MaxIssuerText      = 500 // bytes
	MaxClaimName       = 200 // bytes
	MaxPrefix          = 32  // bytes
	MaxJWKS            = 64 << 10
	MaxPassedOver      = 10 // keys of an issuer that are shown as unusable
	// OwnIssuer is the claims iss and aud of the tokens of this service, which no issuer may have.
	OwnIssuer = "leaderboard"
)

// WithDefaults returns the rules with their defaults filled in.
func (r IssuerRules) WithDefaults() IssuerRules {
	r.MemberClaim = cmp.Or(r.MemberClaim, DefaultMemberClaim)
	r.MaxAge = cmp.Or(r.MaxAge, DefaultMaxAge)
	if len(r.Algorithms) == 0 {
		r.Algorithms = TokenAlgorithms()
	}
	var compact bytes.Buffer
	if string(r.JWKS) == "null" {
		r.JWKS = nil
	} else if r.JWKS != nil && json.Compact(&compact, r.JWKS) == nil {
		r.JWKS = compact.Bytes()
	}
	return r
}

// Age returns MaxAge as a duration. The rules must have passed Check.
func (r *IssuerRules) Age() time.Duration {
	d, err := time.ParseDuration(r.MaxAge)
	if err != nil {
		return 0
	}
	return d
}

// Quota returns the quota that all players of the issuer share.
func (r *IssuerRules) Quota() Quota { return Quota{r.RequestsPerSecond, r.RowsPerSecond} }

// CheckIssuerName returns a RuleError when a name is not a valid name of an issuer.
func CheckIssuerName(name string) error {
	if isName(name) {
		return nil
	}
	return &RuleError{Code: CodeInvalidIssuer, Detail: "want a name such as game1: [a-z0-9][a-z0-9._-]{0,63}"}
}

// Check returns a RuleError that lists the faults of an issuer's rules with their defaults, or nil. It checks neither the content
// of JWKS nor whether JWKSURL may be requested.
func (r *IssuerRules) Check() error {
	var bad []FieldError
	fail := func(pointer, format string, args ...any) {
		bad = append(bad, FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	checkClaim(fail, "/issuer", r.Issuer, MaxIssuerText)
	checkClaim(fail, "/audience", r.Audience, MaxIssuerText)
	checkClaim(fail, "/member_claim", r.MemberClaim, MaxClaimName)
	if r.BoardsClaim != "" {
		checkClaim(fail, "/boards_claim", r.BoardsClaim, MaxClaimName)
	}
	if r.Issuer == OwnIssuer {
		fail("/issuer", "%s is the issuer of the tokens of this service", OwnIssuer)
	}
	r.checkKeys(fail)
	if len(r.Algorithms) > len(TokenAlgorithms()) {
		fail("/algorithms", "want at most %d", len(TokenAlgorithms()))
	}
	for _, a := range r.Algorithms[:min(len(r.Algorithms), len(TokenAlgorithms()))] {
		if !slices.Contains(TokenAlgorithms(), a) {
			fail("/algorithms", "want some of %s, not %q", joined(TokenAlgorithms()), string(a))
		}
	}
	if len(r.Prefix) > MaxPrefix || r.Prefix != "" && CheckMember(r.Prefix) != nil {
		fail("/prefix", "want at most %d bytes of UTF-8 without control characters", MaxPrefix)
	}
	if d, err := time.ParseDuration(r.MaxAge); err != nil || d < time.Minute || d > MaxTokenAge {
		fail("/max_age", "want a duration from 1m to %s, such as 1h", MaxTokenAge)
	}
	if r.RequestsPerSecond < 0 || r.RequestsPerSecond > MaxKeyRequests {
		fail("/requests_per_second", "want 1 to %d, or 0 for any number", MaxKeyRequests)
	}
	if r.RowsPerSecond < 0 || r.RowsPerSecond > MaxKeyRows {
		fail("/rows_per_second", "want 1 to %d, or 0 for any number", MaxKeyRows)
	}
	if bad == nil {
		return nil
	}
	return &RuleError{Code: CodeInvalidIssuer, Detail: "the issuer's rules are not valid", Fields: bad}
}

func checkClaim(fail failFunc, pointer, text string, most int) {
	if text == "" || len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		fail(pointer, "want 1 to %d bytes of UTF-8 without control characters", most)
	}
}

func (r *IssuerRules) checkKeys(fail failFunc) {
	switch {
	case (r.JWKS == nil) == (r.JWKSURL == ""):
		fail("/jwks_url", "want either jwks or jwks_url")
	case len(r.JWKS) > MaxJWKS:
		fail("/jwks", "want at most %d bytes", MaxJWKS)
	case r.JWKSURL != "":
		u, err := url.Parse(r.JWKSURL)
		if err != nil || len(r.JWKSURL) > MaxIssuerText || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
			fail("/jwks_url", "want an https URL of at most %d bytes, without a user", MaxIssuerText)
		}
	}
}

// Meets returns why two issuers cannot both be there, as a RuleError: a token would be of both, or a member.
func (i *Issuer) Meets(other *Issuer) error {
	var bad []FieldError
	if i.Issuer == other.Issuer {
		bad = append(bad, FieldError{Pointer: "/issuer", Detail: "is that of the issuer " + other.Name})
	}
	if strings.HasPrefix(i.Prefix, other.Prefix) || strings.HasPrefix(other.Prefix, i.Prefix) {
		bad = append(bad, FieldError{Pointer: "/prefix", Detail: fmt.Sprintf("and the prefix %q of the issuer %s begin alike, so both could name one member", other.Prefix, other.Name)})
	}
	if bad == nil {
		return nil
	}
	return &RuleError{Code: CodeInvalidIssuer, Detail: "another issuer could name the same members", Fields: bad}
}

// Claims are the claims of a token, as JSON has them.
type Claims map[string]any

// at returns the claim of a name. A claim that is not found may be nested: realm_access.roles is roles of the object
// realm_access.
func (c Claims) at(name string) any {
	if claim, ok := c[name]; ok {
		return claim
	}
	outer, inner, _ := strings.Cut(name, ".")
	object, _ := c[outer].(map[string]any)
	if object == nil || inner == "" {
		return nil
	}
	return Claims(object).at(inner)
}

// Texts returns a claim that is a text or a list of them, by a name as --oidc-claim has it; ok is false for any other.
func (c Claims) Texts(name string) (all []string, ok bool) {
	switch claim := c.at(name).(type) {
	case string:
		return []string{claim}, true
	case []any:
		for _, one := range claim {
			text, ok := one.(string)
			if !ok {
				return nil, false
			}
			all = append(all, text)
		}
		return all, true
	}
	return nil, false
}

// IsThisMachine reports whether a host is surely this machine, so that nobody else can see requests to it without TLS.
func IsThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
