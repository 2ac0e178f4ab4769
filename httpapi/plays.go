package httpapi

import (
	"context"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Plays finds the plays that players submit with.
type Plays interface {
	// PlayOf returns the play that entry i of a submission of the request's player to a board came with, by its token. Errors: a
	// *leaderboard.RuleError, ErrUnavailable, and when the address has no attempts left too-many-attempts.
	PlayOf(c *Call, board, token string, i int) (leaderboard.PlayID, error)
}

// noPlays are the plays of a server without the feature.
type noPlays struct{}

func (noPlays) PlayOf(*Call, string, string, int) (id leaderboard.PlayID, err error) {
	return id, &leaderboard.RuleError{Code: leaderboard.CodeInvalidPlay, Detail: "this server knows no plays"}
}

// noPlayers is Players of a server that has none.
type noPlayers struct{}

func (noPlayers) Find(context.Context, string, time.Time, func() error) (*leaderboard.Player, error) {
	return nil, &leaderboard.TokenError{Detail: "This server knows no players."}
}

// ErrNoPlays refuses a play on a board whose players submit without.
var ErrNoPlays error = &leaderboard.RuleError{Code: leaderboard.CodeInvalidPlay, Detail: "the board wants no plays: its rule players.submit says so"}

// ForPlayers returns a board to which the request's player may submit. A private one that shows players nothing is not there.
func (r Resolver) ForPlayers(c *Call, name string) (leaderboard.Board, error) {
	b, err := r.Catalog.Board(c.Ctx, name)
	if err != nil {
		return b, err
	}
	covers := c.Player.Covers(name)
	switch {
	case covers && b.Rules.PlayersSubmit():
		return b, nil
	case b.Rules.Visibility != leaderboard.VisibilityPublic && !(covers && b.Rules.PlayersRead()):
		return b, leaderboard.ErrBoardNotFound
	case !covers:
		return b, wire.Reject(wire.CodeForbidden, "The token is not for this board.")
	}
	return b, wire.Reject(wire.CodeForbidden, "Players do not submit to this board: its rule players.submit says so.")
}
