package mysql

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"

	gomysql "github.com/go-sql-driver/mysql"

	"leaderboard/leaderboard"
)

// Numbers of server errors that the store knows what to do about.
const (
	errWrite            = 3 // a file
	errMemory           = 5
	errChanged          = 1020 // MariaDB: another transaction wrote the row after the snapshot
	errDiskFull         = 1021
	errFileWrite        = 1026
	errSortAborted      = 1028
	errEngine           = 1030 // the storage engine says no, and why as a number of the system
	errTableReadOnly    = 1036 // innodb_force_recovery
	errOutOfMemory      = 1037
	errSortMemory       = 1038
	errTooManyConns     = 1040
	errOutOfResources   = 1041
	errBadHost          = 1042
	errHandshake        = 1043
	errDBAccessDenied   = 1044
	errAccessDenied     = 1045
	errNotReady         = 1047 // Galera: the node is without a majority, or not in step; nothing was carried out
	errNoDatabase       = 1049
	errServerShutdown   = 1053
	errDuplicate        = 1062
	errNormalShutdown   = 1077
	errShutdownComplete = 1079
	errTableFull        = 1114 // InnoDB also returns it for a full disk
	errHostBlocked      = 1129 // max_connect_errors
	errHostDenied       = 1130
	errNoThread         = 1135
	errTableDenied      = 1142
	errColumnDenied     = 1143
	errNoTable          = 1146
	errAborting         = 1152
	errPacketTooLarge   = 1153
	errPacketOrder      = 1156 // the first of six that say that a packet was lost on its way
	errNetWriteTimeout  = 1161 // the last of them
	errCommit           = 1180
	errNewAborting      = 1184
	errUnknownVariable  = 1193
	errTooManyUserConns = 1203
	errLockWait         = 1205
	errLockTableFull    = 1206
	errDeadlock         = 1213
	errUserLimit        = 1226
	errNeedsPrivilege   = 1227
	errReadOnlyOption   = 1290
	errInterrupted      = 1317
	errTableChanged     = 1412 // by DDL, after the snapshot
	errNoPassword       = 1698
	errReadOnlyTx       = 1792
	errMustChange       = 1820 // the password
	errMalformedPacket  = 1835
	errReadOnlyMode     = 1836
	errMustChangeLogin  = 1862 // the password
	errKilled           = 1927 // MariaDB
	errStatementTime    = 1969 // MariaDB
	errClientFirst      = 2000 // a proxy passes on errors from its connection to the server
	errClientLast       = 2999
	errQueryTimeout     = 3024
	errOffline          = 3032
	errHook             = 3100 // group replication: the member cannot reach the others, or a transaction is too large for them
	errRolledBack       = 3101 // group replication, at COMMIT
	errAccountLocked    = 3118
	errNotAvailable     = 3168
	errSessionKilled    = 3169
	errLockNoWait       = 3572
	errIdleTooLong      = 4031
	errProxyWait        = 9001 // ProxySQL waited too long for a connection to a server
)

// ErrAway is a server that does not answer: a connection is lost, or cannot be made. Nothing is sent to a server that is
// known not to answer.
var ErrAway = fmt.Errorf("%w: MySQL does not answer", leaderboard.ErrUnavailable)

// meaning is the meaning of an error number for the statement and its transaction.
type meaning struct {
	sentinel error // the error that callers get
	retry    bool  // the whole transaction may be repeated at once
	// decided: when COMMIT itself fails this way the transaction is rolled back for sure
	decided bool
}

