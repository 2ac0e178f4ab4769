package mysql

import (
	"strconv"
	"time"
)

// session is the purpose of a connection. It decides how long the server lets it be silent: a session that ends gives up
// its locks, so a process that is frozen, or cut off, soon no longer blocks others.
type session int

const (
	sessionReader   session = iota
	sessionWriter           // locks rows, and waits for others' locks for a moment only
	sessionLongWait         // locks rows, and waits for others' locks for longer
	sessionLocks            // holds named locks, see Locks
	sessionWatch            // reads the data that show the age of answers
)

// TidyTimeout bounds the cleaning up after a failure.
const TidyTimeout = 5 * time.Second

// shortLockWait is how long writers wait for a lock at first.
const shortLockWait = time.Second

// locksRows reports whether the session is a writer's.
func (s session) locksRows() bool { return s == sessionWriter || s == sessionLongWait }

const (
	// writerIdle is how long a session that locks rows may be silent, in a transaction or between two.
	writerIdle = 5 * time.Second
	// writerRest is how long a connection for writes stays in its pool unused: less than the server lets it, by more
	// than the second that the pool may be late.
	writerRest = 3 * time.Second
	// readerRest lets the other pools shrink after a burst.
	readerRest = time.Minute
	// locksIdle is how long the session of Locks may be silent. With the second after which other processes ask again it is
	// less than the 15 seconds within which they take over.
	locksIdle = 12 * time.Second
	// locksPing is the time between two pings of it.
	locksPing = 4 * time.Second
	// metadataWait is how long, in seconds, a statement waits for a change of its table, and the change for all other
	// statements: later statements wait after it.
	metadataWait = "3"
)

// idle returns how long the server waits for a session, 0 for the configured time.
func (s session) idle() time.Duration {
	switch s {
	case sessionWriter, sessionLongWait:
		return writerIdle
	case sessionLocks:
		return locksIdle
	default:
		return 0
	}
}

// rest returns how long a connection stays in its pool unused.
func (s session) rest() time.Duration {
	if s.locksRows() {
		return writerRest
	}
	return readerRest
}

// addTo adds the variables that all dialects have. Silence in the middle of a packet counts as silence too.
func (s session) addTo(params map[string]string) {
	if s == sessionReader || s == sessionWatch {
		return
	}
	if s == sessionWriter {
		params["innodb_lock_wait_timeout"] = strconv.Itoa(int(shortLockWait / time.Second))
	}
	idle := strconv.Itoa(int(s.idle() / time.Second))
	for _, name := range []string{"wait_timeout", "net_read_timeout", "net_write_timeout"} {
		params[name] = idle
	}
}

// transactions returns the statement that sets the same limit for transactions, in dialects with a separate limit for
// transactions; otherwise "".
func (s session) transactions(dialect int32) string {
	if !s.locksRows() || dialect != dialectMariaDB {
		return ""
	}
	idle := strconv.Itoa(int(s.idle() / time.Second))
	// The second setting does not apply to a transaction that has only read FOR UPDATE.
	return "SET SESSION idle_transaction_timeout = " + idle + ", idle_write_transaction_timeout = " + idle
}
