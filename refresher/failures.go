package refresher

import (
	"context"
	"errors"
	"fmt"
	"net"

	"leaderboard/leaderboard"
)

// ErrClosed means that the server stops.
var ErrClosed = fmt.Errorf("%w: the server stops", leaderboard.ErrUnavailable)

var (
	errLeaseLost = errors.New("refresher: the lease was lost, another process may build")
	errEnded     = errors.New("refresher: this server was silent for so long that another one ended the run")
	errPanic     = errors.New("refresher: panic")
	errNoRedis   = errors.New("refresher: there are no copies without Redis")
	errBusy      = fmt.Errorf("%w: this process builds as many copies for readers as it may", leaderboard.ErrOverloaded)
)

// refusal is an error that Redis answered, by the method with which its client marks it.
type refusal interface {
	error
	RedisError()
}

// reasonOf returns the cause of a failure in words that may be shown to users. ctx is the run's context.
func reasonOf(ctx context.Context, err error) string {
	var network net.Error
	var refused refusal
	switch {
	case errors.Is(err, errPanic):
		return "internal error, see the log"
	case errors.Is(err, errNoRedis):
		return "this server runs without Redis"
	case errors.Is(err, errLeaseLost):
		return "the lease was lost, another process may have built"
	case errors.Is(ctx.Err(), context.Canceled):
		return "the server was stopped"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return "it took too long"
	case errors.Is(err, leaderboard.ErrPeriodNotFound):
		return "the period no longer exists"
	case errors.As(err, &refused):
		return "Redis refuses: " + refused.Error()
	case errors.Is(err, leaderboard.ErrUnavailable):
		return "MySQL does not answer"
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	case errors.As(err, &network):
		return "Redis or MySQL does not answer"
	}
	for _, known := range []error{
		leaderboard.ErrBoardNotFound, leaderboard.ErrNotDerived, leaderboard.ErrUnknownRule, leaderboard.ErrOverloaded, leaderboard.ErrOutcomeUnknown,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "failed, see the log"
}
