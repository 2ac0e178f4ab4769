package httpapi

import (
	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// credentials are the credentials of a request: a key, a player's token, or neither.
type credentials struct {
	Key    *leaderboard.Key    // nil without a key
	Player *leaderboard.Player // the player of the token, nil without a token
	Scope  leaderboard.Scope   // of the key, "" without a key
	Caller leaderboard.Caller
}

// Covers reports whether the request's key or token covers a board; a request without credentials is not limited to some boards.
func (who *credentials) Covers(board string) bool {
	return (who.Key == nil || who.Key.Covers(board)) && (who.Player == nil || who.Player.Covers(board))
}

// mayName refuses the name of a board that the request's key does not cover, wherever a request that needs a key names a board: to
// make the board, to change it, to write to it, as a filter, as a source. It decides by the name and the key alone, so neither the
// answer nor its time shows whether the board exists. mayRead decides about reading. at is the place of the name, if that is not
// the path.
func (who *credentials) mayName(board string, at ...wire.InputError) error {
	if who.Covers(board) {
		return nil
	}
	return guard.ErrNotCovered(who.Key, at...)
}

// seesSources reports whether the caller is shown all sources of a board, because it may change its rules.
func (who *credentials) seesSources(board string) bool {
	return who.Scope.Includes(leaderboard.ScopeAdmin) && who.Key.Covers(board)
}
