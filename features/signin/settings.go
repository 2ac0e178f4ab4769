package signin

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"leaderboard/api"
	"leaderboard/features"
	"leaderboard/internal/dialer"
	"leaderboard/internal/settings"
	"leaderboard/leaderboard"
)

// maxSession is how long a session may last. After that the person signs in again at the provider, which confirms the role.
const maxSession = 12 * time.Hour

// callback returns the path to which the provider sends people back.
func callback() string { return api.OperationOf("finishSignIn").Path }

// Settings are how people sign in, by the tags of package settings.
type Settings struct {
	PublicURL string `setting:"public-url" section:"People who sign in" value:"URL" doc:"URL of the server for people, as in https://scores.example, without a path; --oidc-issuer needs it"`

	Issuer string   `setting:"oidc-issuer" value:"URL" doc:"URL of the OpenID provider for signing in to the console, exactly as it names itself; empty: nobody signs in, there are keys"`
	Client string   `setting:"oidc-client-id" doc:"id of this server at the provider"`
	Secret string   `setting:"oidc-client-secret" doc:"its secret there, best as a variable; empty: a public client, which PKCE protects"` // secret
	Scopes []string `setting:"oidc-scopes" default:"email,profile" bytes:"255" doc:"scopes to request in addition to openid, separated by commas"`

	Claim   string   `setting:"oidc-claim" default:"groups" doc:"claim of the ID token that holds roles, a text or a list, as in groups, email or realm_access.roles; an email address has to be verified"`
	Admins  []string `setting:"oidc-admins" bytes:"255" doc:"values of that claim that give scope admin, separated by commas"`
	Writers []string `setting:"oidc-writers" bytes:"255" doc:"values that give scope write"`
	Readers []string `setting:"oidc-readers" bytes:"255" doc:"values that give scope read"`
	Boards  string   `setting:"oidc-boards-claim" doc:"claim that lists the boards of a person, names and prefixes such as game1-*; empty: all boards"`

	Session time.Duration `setting:"oidc-session" default:"12h" doc:"duration of a session, from 1m to 12h"`
}

// Parsers implements settings.Parsers.
func (s *Settings) Parsers() map[string]func(string) error {
	return map[string]func(string) error{
		"public-url": settings.Into(&s.PublicURL, parseSite), "oidc-issuer": settings.Into(&s.Issuer, parseProvider), "oidc-session": settings.Into(&s.Session, parseSession),
	}
}

func parseSession(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Minute || d > maxSession {
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

// parseProvider reads the name of a provider. The identity of people comes from there, so it must use https, unless it is
// on this machine.
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

// Check implements features.Checker: it fails when the settings are not complete.
func (s *Settings) Check(server features.Server) error {
	switch {
	case s.Issuer == "" && (s.Client != "" || s.Secret != "" || len(slices.Concat(s.Admins, s.Writers, s.Readers)) > 0):
		return errors.New("--oidc-client-id, its secret and roles go with --oidc-issuer: give the URL of the provider too, or none of them")
	case s.Issuer == "":
		return nil
	case s.PublicURL == "":
		return errors.New("--oidc-issuer needs --public-url, the URL of this server, which the provider sends people back to")
	case s.Client == "":
		return fmt.Errorf("--oidc-issuer needs --oidc-client-id: register this server at the provider, with the address %s", s.PublicURL+server.Base+callback())
	case len(slices.Concat(s.Admins, s.Writers, s.Readers)) == 0:
		return errors.New("--oidc-issuer needs --oidc-admins, --oidc-writers or --oidc-readers: without them nobody who signs in may do anything")
	}
	return nil
}
