package signin

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// TestIDTokens: the claims that an ID token must have in addition to a signature: a subject, and that it was issued during
// the sign-in (promise G10).
func TestIDTokens(t *testing.T) {
	t.Parallel()
	p, now := NewOpenID("https://login.example", "scores", slog.New(slog.DiscardHandler)), time.Now().Truncate(time.Second)
	for name, c := range map[string]struct {
		claim string
		value any
		words string // "": good
	}{
		"good":                 {"sub", "7", ""},
		"just in time":         {"iat", float64(now.Add(-10*time.Minute - 29*time.Second).Unix()), ""},
		"a clock that is fast": {"iat", float64(now.Add(30 * time.Second).Unix()), ""},
		"25 hours old":         {"iat", float64(now.Add(-25 * time.Hour).Unix()), "issued just now"},
		"older than a sign-in": {"iat", float64(now.Add(-10*time.Minute - 30*time.Second).Unix()), "issued just now"},
		"of the future":        {"iat", float64(now.Add(time.Minute).Unix()), "issued just now"},
		"not dated":            {"iat", nil, "issued just now"},
		"a date that is none":  {"iat", "now", "issued just now"},
		"no subject":           {"sub", nil, "no subject"},
		"an empty subject":     {"sub", "", "no subject"},
		"a subject of numbers": {"sub", 7.0, "no subject"},
		"over":                 {"exp", float64(now.Add(-time.Minute).Unix()), "is over"},
		"another audience":     {"aud", "shop", "another client"},
		"another party":        {"azp", "shop", "another client"},
		"several audiences":    {"aud", []any{"scores", "shop"}, "another client"},
		"another issuer":       {"iss", "https://evil.example", "another issuer"},
		"another nonce":        {"nonce", "m", "another sign-in"},
		"no nonce":             {"nonce", nil, "another sign-in"},
	} {
		body := jwt.MapClaims{"iss": "https://login.example", "aud": "scores", "sub": "7", "nonce": "n", "iat": float64(now.Unix()), "exp": float64(now.Add(time.Hour).Unix())}
		body[c.claim] = c.value
		err := p.checkClaims(body, "n", now)
		if (err == nil) != (c.words == "") || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p.checkClaims(jwt.MapClaims{"nonce": ""}, "", now) == nil {
		t.Error("a sign-in without a nonce")
	}
}
