package db

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"leaderboard"
)

// Commit ends a transaction. Without an answer to COMMIT, or with one that does not decide it, the outcome is unknown.
func Commit(tx interface{ Commit() error }) error { return commitOutcome(tx.Commit()) }

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
