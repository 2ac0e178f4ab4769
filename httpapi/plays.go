package httpapi

import (
	"context"
	"time"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Plays finds the plays that players submit with.
type Plays interface {
	// PlayOf returns the play of entry i of a submission to a board, by its token; the caller is the request's player. Errors: a
	// *leaderboard.RuleError, ErrUnavailable, and too-many-attempts if the address has no attempts left.
	PlayOf(c *Call, board, token string, i int) (leaderboard.PlayID, error)
}

// noPlays are the plays of a server without the feature.
type noPlays struct{}

func (noPlays) PlayOf(*Call, string, string, int) (id leaderboard.PlayID, err error) {
	return id, &leaderboard.RuleError{Code: leaderboard.CodeInvalidPlay, Detail: "this server knows no plays"}
}

// noPlayers is Players of a server without players.
type noPlayers struct{}

func (noPlayers) Find(context.Context, string, time.Time, func() error) (*leaderboard.Player, error) {
	return nil, &leaderboard.TokenError{Detail: "This server knows no players."}
}

// ErrNoPlays refuses a play on a board whose players submit without plays.
var ErrNoPlays error = &leaderboard.RuleError{Code: leaderboard.CodeInvalidPlay, Detail: "the board wants no plays: its rule players.submit says so"}

// ForPlayers returns a board to which the request's player may submit. A private board that players may not read is not found.
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
