package httpapi

import (
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// credentials are what a request comes with: a key, a player's token, or neither.
type credentials struct {
	key    *leaderboard.Key    // nil without one
	player *leaderboard.Player // who calls by a token, nil without one
	scope  leaderboard.Scope   // of the key, "" without one
	caller leaderboard.Caller
}

// covers reports whether the request's key or token is for a board; a request without either is not limited to some.
func (who *credentials) covers(board string) bool {
	return (who.key == nil || who.key.Covers(board)) && (who.player == nil || who.player.Covers(board))
}

// mayName refuses the name of a board that the request's key is not for, wherever a request that needs a key names one: to
// make the board, to change it, to write to it, as a filter, as a source. It decides by the name and the key alone, so neither
// the answer nor its time tells whether the board exists. mayRead decides about reading. at is where the name stands, if not
// in the path.
func (who *credentials) mayName(board string, at ...wire.InputError) error {
	if who.covers(board) {
		return nil
	}
	return guard.ErrNotCovered(who.key, at...)
}

// seesSources reports whether the caller is shown all sources of a board, because it may change its rules.
func (who *credentials) seesSources(board string) bool {
	return who.scope.Includes(leaderboard.ScopeAdmin) && who.key.Covers(board)
}

// maySee returns ErrEndpointNotFound for an endpoint that gets events of boards that the key is not for.
func (who *credentials) maySee(e *leaderboard.Endpoint) error {
	if !who.key.CoversAll(e.Boards) {
		return leaderboard.ErrEndpointNotFound
	}
	return nil
}
