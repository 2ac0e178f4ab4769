package oidc

import (
	"encoding/json"
	"math"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"leaderboard/leaderboard"
)

// TokenSkew is the difference that the clocks of issuers may have.
const TokenSkew = 30 * time.Second

// NewParser returns a parser of tokens. The conditions on claims are checked here, not by the library.
func NewParser() *jwt.Parser {
	return jwt.NewParser(jwt.WithoutClaimsValidation(), jwt.WithStrictDecoding())
}

// Parse takes a token apart. Errors: *leaderboard.TokenError.
func Parse(parser *jwt.Parser, token string) (*jwt.Token, jwt.MapClaims, error) {
	body := jwt.MapClaims{}
	parsed, _, err := parser.ParseUnverified(token, body)
	if err != nil {
		return nil, nil, &leaderboard.TokenError{Detail: "The token is not a JWT."}
	}
	if _, ok := parsed.Header["crit"]; ok {
		return nil, nil, &leaderboard.TokenError{Detail: "The token has a header that is not known here."}
	}
	return parsed, body, nil
}

// Moment returns a claim that is a number of seconds since 1970.
func Moment(claim any) (at leaderboard.Micros, ok bool) {
	var seconds float64
	switch claim := claim.(type) {
	case float64:
		seconds = claim
	case json.Number:
		var err error
		if seconds, err = claim.Float64(); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	if seconds < 0 || seconds > 1e11 {
		return 0, false
	}
	return leaderboard.Micros(math.Floor(seconds * 1e6)), true
}
