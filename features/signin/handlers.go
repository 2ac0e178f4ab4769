package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// People signs people in. All methods may be called concurrently.
type People interface {
	// Begin returns the address of the provider to which a person is sent, and a cookie for the browser. Errors: ErrProviderAway,
	// ErrOverloaded, ErrUnavailable.
	Begin(ctx context.Context, now time.Time) (address, cookie string, err error)
	// Resume returns the sign-in that a browser comes back from, by its cookie and the state in the address, if a server has begun
	// it. It asks nobody. Errors: ErrSignInRefused, ErrUnavailable.
	Resume(ctx context.Context, cookie, state string, now time.Time) (Begun, error)
	// Finish returns the session of the person whom a code stands for, without an id. Errors: ErrSignInRefused, ErrNoRole,
	// ErrProviderAway; ErrOverloaded, when the provider was not asked.
	Finish(ctx context.Context, in Begun, code string, now time.Time) (leaderboard.Key, error)
}

// SessionKeys makes and ends the keys of sessions as the API keys are made and ended.
type SessionKeys interface {
	CreateKey(ctx context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error)
	RevokeKey(ctx context.Context, id string) (leaderboard.Key, error)
}

// handlers sign people in and out. A session is a key whose secret is in a cookie that scripts cannot read: so it is known
// to every server, ends when its time is over or when it is revoked, and has its quota, as other keys. A key that somebody typed
// can be in that cookie as well.
type handlers struct {
	keys   SessionKeys
	people People // nil: nobody signs in
	secure bool   // people come by https
	base   string // path of the service
}

// routes are the routes about people who sign in, and about what their browsers keep.
func (h *handlers) routes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.On("getSession", h.get),
		httpapi.On("keepKey", h.keep),
		httpapi.On("endSession", h.end),
		httpapi.On("beginSignIn", h.begin),
		httpapi.On("finishSignIn", h.finish),
	}
}

// The cookies. Over https a browser takes a cookie with __Host- only from this host by https, so no neighbour can plant
// one.
const (
	cookieSession = "leaderboard-session"
	cookieSignIn  = "leaderboard-sign-in" // of a sign-in that is under way
	hostPrefix    = "__Host-"
	securePrefix  = "__Secure-"
)

// cookieName returns the name of a cookie as browsers have it: one of a path cannot have __Host-, but comes by https all the same.
func cookieName(name string, secure bool, base string) string {
	switch {
	case !secure:
		return name
	case base != "":
		return securePrefix + name
	default:
		return hostPrefix + name
	}
}

// setCookie has the browser keep a value for a while; none ends it. Lax: the cookie comes along when the provider sends the person
// back here, but with no request that a page of another site makes.
func (h *handlers) setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	age := int(life / time.Second)
	if value == "" {
		age = -1
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(name, h.secure, h.base), Value: value, Path: h.base + "/", MaxAge: age, HttpOnly: true, Secure: h.secure, SameSite: http.SameSiteLaxMode,
	})
}

// begin answers GET /v1/sign-in: off to the provider.
func (h *handlers) begin(c *httpapi.Call) error {
	if h.people == nil {
		return errNoSignIn()
	}
	address, cookie, err := h.people.Begin(c.Ctx, c.Start)
	if err != nil {
		return h.sendError(c, err)
	}
	h.setCookie(c.W, cookieSignIn, cookie, signInTime)
	redirect(c, address)
	return nil
}

func errNoSignIn() error {
	return wire.Reject(wire.CodeNotFound, "No identity provider is in the settings of this server, so nobody signs in: there are keys.")
}

// redirect sends the browser to another address. The answer must not be used again.
func redirect(c *httpapi.Call, address string) {
	h := c.W.Header()
	h.Set("Location", address)
	c.NoStore()
	h.Set("Referrer-Policy", "no-referrer") // the address here has a code in it
	c.SendNothing(http.StatusSeeOther)
}

