package cli

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/app"
	"leaderboard/internal/dialer"
	"leaderboard/leaderboard"
)

// signInFlags returns the settings of how people sign in.
func (p *program) signInFlags(cfg *app.Config) []cli.Flag {
	in := &cfg.SignIn
	return []cli.Flag{
		custom(p.setting("public-url", "`URL` at which people reach the server, as in https://scores.example, without a path; --oidc-issuer needs it"), &cfg.PublicURL, parseSite),
		custom(p.setting("oidc-issuer", "`URL` of the OpenID provider by which people sign in to the console, as it calls itself; empty: nobody signs in, there are keys"), &in.Issuer, parseProvider),
		text(p.setting("oidc-client-id", "id of this server at the provider"), &in.Client),
		text(p.setting("oidc-client-secret", "its secret there, best as a variable; empty: a public client, which PKCE protects"), &in.Secret),
		listOf(p.setting("oidc-scopes", "what is asked of the provider, besides openid, separated by commas"), &in.Scopes),
		text(p.setting("oidc-claim", "claim of the ID token that the next three have values of: a text or a list, as in groups, email or realm_access.roles; an email address has to be verified"), &in.Claim),
		listOf(p.setting("oidc-admins", "values of it, separated by commas, with which somebody has scope admin"), &in.Admins),
		listOf(p.setting("oidc-writers", "those with scope write"), &in.Writers),
		listOf(p.setting("oidc-readers", "those with scope read"), &in.Readers),
		text(p.setting("oidc-boards-claim", "claim with the boards that somebody may see to, a list of names and of prefixes such as game1-*; empty: all boards"), &in.Boards),
		custom(p.setting("oidc-session", "how long somebody is signed in, from 1m to 12h"), &in.Session, parseSession),
	}
}

// listOf makes a flag that takes texts separated by commas.
func listOf(s setting, at *[]string) *checked[string] {
	f := newChecked(s, new(string), func(v string) (string, error) {
		values := strings.Split(v, ",")
		for i := range values {
			if values[i] = strings.TrimSpace(values[i]); values[i] == "" || len(values[i]) > leaderboard.MaxRole {
				return "", fmt.Errorf("want values of 1 to %d bytes separated by commas, value %d is not one", leaderboard.MaxRole, i+1)
			}
		}
		*at = values
		return v, nil
	})
	f.Value = strings.Join(*at, ",")
	return f
}

func parseSession(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Minute || d > leaderboard.MaxSession {
		return 0, fmt.Errorf("want a duration from 1m to 12h, not %q", v)
	}
	return d, nil
}

// parseSite reads the URL of this server.
func parseSite(v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || strings.TrimSuffix(v, "/") != u.Scheme+"://"+u.Host {
		return "", fmt.Errorf("want a URL such as https://scores.example, without a path, not %q", v)
	}
	return strings.TrimSuffix(v, "/"), nil
}

// parseProvider reads the name of a provider. Who signs in is what comes from there, so it comes by https, unless it is from this
// machine.
func parseProvider(v string) (string, error) {
	u, err := url.Parse(v)
	if err != nil || u.RawQuery != "" || dialer.Check(v, dialer.Rules{Private: true, Plain: true}) != "" {
		return "", errors.New("want a URL such as https://login.example/realms/games")
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !leaderboard.IsThisMachine(u.Hostname())) {
		return "", errors.New("want https; http only at localhost")
	}
	return v, nil
}

// needSignIn fails when the settings of how people sign in are not complete.
func needSignIn(cfg *app.Config) error {
	in := &cfg.SignIn
	switch {
	case in.Issuer == "" && (in.Client != "" || in.Secret != "" || len(slices.Concat(in.Admins, in.Writers, in.Readers)) > 0):
		return usagef("--oidc-client-id, its secret and roles go with --oidc-issuer: give the URL of the provider too, or none of them")
	case in.Issuer == "":
		return nil
	case cfg.PublicURL == "":
		return usagef("--oidc-issuer needs --public-url, the URL of this server, which the provider sends people back to")
	case in.Client == "":
		return usagef("--oidc-issuer needs --oidc-client-id: register this server at the provider, with the address %s", cfg.PublicURL+cfg.BasePath+leaderboard.SignInCallback)
	case len(slices.Concat(in.Admins, in.Writers, in.Readers)) == 0:
		return usagef("--oidc-issuer needs --oidc-admins, --oidc-writers or --oidc-readers: without them nobody who signs in may do anything")
	}
	return nil
}
