// Package signin signs people in by an OpenID provider, by the authorization code flow with PKCE, and decides by what the
// provider says of them what they may do. A browser keeps a session: that of a person, or a key that somebody typed.
//
//	signin.go                          the flow, and what a person may do
//	openid.go                          the provider: what it says of itself, and its ID tokens
//	handlers.go                        routes, and the cookies of a browser
//	feature.go                         what the folder registers
package signin

import (
	"strings"

	"leaderboard/features"
	"leaderboard/internal/guard"
	"leaderboard/leaderboard"
)

// Feature returns what the folder registers. site is the URL at which people reach the server, base the path below which the service
// is. It offers how the sessions of browsers are found, and the provider, for a look at it: another one, so that nobody who signs in
// waits for that.
func Feature(settings Settings, site, base string) features.Feature {
	return features.Feature{Name: "signin", Open: func(e *features.Engine) features.Opened {
		h := &handlers{keys: features.Offered[SessionKeys](e), secure: strings.HasPrefix(site, "https://"), base: base}
		sessions := guard.Sessions{Cookie: cookieName(cookieSession, h.secure, base), Site: site}
		var offers []any
		if settings.Issuer != "" {
			offers = append(offers, NewOpenID(settings.Issuer, settings.Client, e.Log))
			if sealer := features.Offered[Sealer](e); sealer != nil && h.keys != nil { // a session is a key
				s := New(NewOpenID(settings.Issuer, settings.Client, e.Log), sealer, Config{settings, site + base + leaderboard.SignInCallback, e.Log})
				h.people, sessions.People = s, s
			}
		}
		return features.Opened{Routes: h.routes(), Offers: append(offers, sessions)}
	}}
}
