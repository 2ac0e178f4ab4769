package players

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"leaderboard/api"
	"leaderboard/internal/oidc"
	"leaderboard/leaderboard"
)

// Issuer is an identity provider whose tokens identify players to this service.
type Issuer struct {
	Name string // as of a board
	IssuerRules
	CreatedTime leaderboard.Micros
	UpdatedTime leaderboard.Micros
}

// IssuerRules are the rules that an admin gives an issuer. The JSON form is the body of PUT /v1/issuers/{name}.
type IssuerRules struct {
	Issuer   string `json:"issuer"`   // the claim iss of its tokens
	Audience string `json:"audience"` // one of their claim aud
	// JWKS are its public keys, or JWKSURL is where they are: one of the two.
	JWKS       json.RawMessage      `json:"jwks,omitempty"`
	JWKSURL    string               `json:"jwks_url,omitempty"`
	Algorithms []api.TokenAlgorithm `json:"algorithms"`
	// MemberClaim has the member id, after Prefix. Two issuers have no member in common: no prefix begins like another.
	MemberClaim string `json:"member_claim"`
	Prefix      string `json:"prefix"`
	// BoardsClaim lists the boards of a token, as Key.Boards; "": tokens are for all boards.
	BoardsClaim string `json:"boards_claim,omitempty"`
	MaxAge      string `json:"max_age"` // Go duration since a token was issued

	RequestsPerSecond int64 `json:"requests_per_second,omitzero"` // of all players of the issuer together; 0: any number
	RowsPerSecond     int64 `json:"rows_per_second,omitzero"`
}

// Defaults and bounds of issuers.
const (
	defaultMemberClaim = "sub"
	defaultMaxAge      = "24h"
	maxIssuers         = 100
	maxIssuerText      = 500 // bytes
	maxClaimName       = 200 // bytes
	maxPrefix          = 32  // bytes
	maxPassedOver      = 10  // keys of an issuer that are shown as unusable
	// ownIssuer is the claims iss and aud of the tokens of this service, which no issuer may have.
	ownIssuer = "leaderboard"
)

// algorithms lists the algorithms that tokens may be signed by.
func algorithms() []api.TokenAlgorithm {
	return []api.TokenAlgorithm{api.TokenAlgorithmRS256, api.TokenAlgorithmES256, api.TokenAlgorithmEdDSA}
}

// WithDefaults returns the rules with their defaults filled in.
func (r IssuerRules) WithDefaults() IssuerRules {
	r.MemberClaim = cmp.Or(r.MemberClaim, defaultMemberClaim)
	r.MaxAge = cmp.Or(r.MaxAge, defaultMaxAge)
	if len(r.Algorithms) == 0 {
		r.Algorithms = algorithms()
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
func (r *IssuerRules) Quota() leaderboard.Quota {
	return leaderboard.Quota{RequestsPerSecond: r.RequestsPerSecond, RowsPerSecond: r.RowsPerSecond}
}

// checkIssuerName returns a *leaderboard.RuleError when a name is not a valid name of an issuer.
func checkIssuerName(name string) error {
	if leaderboard.CheckBoardName(name) == nil {
		return nil
	}
	return &leaderboard.RuleError{Code: leaderboard.CodeInvalidIssuer, Detail: "want a name such as game1: [a-z0-9][a-z0-9._-]{0,63}"}
}

// Check returns a *leaderboard.RuleError that lists the faults of an issuer's rules with their defaults, or nil. It checks neither
// the content of JWKS nor whether JWKSURL may be requested.
func (r *IssuerRules) Check() error {
	var bad []leaderboard.FieldError
	fail := func(pointer, format string, args ...any) {
		bad = append(bad, leaderboard.FieldError{Pointer: pointer, Detail: fmt.Sprintf(format, args...)})
	}
	checkClaim(fail, "/issuer", r.Issuer, maxIssuerText)
	checkClaim(fail, "/audience", r.Audience, maxIssuerText)
	checkClaim(fail, "/member_claim", r.MemberClaim, maxClaimName)
	if r.BoardsClaim != "" {
		checkClaim(fail, "/boards_claim", r.BoardsClaim, maxClaimName)
	}
	if r.Issuer == ownIssuer {
		fail("/issuer", "%s is the issuer of the tokens of this service", ownIssuer)
	}
	r.checkKeys(fail)
	if len(r.Algorithms) > len(algorithms()) {
		fail("/algorithms", "want at most %d", len(algorithms()))
	}
	for _, a := range r.Algorithms[:min(len(r.Algorithms), len(algorithms()))] {
		if !slices.Contains(algorithms(), a) {
			fail("/algorithms", "want some of RS256, ES256, EdDSA, not %q", string(a))
		}
	}
	if len(r.Prefix) > maxPrefix || r.Prefix != "" && leaderboard.CheckMember(r.Prefix) != nil {
		fail("/prefix", "want at most %d bytes of UTF-8 without control characters", maxPrefix)
	}
	if d, err := time.ParseDuration(r.MaxAge); err != nil || d < time.Minute || d > maxTokenAge {
		fail("/max_age", "want a duration from 1m to %s, such as 1h", maxTokenAge)
	}
	if r.RequestsPerSecond < 0 || r.RequestsPerSecond > leaderboard.MaxKeyRequests {
		fail("/requests_per_second", "want 1 to %d, or 0 for any number", leaderboard.MaxKeyRequests)
	}
	if r.RowsPerSecond < 0 || r.RowsPerSecond > leaderboard.MaxKeyRows {
		fail("/rows_per_second", "want 1 to %d, or 0 for any number", leaderboard.MaxKeyRows)
	}
	if bad == nil {
		return nil
	}
	return &leaderboard.RuleError{Code: leaderboard.CodeInvalidIssuer, Detail: "the issuer's rules are not valid", Fields: bad}
}

// failFunc records a fault at a place in the rules of an issuer.
type failFunc func(pointer, format string, args ...any)

func checkClaim(fail failFunc, pointer, text string, most int) {
	if text == "" || len(text) > most || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		fail(pointer, "want 1 to %d bytes of UTF-8 without control characters", most)
	}
}

func (r *IssuerRules) checkKeys(fail failFunc) {
	switch {
	case (r.JWKS == nil) == (r.JWKSURL == ""):
		fail("/jwks_url", "want either jwks or jwks_url")
	case len(r.JWKS) > oidc.MaxJWKS:
		fail("/jwks", "want at most %d bytes", oidc.MaxJWKS)
	case r.JWKSURL != "":
		u, err := url.Parse(r.JWKSURL)
		if err != nil || len(r.JWKSURL) > maxIssuerText || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
			fail("/jwks_url", "want an https URL of at most %d bytes, without a user", maxIssuerText)
		}
	}
}

// Meets returns why two issuers cannot both be there, as a *leaderboard.RuleError: a token would be of both, or a member.
func (i *Issuer) Meets(other *Issuer) error {
	var bad []leaderboard.FieldError
	if i.Issuer == other.Issuer {
		bad = append(bad, leaderboard.FieldError{Pointer: "/issuer", Detail: "is that of the issuer " + other.Name})
	}
	if strings.HasPrefix(i.Prefix, other.Prefix) || strings.HasPrefix(other.Prefix, i.Prefix) {
		bad = append(bad, leaderboard.FieldError{Pointer: "/prefix", Detail: fmt.Sprintf("and the prefix %q of the issuer %s begin alike, so both could name one member", other.Prefix, other.Name)})
	}
	if bad == nil {
		return nil
	}
	return &leaderboard.RuleError{Code: leaderboard.CodeInvalidIssuer, Detail: "another issuer could name the same members", Fields: bad}
}
