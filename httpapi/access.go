package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// authenticate finds the key of the request. A key that is not good is an attempt of the caller's address, in a cookie too.
func (c *call) authenticate() error {
	by, err := c.findKey(c.start)
	switch {
	case err != nil:
		return c.shared.guard.Attempt(c.w, c.r, err)
	case by.WrongCookie:
		return c.shared.guard.AttemptCookie(c.w, c.r)
	}
	return nil
}

// findKey finds the key of the request, or the player's token, as it is now.
func (c *call) findKey(now time.Time) (by guard.Bearer, err error) {
	if c.route.access == guard.AccessAnyone {
		return by, nil
	}
	by, err = c.shared.guard.Bearer(c.r, now)
	switch {
	case err != nil:
	case by.Key != nil:
		c.key, c.scope, c.caller.Key = by.Key, by.Key.Scope, by.Key.Actor()
		if by.Key.Person != "" {
			c.caller.Session = by.Key.ID
		}
		c.caller.Admin = c.scope.Includes(leaderboard.ScopeAdmin)
	case by.Player != nil:
		c.player, c.caller.Key, c.caller.Player = by.Player, by.Player.Via, by.Player.Owner
	case c.key != nil: // a long answer began with it
		err = wire.Reject(wire.CodeUnauthorized, "The session is over.")
	}
	return by, err
}

// accessCheck is the time between two checks whether a client may still receive a long answer.
const accessCheck = time.Second / 2

// mayGoOn returns why a long answer must end: the key of the request is no longer valid, or not enough for the
// route. It is not charged as an attempt, because the key was valid when the answer began; and attempts from the same address
// do not matter. When the key cannot be looked up now the answer continues.
func (c *call) mayGoOn(now time.Time) error {
	_, err := c.findKey(now)
	if err == nil {
		err = c.denied()
	}
	return unlessUnknown(err)
}

// unlessUnknown returns err, nil when it is only that there is no answer now.
func unlessUnknown(err error) error {
	if errors.Is(err, leaderboard.ErrUnavailable) || errors.Is(err, leaderboard.ErrOverloaded) {
		return nil
	}
	return err
}

// authorize compares the key with the access of the route, and charges the caller. A request that the key may not make counts
// as a request only.
func (c *call) authorize() error {
	denied := c.denied()
	what := c.route.counts()
	if denied != nil {
		what = leaderboard.Charge{leaderboard.QuotaKindRequests: what[leaderboard.QuotaKindRequests]}
	}
	if err := c.charge(what); err != nil {
		return err
	}
	return denied
}

// denied returns why the request's key may not use the route. It only looks at the key.
func (c *call) denied() error {
	if c.route.access == guard.AccessAnyone {
		return nil
	}
	if c.player != nil {
		return deniedPlayer(c)
	}
	if err := c.route.access.Allow(c.scope); err != nil || c.key == nil || !c.key.Limited() {
		return err
	}
	switch {
	case c.route.access == guard.AccessReaders && (c.route.someBoards || c.route.has("board")):
		return nil // mayRead decides which boards: public ones are for anyone
	case c.route.has("board"):
		return c.mayName(c.pathValue("board"))
	case !c.route.someBoards:
		return guard.ErrSomeBoards(c.key)
	}
	return nil
}

// deniedPlayer returns why the request's player may not use the route.
func deniedPlayer(c *call) error {
	need := c.route.access.Needs()
	if need == "" || c.route.players == playersMaySubmit || c.readsFriends() {
		return nil
	}
	return wire.Reject(wire.CodeForbidden, fmt.Sprintf("This needs a key with scope %s. A player's token reads what anyone may and what is the player's own, and submits for the player.", need))
}

// readsFriends reports whether the request is a player's for the own friends. It decides by the path and the token alone.
func (c *call) readsFriends() bool {
	return c.route.players == playersMayReadFriends && c.pathValue("member") == c.player.Member && c.player.Covers(c.pathValue("board"))
}

// mayFilter is mayName for the parameter board of lists, which are about all boards without it.
func mayFilter(c *call) error {
	if c.key == nil || !c.key.Limited() || !slices.Contains(c.route.params, "board") {
		return nil
	}
	name, _ := c.query.Get("board")
	if name == "" {
		return guard.ErrSomeBoards(c.key)
	}
	return c.mayName(name, wire.InputError{Parameter: "board", Detail: guard.NotCovered})
}

// charge charges the caller against quotas.
func (c *call) charge(what leaderboard.Charge) error {
	return c.shared.guard.Charge(c.w, c.r, guard.Bearer{Key: c.key, Player: c.player}, what)
}

// mayRead lets any caller read a public board, callers with a key that covers it a private one, and a player the own standing
// there where the board's rule says so. For others a private
// board does not exist: they get the answer for a name that no board has. Only mayRead decides that.
func (c *call) mayRead(b *leaderboard.Board) error {
	if b.Rules.Visibility == leaderboard.VisibilityPublic || c.key != nil && c.key.Covers(b.Name) || readsOwn(c, b) {
		return nil
	}
	return leaderboard.ErrBoardNotFound
}

// readsOwn reports whether the request is a player's for the own standing on a board that shows it to players.
func readsOwn(c *call, b *leaderboard.Board) bool {
	if c.player == nil || c.route.players != playersMayReadOwn || !b.Rules.PlayersRead() || !c.player.Covers(b.Name) {
		return false
	}
	member := c.pathValue("member")
	if c.route.stream {
		member, _ = c.query.Get("member")
	}
	return member == c.player.Member
}
