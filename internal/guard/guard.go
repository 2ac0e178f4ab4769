package guard

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Guard lets requests in. All methods may be called concurrently.
type Guard struct {
	keys     keyring
	tokens   Tokens // nil: there are no players
	quotas   Quotas // nil: nothing is charged
	proxies  []netip.Prefix
	throttle throttle

	sessions sessions

	Served  *Permits    // requests that are served at the same time
	Bodies  *BodyReader // bodies of requests
	Answers *BodyBudget // bodies of answers
}

// Options are the settings and the services of a Guard.
type Options struct {
	Settings      []SettingsKey
	Keyring       Keyring // nil: there are no other keys
	Tokens        Tokens  // nil: there are no players' tokens
	Quotas        Quotas  // nil: nothing is charged
	Sessions      Sessions
	Proxies       []netip.Prefix
	MaxConcurrent int           // requests that are served at the same time
	BodyMemory    int64         // bytes that bodies of requests may take
	BodyTimeout   time.Duration // for a body to come, longer only while it comes at a least rate
	AnswerMemory  int64         // bytes that answers may take that clients have not taken yet
}

// New returns a Guard.
func New(o Options) *Guard {
	busy := &leaderboard.OverloadError{Wait: time.Second, Detail: "as many requests are served as may be at once"}
	return &Guard{
		keys: newKeyring(o.Settings, o.Keyring), tokens: o.Tokens, quotas: o.Quotas, proxies: o.Proxies, sessions: newSessions(o.Sessions), Served: NewPermits(o.MaxConcurrent, busy),
		Bodies:  &BodyReader{BodyBudget: NewBodyBudget(o.BodyMemory, "bodies of requests take all the memory that they may"), timeout: o.BodyTimeout},
		Answers: NewBodyBudget(o.AnswerMemory, "answers that clients have not taken yet take all the memory that they may"),
	}
}

// Bearer returns the credential of a request. It takes nothing out of the quotas; it refuses a token whose signature must
// be verified if the address has no attempts left.
func (g *Guard) Bearer(r *http.Request, now time.Time) (Bearer, error) {
	text, err := TextOf(r)
	if err != nil {
		return Bearer{}, err
	}
	if text == "" {
		return g.session(r, now)
	}
	if g.tokens == nil || strings.Count(text, ".") != dotsOfToken {
		key, err := g.keys.find(r, text, now)
		if err == nil && key.Person != "" { // its secret is for the cookie alone: elsewhere it was stolen
			return Bearer{}, errUnknownKey()
		}
		return Bearer{Key: key}, err
	}
	player, err := g.tokens.Find(r.Context(), text, now, func() error { return g.MayAttempt(r) })
	if refused, ok := errors.AsType[*leaderboard.TokenError](err); ok {
		err = &badToken{wire.Reject(wire.CodeUnauthorized, refused.Detail), refused.Signed}
	}
	return Bearer{Player: player}, err
}

// dotsOfToken is how many dots a JWT has. Keys of the settings have another number, or are 401.
const dotsOfToken = 2

// badToken is the rejection of a player's token.
type badToken struct {
	error
	signed bool // its signature is right, so nothing was guessed
}

// Unwrap returns the rejection.
func (b *badToken) Unwrap() error { return b.error }

// BehindProxies reports whether clients come through proxies that name them.
func (g *Guard) BehindProxies() bool { return len(g.proxies) > 0 }

// DelayRefusal makes a request that is refused for lack of capacity or quota wait for the answer if there are many such
// requests; unread is the number of bytes of its body that are not read yet. It reports whether it waited and the client is
// still there.
func (g *Guard) DelayRefusal(ctx context.Context, refusal error, unread int64) bool {
	if !IsRefusal(refusal) {
		return false
	}
	wait := g.throttle.spend(unread)
	if wait == 0 {
		return false
	}
	select {
	case <-time.After(wait):
		return true
	case <-ctx.Done():
		return false
	}
}

// IsRefusal reports whether an error means that there is no capacity, or no quota, for a request.
func IsRefusal(err error) bool {
	return errors.Is(err, leaderboard.ErrOverloaded) || wire.IsTooMany(err)
}

// RefuseFrom makes refusals wait until a time as if there were many of them, for tests.
func (g *Guard) RefuseFrom(at time.Time) {
	g.throttle.mu.Lock()
	defer g.throttle.mu.Unlock()
	g.throttle.next = at
}
