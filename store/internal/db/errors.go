package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/go-sql-driver/mysql"

	"leaderboard"
)

// Numbers of server errors that the store knows what to do about.
const (
	errWrite            = 3 // a file
	errDiskFull         = 1021
	errFileWrite        = 1026
	errTooManyConns     = 1040
	errServerShutdown   = 1053
	errDuplicate        = 1062
	errCommit           = 1180
	errTableFull        = 1114 // InnoDB says so of the disk, too
	errAccessDenied     = 1045
	errDBAccessDenied   = 1044
	errTableDenied      = 1142
	errColumnDenied     = 1143
	errNeedsPrivilege   = 1227
	errNotReady         = 1047 // Galera: the node is without a majority, or not in step; nothing was carried out
	errNoDatabase       = 1049
	errNoTable          = 1146
	errUnknownVariable  = 1193
	errTooManyUserConns = 1203
	errLockWait         = 1205
	errDeadlock         = 1213
	errUserLimit        = 1226
	errReadOnlyOption   = 1290
	errInterrupted      = 1317
	errReadOnlyTx       = 1792
	errReadOnlyMode     = 1836
	errKilled           = 1927 // MariaDB
	errStatementTime    = 1969 // MariaDB
	errQueryTimeout     = 3024
	errLockNoWait       = 3572
	errHook             = 3100 // group replication: the member cannot reach the others, or a transaction is too large for them
	errRolledBack       = 3101 // group replication, at COMMIT
	errOffline          = 3032
	errIdleTooLong      = 4031
)

// ErrAway is a server that does not answer: a connection is lost, or cannot be made. Nothing is sent to a server that is
// known not to answer.
var ErrAway = fmt.Errorf("%w: MySQL does not answer", leaderboard.ErrUnavailable)

// meaning is what an error number says about the statement and its transaction.
type meaning struct {
	sentinel error // what callers get
	retry    bool  // the whole transaction may be repeated at once
	// decided: when COMMIT itself fails this way the transaction is rolled back for sure
	decided bool
}

// meaningOf returns the table of error numbers. Numbers that are not in it are faults of this program or of the schema.
func meaningOf(number uint16) (meaning, bool) {
	switch number {
	case errDeadlock, errRolledBack, errIdleTooLong: // the last one instead of an answer: the session had ended before
		return meaning{leaderboard.ErrUnavailable, true, true}, true
	case errLockWait:
		return meaning{leaderboard.ErrUnavailable, true, false}, true
	case errReadOnlyOption, errReadOnlyMode, errReadOnlyTx, errNotReady:
		return meaning{leaderboard.ErrUnavailable, false, true}, true
	case errTooManyConns, errTooManyUserConns, errUserLimit, errServerShutdown, errKilled, errInterrupted, errOffline,
		errAccessDenied, errDBAccessDenied, errNoDatabase, errNoTable, errWrite, errDiskFull, errFileWrite, errTableFull,
		errCommit, errHook:
		return meaning{leaderboard.ErrUnavailable, false, false}, true
	case errQueryTimeout, errStatementTime:
		return meaning{leaderboard.ErrOverloaded, false, false}, true
	}
	return meaning{}, false
}

// lost reports whether err means that the connection is gone, or never was.
func lost(err error) bool {
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, mysql.ErrMalformPkt) || errors.Is(err, mysql.ErrPktSync) {
		return true
	}
	var netErr net.Error
	return errors.As(err, &netErr)
}

func number(err error) uint16 {
	var my *mysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

// Wrap adds what was being done to an error that is translated already.
func Wrap(doing string, err error) error { return fmt.Errorf("store: %s: %w", doing, err) }

// Translate gives an error of the driver its meaning. When ctx, the caller's own, has ended, the error wraps its cause.
func Translate(ctx context.Context, doing string, err error) error {
	if err == nil {
		return nil
	}
	if isSentinel(err) {
		return Wrap(doing, err)
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("store: %s: %w (%w)", doing, cause, err)
	}
	if m, ok := meaningOf(number(err)); ok {
		return fmt.Errorf("store: %s: %w: %w", doing, m.sentinel, err)
	}
	if lost(err) || errors.Is(err, context.Canceled) {
		return fmt.Errorf("store: %s: %w: %w", doing, ErrAway, err)
	}
	return Wrap(doing, err)
}

// isSentinel reports whether err has its meaning already.
func isSentinel(err error) bool {
	_, ok := errors.AsType[*leaderboard.Error](err)
	return ok
}

// Retryable reports whether the server rolled a transaction back, or ended a wait for a lock, so that repeating all of it
// at once may succeed. It is false for a COMMIT whose outcome is unknown, which may have been done.
func Retryable(err error) bool {
	m, _ := meaningOf(number(err))
	return m.retry && !errors.Is(err, leaderboard.ErrOutcomeUnknown)
}

// RetryableOrDuplicate is Retryable, and true for two transactions that add a row with the same key at once: repeated, the
// second finds the row of the first.
func RetryableOrDuplicate(err error) bool { return Retryable(err) || IsDuplicate(err) }

// IsDuplicate reports whether a row with the same key exists already.
func IsDuplicate(err error) bool { return number(err) == errDuplicate }

// IsLockWait reports whether a wait for a lock took too long.
func IsLockWait(err error) bool { return number(err) == errLockWait }

// IsLocked reports whether a statement that does not wait for locks found one.
func IsLocked(err error) bool { return number(err) == errLockNoWait || IsLockWait(err) }

// IsOverLimit reports whether the server ended a statement because of its time limit.
func IsOverLimit(err error) bool {
	return number(err) == errQueryTimeout || number(err) == errStatementTime
}

// IsDiskFull reports whether the server could not write to its disk.
func IsDiskFull(err error) bool {
	switch number(err) {
	case errWrite, errDiskFull, errFileWrite, errTableFull:
		return true
	}
	return false
}

// ConnectionLost reports whether err is no answer of the server: the connection is gone, or never was.
func ConnectionLost(err error) bool { return number(err) == 0 && lost(err) }
