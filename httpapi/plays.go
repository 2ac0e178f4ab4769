package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Plays begins plays.
type Plays interface {
	// BeginPlay begins a play of a member on a board, which ends the one before it.
	BeginPlay(ctx context.Context, board leaderboard.Board, member string) (leaderboard.Play, error)
}

// playTokens makes and finds the tokens of plays as Players does.
type playTokens interface {
	MintPlay(ctx context.Context, play leaderboard.Play, now time.Time) (string, error)
	FindPlay(ctx context.Context, token string, now time.Time, admit func() error) (leaderboard.Play, error)
}

// playHandlers begin plays.
type playHandlers struct {
	Resolver
	plays   Plays
	players playTokens
}

// errNoPlays refuses a play on a board whose players submit without.
var errNoPlays error = &leaderboard.RuleError{Code: leaderboard.CodeInvalidPlay, Detail: "the board wants no plays: its rule players.submit says so"}

// playJSON is a play that has begun.
type playJSON struct {
	Play         string             `json:"play"`
	Board        string             `json:"board"`
	Member       string             `json:"member"`
	StartedTime  leaderboard.Micros `json:"started_time"`
	SubmitAfter  leaderboard.Micros `json:"submit_after"`
	SubmitBefore leaderboard.Micros `json:"submit_before"`
}

// begin answers POST …/plays: 201 with a play of the player, which ends the one before it.
func (h *playHandlers) begin(c *Call) error {
	name, err := c.Params.BoardName()
	if err != nil {
		return err
	}
	if err := c.Decode(&struct{}{}, true, nil); err != nil {
		return err
	}
	b, err := h.forPlayers(c, name)
	if err != nil {
		return err
	}
	if !b.Rules.NeedsPlay() {
		return errNoPlays
	}
	play, err := h.plays.BeginPlay(c.Ctx, b, c.Player.Member)
	if err != nil {
		return wire.WriteError(err)
	}
	token, err := h.players.MintPlay(c.Ctx, play, time.Now())
	if err != nil {
		return err
	}
	least, most := b.Rules.Players.Times()
	at := func(d time.Duration) leaderboard.Micros {
		return play.StartedTime + leaderboard.Micros(d/time.Microsecond)
	}
	body, err := json.Marshal(playJSON{token, name, play.Member, play.StartedTime, at(least), at(most)}, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	c.NoStore()
	return c.Send(http.StatusCreated, wire.TypeJSON, body)
}

// forPlayers returns a board to which the request's player may submit. A private one that shows players nothing is not there.
func (r Resolver) forPlayers(c *Call, name string) (leaderboard.Board, error) {
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

// playOf returns the play that entry i of a submission came with, by its token. One that is not of this service is an attempt of the
// address, as a token that is not good is, unless it was good once.
func playOf(c *Call, players playTokens, board, token string, i int) (leaderboard.PlayID, error) {
	play, err := players.FindPlay(c.Ctx, token, c.Start, c.MayAttempt)
	refused, ok := errors.AsType[*leaderboard.TokenError](err)
	switch {
	case ok:
	case err != nil:
		return play.ID, err
	case play.Board != board || play.Member != c.Player.Member:
		refused = &leaderboard.TokenError{Detail: "The play is another player's, or on another board."}
	default:
		return play.ID, nil
	}
	at := leaderboard.FieldError{Pointer: fmt.Sprintf("/entries/%d/play", i), Detail: refused.Detail}
	err = &leaderboard.RuleError{Code: leaderboard.CodeInvalidPlay, Detail: "that is no play of the player on this board", Fields: []leaderboard.FieldError{at}}
	if ok && !refused.Signed {
		err = c.Guessed(err)
	}
	return play.ID, err
}
