package features

import (
	"errors"

	"leaderboard/leaderboard"
)

// Outcome returns the label of an error in metrics: done, unknown, unavailable or failed.
func Outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, leaderboard.ErrOutcomeUnknown):
		return "unknown"
	case errors.Is(err, leaderboard.ErrUnavailable):
		return "unavailable"
	default:
		return "failed"
	}
}
