package storetest

import (
	"context"

	"leaderboard/features/review"
	"leaderboard/leaderboard"
)

// desk is where admins decide about held submissions.
type desk interface {
	DecideHeld(ctx context.Context, d leaderboard.HeldDecision) (leaderboard.Held, error)
}

// deskOf returns the desk of a Database: the Model is its own.
func deskOf(d Database) desk {
	if own, ok := d.(desk); ok {
		return own
	}
	return review.Desk{Finder: d, Writer: d.(review.Writer)}
}
