package guard

import (
	"net/http"
	"net/url"
	"time"

	"leaderboard"
	"leaderboard/httpapi/internal/wire"
)

// People decides about people who signed in.
type People interface {
	// Holds reports whether the settings still give the role of a person's session what the session may do.
	Holds(session *leaderboard.Key) bool
}

// Sessions is how the sessions of browsers are found: of people, and of keys that somebody typed into the console. The zero value
// finds none.
type Sessions struct {
	People People // nil: nobody signs in, so there are those of keys only
	Cookie string // name of the cookie that has the secret of a session, or the key
	Site   string // URL of the pages that people use
}

// sessions finds them.
type sessions struct {
	Sessions
	others *http.CrossOriginProtection
}

func newSessions(s Sessions) sessions {
	others := http.NewCrossOriginProtection()
	if site, err := url.Parse(s.Site); err == nil && site.Host != "" {
		_ = others.AddTrustedOrigin(site.Scheme + "://" + site.Host) // a proxy may give the server another name; it has the form of an origin
	}
	return sessions{s, others}
}

// session returns the session of a request that has no key and no token, nil for none. A browser sends its cookie by itself, also
// when the session is over or was taken away: then the request is as if it had none, so that pages for everybody still work. A
// write that a page of another site has sent is refused.
func (g *Guard) session(r *http.Request, now time.Time) (*leaderboard.Key, error) {
	if r.Header["Cookie"] == nil {
		return nil, nil
	}
	cookie, err := r.Cookie(g.sessions.Cookie)
	if err != nil {
		return nil, nil //nolint:nilerr // there is none
	}
	secret, err := url.QueryUnescape(cookie.Value)
	if err != nil {
		return nil, nil //nolint:nilerr // as another cookie that is not good
	}
	key, err := g.keys.find(r, secret, now)
	switch {
	case wire.IsRejection(err):
		return nil, nil
	case err != nil:
		return nil, err
	case key.Person != "" && (g.sessions.People == nil || !g.sessions.People.Holds(key)):
		return nil, nil
	}
	if err := g.OwnPage(r); err != nil {
		return nil, err
	}
	return key, nil
}

// OwnPage refuses a write that a page of another site has sent.
func (g *Guard) OwnPage(r *http.Request) error {
	if g.sessions.others.Check(r) != nil {
		return wire.Reject(wire.CodeForbidden, "A page of another site sent this with the cookie of somebody who signed in here.")
	}
	return nil
}
