package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leaderboard/leaderboard"
)

// The errors of requests that are refused: they change nothing.

var errClosed = fmt.Errorf("%w: the store is closed", leaderboard.ErrUnavailable)

// errLocked refuses a request that would wait for a board that another session keeps locked.
func errLocked(board string) error {
	return fmt.Errorf("%w: board %q has been locked in the database for too long", leaderboard.ErrUnavailable, board)
}

func errNoConnection(wait time.Duration) error {
	return &leaderboard.OverloadError{Wait: wait, Detail: "too many boards wait for a connection"}
}

func errBusy(wait time.Duration) error {
	return &leaderboard.OverloadError{Wait: wait, Detail: "too many entries wait for the board"}
}

func errMemory(wait time.Duration) error {
	return &leaderboard.OverloadError{Wait: wait, Detail: "requests that wait take too much memory"}
}

// errLate refuses a request that was admitted and has waited for too long.
func errLate(wait time.Duration) error {
	return &leaderboard.OverloadError{Wait: wait, Detail: "the request could not be sent in time"}
}

// errDeparted is for a caller whose time was up, or that has left, before the request was carried out. sent: a batch had it
// already and waited for the database.
func errDeparted(cause error, sent bool, wait time.Duration) error {
	switch {
	case !errors.Is(cause, context.DeadlineExceeded):
		return fmt.Errorf("not written, nothing was done: %w", cause)
	case sent:
		return fmt.Errorf("%w: the time of the request was up while it waited for the database", leaderboard.ErrUnavailable)
	default:
		return &leaderboard.OverloadError{Wait: wait, Detail: "the time of the request was up before it was sent"}
	}
}
