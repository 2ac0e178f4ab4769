// Package signin signs people in by an OpenID provider, by the authorization code flow with PKCE, and decides by the
// provider's claims their rights. A browser keeps a session: of a person, or of a key that somebody typed.
//
//	signin.go                          the flow, and the rights of a person
//	settings.go                        the settings of a server
//	openid.go                          the provider: its description of itself, and its ID tokens
//	handlers.go                        routes, and the cookies of a browser
//	feature.go                         the feature
package signin

import (
	"strings"

	"leaderboard/features"
	"leaderboard/internal/guard"
)

// Feature returns the feature of the folder. It offers the look-up of browsers' sessions, and a second provider for checks,
// so that nobody who signs in waits for a check.
func Feature() features.Feature {
	s := &Settings{}
	return features.Feature{Name: "signin", Settings: s, Open: func(e *features.Engine) features.Opened {
		base := e.Server.Base
		h := &handlers{keys: features.Offered[SessionKeys](e), secure: strings.HasPrefix(s.PublicURL, "https://"), base: base}
		sessions := guard.Sessions{Cookie: cookieName(cookieSession, h.secure, base), Site: s.PublicURL}
		var offers []any
		if s.Issuer != "" {
			offers = append(offers, &provider{NewOpenID(s.Issuer, s.Client, e.Log), s})
			if sealer := features.Offered[Sealer](e); sealer != nil && h.keys != nil { // a session is a key
				in := New(NewOpenID(s.Issuer, s.Client, e.Log), sealer, Config{*s, s.PublicURL + base + callback(), e.Log})
				h.people, sessions.People = in, in
			}
		}
		return features.Opened{Routes: h.routes(), Offers: append(offers, sessions)}
	}}
}

// provider is the provider for checks.
type provider struct {
	*OpenID
	settings *Settings
}

// Issuer returns the provider's name for itself.
func (p *provider) Issuer() string { return p.settings.Issuer }

// Writers reports whether the settings let somebody write.
func (p *provider) Writers() bool { return len(p.settings.Admins)+len(p.settings.Writers) > 0 }
