package plays

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Beginner begins plays.
type Beginner interface {
	// BeginPlay begins a play of a member on a board, which ends the previous one.
	BeginPlay(ctx context.Context, board leaderboard.Board, member string) (leaderboard.Play, error)
}

// Tokens makes the tokens of plays, and finds plays by them.
type Tokens interface {
	// MintPlay returns the token of a play.
	MintPlay(ctx context.Context, play leaderboard.Play, now time.Time) (string, error)
	// FindPlay returns the play of a token. It calls admit before it verifies an unknown token. Errors:
	// *leaderboard.TokenError, ErrUnavailable, the error of admit.
	FindPlay(ctx context.Context, token string, now time.Time, admit func() error) (leaderboard.Play, error)
}

// Handlers begin plays, and find the plays of submissions.
type Handlers struct {
	httpapi.Resolver
	plays  Beginner
	tokens Tokens
}

// NewHandlers returns the handlers of plays.
func NewHandlers(find httpapi.Resolver, plays Beginner, tokens Tokens) *Handlers {
	return &Handlers{find, plays, tokens}
}

// Routes returns the routes about plays.
func (h *Handlers) Routes() []httpapi.Route {
	return []httpapi.Route{httpapi.On("beginPlay", h.begin)}
}

// begin answers POST …/plays: 201 with a play of the player, which ends the previous one.
func (h *Handlers) begin(c *httpapi.Call) error {
	name, err := c.Params.BoardName()
	if err != nil {
		return err
	}
	if err := c.Decode(&struct{}{}, true, nil); err != nil {
		return err
	}
	b, err := h.ForPlayers(c, name)
	if err != nil {
		return err
	}
	if !b.Rules.NeedsPlay() {
		return httpapi.ErrNoPlays
	}
	play, err := h.plays.BeginPlay(c.Ctx, b, c.Player.Member)
	if err != nil {
		return wire.WriteError(err)
	}
	token, err := h.tokens.MintPlay(c.Ctx, play, time.Now())
	if err != nil {
		return err
	}
	least, most := b.Rules.Players.Times()
	began := play.StartedTime.Time()
	c.NoStore()
	return c.SendJSON(http.StatusCreated, api.Play{
		Play: token, Board: name, Member: play.Member, StartedTime: began, SubmitAfter: began.Add(least), SubmitBefore: began.Add(most),
	})
}

// PlayOf returns the play of entry i of a submission, by its token. A play that this service did not make counts as an
// attempt of the address, like an invalid token, unless it was valid once.
func (h *Handlers) PlayOf(c *httpapi.Call, board, token string, i int) (leaderboard.PlayID, error) {
	play, err := h.tokens.FindPlay(c.Ctx, token, c.Start, c.MayAttempt)
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
