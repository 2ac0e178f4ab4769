package guard

import (
	"crypto/sha256"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"leaderboard/internal/bounded"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// People decides about people who signed in.
type People interface {
	// Holds reports whether the settings still give the role of a person's session what the session may do.
	Holds(session *leaderboard.Key) bool
}

// Sessions is how the sessions of browsers are found: of people, and of keys that somebody typed into the console. The zero value
// finds none.
type Sessions struct {
	People People // nil: nobody signs in, so there are only sessions of keys
	Cookie string // name of the cookie that has the secret of a session, or the key
	Site   string // URL of the pages that people use
}

// sessions finds them.
type sessions struct {
	Sessions
	others *http.CrossOriginProtection
	wrong  *bounded.Map[wrongCookie, struct{}] // wrong cookies that were charged
}

// wrongCookie is a cookie that opens nothing, from an address.
type wrongCookie struct {
	value [sha256.Size]byte
	from  netip.Addr
}

// wrongCookies is how many of them are remembered.
const wrongCookies = 10_000

func newSessions(s Sessions) sessions {
	others := http.NewCrossOriginProtection()
	if site, err := url.Parse(s.Site); err == nil && site.Host != "" {
		_ = others.AddTrustedOrigin(site.Scheme + "://" + site.Host) // a proxy may give the server another name; it has the form of an origin
	}
	return sessions{s, others, bounded.New[wrongCookie, struct{}](wrongCookies, 0)}
}

// session returns the session of a request that has no key and no token. A browser also sends its cookie when the session is over
// or was taken away: then the request counts as a request without a session, so that public pages still work, and the cookie is
// wrong. A write from a page of another site is refused.
func (g *Guard) session(r *http.Request, now time.Time) (Bearer, error) {
	secret := g.cookieOf(r)
	if secret == "" {
		return Bearer{}, nil
	}
	key, err := g.keys.find(r, secret, now)
	switch {
	case wire.IsRejection(err):
		return Bearer{WrongCookie: true}, nil
	case err != nil:
		return Bearer{}, err
	case key.Person != "" && (g.sessions.People == nil || !g.sessions.People.Holds(key)):
		return Bearer{}, nil // not a guess: the settings have since reduced the role
	}
	if err := g.OwnPage(r); err != nil {
		return Bearer{}, err
	}
	return Bearer{Key: key}, nil
}

// cookieOf returns the secret in the cookie of sessions, or "".
func (g *Guard) cookieOf(r *http.Request) string {
	if r.Header["Cookie"] == nil {
		return ""
	}
	cookie, err := r.Cookie(g.sessions.Cookie)
	if err != nil {
		return ""
	}
	secret, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		return "" // no cookie of this server is written so
	}
	return secret
}

// AttemptCookie charges the address of a request for a cookie that opens nothing, as for a key that is not good, and returns the
// refusal when there were too many. A browser keeps sending an old cookie, so each value is charged once for an address.
func (g *Guard) AttemptCookie(w http.ResponseWriter, r *http.Request) error {
	from := g.Client(r)
	if g.quotas == nil || !from.IsValid() {
		return nil
	}
	guess := wrongCookie{sha256.Sum256([]byte(g.cookieOf(r))), from}
	if _, known := g.sessions.wrong.Get(guess); known {
		return nil
	}
	err := g.Guessed(w, r, nil)
	if err == nil {
		g.sessions.wrong.Put(guess, 0, struct{}{})
	}
	return err
}

// OwnPage refuses a write that a page of another site has sent.
func (g *Guard) OwnPage(r *http.Request) error {
	if g.sessions.others.Check(r) != nil {
		return wire.Reject(wire.CodeForbidden, "A page of another site sent this with the cookie of somebody who signed in here.")
	}
	return nil
}