// meaningOf returns the table of error numbers. Numbers that are not in it are faults of this program or of the schema.
func meaningOf(number uint16) (meaning, bool) {
	switch number {
	case errDeadlock, errRolledBack, errIdleTooLong: // the last one instead of an answer: the session had ended before
		return meaning{leaderboard.ErrUnavailable, true, true}, true
	case errLockWait, errChanged, errTableChanged:
		return meaning{leaderboard.ErrUnavailable, true, false}, true
	case errReadOnlyOption, errReadOnlyMode, errReadOnlyTx, errNotReady:
		return meaning{leaderboard.ErrUnavailable, false, true}, true
	case errQueryTimeout, errStatementTime:
		return meaning{leaderboard.ErrOverloaded, false, false}, true
	}
	if isDeniedNumber(number) || endsSession(number) || isExhausted(number) || number == errOffline || number == errHook ||
		number == errCommit || number == errNoTable || number == errTableReadOnly {
		return meaning{leaderboard.ErrUnavailable, false, false}, true
	}
	return meaning{}, false
}

// endsSession reports whether the server, or a proxy before it, says that it ends the session or the statement, or begins no
// session.
func endsSession(number uint16) bool {
	switch number {
	case errServerShutdown, errNormalShutdown, errShutdownComplete, errAborting, errNewAborting, errInterrupted, errSortAborted,
		errKilled, errSessionKilled, errNotAvailable, errBadHost, errHandshake, errHostBlocked, errMalformedPacket, errProxyWait:
		return true
	}
	return errPacketOrder <= number && number <= errNetWriteTimeout || errClientFirst <= number && number <= errClientLast
}

// isExhausted reports whether the server lacks what the statement needs: sessions, memory, disk, room in a packet.
func isExhausted(number uint16) bool {
	switch number {
	case errTooManyConns, errTooManyUserConns, errUserLimit, errOutOfResources, errNoThread, errMemory, errOutOfMemory,
		errSortMemory, errLockTableFull, errEngine, errPacketTooLarge, errWrite, errDiskFull, errFileWrite, errTableFull:
		return true
	}
	return false
}

// isDeniedNumber reports whether the server refuses the account, or its statement.
func isDeniedNumber(number uint16) bool {
	switch number {
	case errAccessDenied, errDBAccessDenied, errTableDenied, errColumnDenied, errNeedsPrivilege, errNoDatabase, errHostDenied,
		errNoPassword, errMustChange, errMustChangeLogin, errAccountLocked:
		return true
	}
	return false
}

// isUnfit reports whether the driver found that server and DSN do not fit each other: no session can begin until an operator
// changes one of them.
func isUnfit(err error) bool {
	for _, unfit := range []error{
		gomysql.ErrNoTLS, gomysql.ErrOldProtocol, gomysql.ErrUnknownPlugin, gomysql.ErrCleartextPassword, gomysql.ErrNativePassword, gomysql.ErrOldPassword,
	} {
		if errors.Is(err, unfit) {
			return true
		}
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted
}

// errNoSession is the error of a connection on which no session began, for any reason: the server was ending, for instance.
var errNoSession = errors.New("store: no session began")

// lost reports whether err means that the connection is lost, or was never made.
func lost(err error) bool {
	for _, gone := range []error{
		driver.ErrBadConn, sql.ErrConnDone, io.EOF, io.ErrUnexpectedEOF, io.ErrShortWrite, context.DeadlineExceeded,
		gomysql.ErrInvalidConn, gomysql.ErrMalformPkt, gomysql.ErrPktSync, gomysql.ErrPktSyncMul, errNoSession,
		gomysql.ErrBusyBuffer, // the server's unasked message: why it ends the session
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	var netErr net.Error
	return errors.As(err, &netErr)
}

func number(err error) uint16 {
	var my *gomysql.MySQLError
	if errors.As(err, &my) {
		return my.Number
	}
	return 0
}

// Wrap adds the action to an error that is translated already.
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
	if lost(err) || errors.Is(err, context.Canceled) || errors.Is(err, sql.ErrTxDone) {
		return fmt.Errorf("store: %s: %w: %w", doing, ErrAway, err)
	}
	if isUnfit(err) || errors.Is(err, gomysql.ErrPktTooLarge) {
		return fmt.Errorf("store: %s: %w: %w", doing, leaderboard.ErrUnavailable, err)
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

// ConnectionLost reports whether err is not an answer of the server, because the connection is lost or was never made.
func ConnectionLost(err error) bool { return number(err) == 0 && lost(err) }