// finish answers GET /v1/sign-in/callback, where the provider sends a person back to. A refused sign-in counts as an
// attempt of its address, like an invalid key: without attempts left the provider is not asked.
func (h *handlers) finish(c *httpapi.Call) error {
	if h.people == nil {
		return errNoSignIn()
	}
	if err := c.MayAttempt(); err != nil {
		return h.sendError(c, err)
	}
	k, err := h.whoCame(c)
	if !errors.Is(err, leaderboard.ErrOverloaded) { // nobody was asked: the same address is good again
		h.setCookie(c.W, cookieSignIn, "", 0) // it serves once
	}
	if errors.Is(err, leaderboard.ErrSignInRefused) {
		err = c.Guessed(err)
	}
	if err != nil {
		return h.sendError(c, err)
	}
	secret, hash := leaderboard.NewKeySecret(k.ID)
	c.Caller.Key, c.Caller.Session = k.Actor(), k.ID
	if _, err = h.keys.CreateKey(c.Ctx, k, hash); err != nil {
		return h.sendError(c, wire.WriteError(err))
	}
	h.setCookie(c.W, cookieSession, secret, maxSession) // the key may expire earlier
	redirect(c, h.base+"/console")
	return nil
}

// whoCame returns the session of the person whom the provider sends back, if it was this browser that went there.
func (h *handlers) whoCame(c *httpapi.Call) (k leaderboard.Key, err error) {
	said, cookie := c.R.URL.Query(), ""
	if found, err := c.R.Cookie(cookieName(cookieSignIn, h.secure, h.base)); err == nil {
		cookie = found.Value
	}
	in, err := h.people.Resume(c.Ctx, cookie, said.Get("state"), c.Start)
	if err != nil {
		return k, err
	}
	if refusal := said.Get("error"); refusal != "" || said.Get("code") == "" {
		return k, &leaderboard.SignInError{Cause: leaderboard.ErrSignInRefused, Detail: "The identity provider signed nobody in: " + wire.Clip(refusal) + "."}
	}
	k, err = h.people.Finish(c.Ctx, in, said.Get("code"), c.Start)
	k.ID = leaderboard.NewKeyID()
	return k, err
}

// sendError sends an error: a problem to a program, and a page of the console to a person, who would see only JSON.
func (h *handlers) sendError(c *httpapi.Call, err error) error {
	kind, _, _ := wire.Classify(err)
	if !strings.Contains(c.R.Header.Get("Accept"), "text/html") || kind.Code == wire.CodeInternal {
		return err
	}
	wire.SetRetryAfter(c.W.Header(), err, kind)
	redirect(c, h.base+"/console?sign-in="+kind.Code)
	return nil
}

// get answers GET /v1/session with the key of the request, and whether people can sign in. A session that is over does not
// count.
func (h *handlers) get(c *httpapi.Call) error {
	out := api.Session{SignIn: h.people != nil}
	if c.Key != nil {
		shown := httpapi.ShowKey(c.Key)
		out.Key = &shown
	}
	return c.SendJSON(http.StatusOK, out)
}

// keep answers POST /v1/session: the browser keeps the key of the request for a while, so that a page can be read again, and opened
// in another tab, without the key.
func (h *handlers) keep(c *httpapi.Call) error {
	var body struct {
		TTL string `json:"ttl"`
	}
	if err := c.Decode(&body, true, &wire.Emptiness{NonEmpty: []string{"ttl"}}); err != nil {
		return err
	}
	life := maxSession
	if body.TTL != "" {
		var err error
		if life, err = time.ParseDuration(body.TTL); err != nil || life < time.Minute || life > maxSession {
			return wire.Malformed(wire.InputError{Pointer: "/ttl", Detail: "want a duration from 1m to " + maxSession.String() + ", such as 1h"})
		}
	}
	secret, err := guard.TextOf(c.R)
	if err == nil {
		err = c.OwnPage()
	}
	if err == nil && secret == "" {
		err = wire.Reject(wire.CodeUnauthorized, "The key to keep must be in the header Authorization: Bearer <key>.")
	}
	if err != nil {
		return err
	}
	h.setCookie(c.W, cookieSession, url.QueryEscape(secret), life) // it may have bytes that a cookie cannot
	c.SendNothing(http.StatusNoContent)
	return nil
}

// end answers DELETE /v1/session: the browser forgets its session, and a person's session ends. The provider is not
// notified: the person stays signed in at other services.
func (h *handlers) end(c *httpapi.Call) error {
	if c.Key != nil && c.Key.Person != "" {
		if _, err := h.keys.RevokeKey(c.Ctx, c.Key.ID); err != nil {
			return wire.WriteError(err)
		}
	}
	h.setCookie(c.W, cookieSession, "", 0)
	c.SendNothing(http.StatusNoContent)
	return nil
}
