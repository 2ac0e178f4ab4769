package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"leaderboard"
)

// Commit ends a transaction. Without an answer to COMMIT until ctx ends, or with one that does not decide it, the outcome
// is unknown.
func (d *DB) Commit(ctx context.Context, tx interface{ Commit() error }) error {
	if err := ctx.Err(); err != nil {
		return err // nothing was sent
	}
	answer := make(chan error, 1)
	d.commits.Go(func() { answer <- tx.Commit() }) // which only the limit of the connection bounds
	select {
	case err := <-answer:
		return commitOutcome(err)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
	}
}

// NotDone returns the error of a transaction that was not committed: when the time of ctx was
// up, whoever asked for it is told that nothing was done.
func NotDone(ctx context.Context, err error) error {
	if err == nil || isSentinel(err) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: its time was up before it was committed: %w", leaderboard.ErrUnavailable, err)
}

// commitOutcome returns what the result of sending COMMIT means.
func commitOutcome(err error) error {
	if err == nil || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrTxDone) {
		return err // the driver returns ErrBadConn only when it has sent nothing
	}
	if m, ok := meaningOf(number(err)); ok && m.decided {
		return err
	}
	return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, err)
}
