package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"leaderboard/api"
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// authenticate finds the key of the request. An invalid key counts as an attempt of the caller's address, in a cookie too.
func (c *Call) authenticate() error {
	by, err := c.findKey(c.Start)
	switch {
	case err != nil:
		return c.shared.guard.Attempt(c.W, c.R, err)
	case by.WrongCookie:
		return c.shared.guard.AttemptCookie(c.W, c.R)
	}
	return nil
}

// findKey finds the key of the request, or the player's token, in its present state.
func (c *Call) findKey(now time.Time) (by guard.Bearer, err error) {
	if c.Route.Access == api.AccessAnyone {
		return by, nil
	}
	by, err = c.shared.guard.Bearer(c.R, now)
	switch {
	case err != nil:
	case by.Key != nil:
		c.Key, c.Scope, c.Caller.Key = by.Key, by.Key.Scope, by.Key.Actor()
		if by.Key.Person != "" {
			c.Caller.Session = by.Key.ID
		}
		c.Caller.Admin = c.Scope.Includes(leaderboard.ScopeAdmin)
	case by.Player != nil:
		c.Player, c.Caller.Key, c.Caller.Player = by.Player, by.Player.Via, by.Player.Owner
	case c.Key != nil: // a long answer began with the key
		err = wire.Reject(wire.CodeUnauthorized, "The session is over.")
	}
	return by, err
}

// AccessCheck is the time between two checks whether a client may still receive a long answer.
const AccessCheck = time.Second / 2

// MayGoOn returns why a long answer must end: the key of the request is no longer valid, or not enough for the route. This is not
// charged as an attempt, because the key was valid when the answer began; and attempts from the same address do not matter. If the
// key cannot be looked up now, the answer continues.
func (c *Call) MayGoOn(now time.Time) error {
	_, err := c.findKey(now)
	if err == nil {
		err = c.denied()
	}
	return UnlessUnknown(err)
}

// UnlessUnknown returns err, or nil if err only means that the answer is not known now.
func UnlessUnknown(err error) error {
	if errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOverloaded) {
		return nil
	}
	return err
}

// authorize compares the key with the access of the route, and charges the caller. A request that the key does not allow counts as
// a request only.
func (c *Call) authorize() error {
	denied := c.denied()
	what := c.Route.counts()
	if denied != nil {
		what = leaderboard.Charge{leaderboard.QuotaKindRequests: what[leaderboard.QuotaKindRequests]}
	}
	if err := c.Charge(what); err != nil {
		return err
	}
	return denied
}

// denied returns why the request's key may not use the route. It looks at the key alone.
func (c *Call) denied() error {
	if c.Route.Access == api.AccessAnyone {
		return nil
	}
	if c.Player != nil {
		return deniedPlayer(c)
	}
	if err := guard.Allow(c.Route.Access, c.Scope); err != nil || c.Key == nil || !c.Key.Limited() {
		return err
	}
	switch {
	case c.Route.Access == api.AccessReaders && (c.Route.SomeBoards || c.Route.Has("board")):
		return nil // mayRead decides which boards: public ones are for anyone
	case c.Route.Has("board"):
		return c.mayName(c.Params.PathValue("board"))
	case !c.Route.SomeBoards:
		return guard.ErrSomeBoards(c.Key)
	}
	return nil
}

// deniedPlayer returns why the request's player may not use the route.
func deniedPlayer(c *Call) error {
	need := c.Route.Access.Needs()
	if need == "" || c.Route.Players == api.PlayersMaySubmit || c.readsFriends() {
		return nil
	}
	return wire.Reject(wire.CodeForbidden, fmt.Sprintf("This needs a key with scope %s. A player's token may read public data and the player's own, and submit the player's scores.", need))
}

// readsFriends reports whether the request is a player's for the player's own friends. It decides by the path and the token alone.
func (c *Call) readsFriends() bool {
	return c.Route.Players == api.PlayersMayReadFriends && c.Params.PathValue("member") == c.Player.Member && c.Player.Covers(c.Params.PathValue("board"))
}

// mayFilter is mayName for the parameter board of a list, which shows all boards without the parameter.
func mayFilter(c *Call) error {
	if c.Key == nil || !c.Key.Limited() || !slices.Contains(c.Route.Params, "board") {
		return nil
	}
	name, _ := c.Params.Query.Get("board")
	if name == "" {
		return guard.ErrSomeBoards(c.Key)
	}
	return c.mayName(name, wire.InputError{Parameter: "board", Detail: guard.NotCovered})
}

// MayAttempt returns why the caller's address may not try a secret now: it has guessed too often.
func (c *Call) MayAttempt() error { return c.shared.guard.MayAttempt(c.R) }

// Guessed charges the caller's address for an invalid secret. It returns err, or why no more attempts are left.
func (c *Call) Guessed(err error) error { return c.shared.guard.Guessed(c.W, c.R, err) }

// OwnPage refuses a request from a page of another site.
func (c *Call) OwnPage() error { return c.shared.guard.OwnPage(c.R) }

// Client returns the address of the client, "" if clients cannot be distinguished, because they may all be behind one proxy.
func (c *Call) Client() string {
	if from := c.shared.guard.Client(c.R); c.shared.guard.BehindProxies() && from.IsValid() {
		return from.String()
	}
	return ""
}

// Charge charges the caller against quotas.
func (c *Call) Charge(what leaderboard.Charge) error {
	return c.shared.guard.Charge(c.W, c.R, guard.Bearer{Key: c.Key, Player: c.Player}, what)
}

// mayRead lets any caller read a public board, a caller whose key covers the board a private one, and a player the player's own
// standing on a private board whose rule allows it. For other callers a private board does not exist: they get the answer for a
// name that no board has. Only mayRead decides this.
func (c *Call) mayRead(b *leaderboard.Board) error {
	if b.Rules.Visibility == leaderboard.VisibilityPublic || c.Key != nil && c.Key.Covers(b.Name) || readsOwn(c, b) {
		return nil
	}
	return leaderboard.ErrBoardNotFound
}

// readsOwn reports whether the request is a player's for the player's own standing on a board that shows it to players.
func readsOwn(c *Call, b *leaderboard.Board) bool {
	if c.Player == nil || c.Route.Players != api.PlayersMayReadOwn || !b.Rules.PlayersRead() || !c.Player.Covers(b.Name) {
		return false
	}
	member := c.Params.PathValue("member")
	if c.Route.Stream {
		member, _ = c.Params.Query.Get("member")
	}
	return member == c.Player.Member
}
