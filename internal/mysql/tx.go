package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jmoiron/sqlx"

	"leaderboard/leaderboard"
)

// Attempts bounds how often a transaction is tried that the server rolls back because of other transactions.
const Attempts = 3

// Retry calls fn until it succeeds, or fails with an error for which again is false, at most Attempts times.
func Retry(again func(error) bool, fn func() error) error {
	for attempt := 1; ; attempt++ {
		if err := fn(); err == nil || attempt == Attempts || !again(err) {
			return err
		}
	}
}

// InTx runs fn in a transaction that locks no board, and commits it. It is repeated when the server rolled it back because
// of other transactions.
func (d *DB) InTx(ctx context.Context, fn func(*sqlx.Tx) error) error {
	return NotDone(ctx, Retry(RetryableOrDuplicate, func() error { return d.once(ctx, d.Others, fn) }))
}

// Locking runs fn in a transaction that may lock a board, and commits it. See Begin for longWait.
func (d *DB) Locking(ctx context.Context, longWait bool, fn func(*sqlx.Tx) error) error {
	return d.once(ctx, d.writers(longWait), fn)
}

func (d *DB) once(ctx context.Context, pool *sqlx.DB, fn func(*sqlx.Tx) error) error {
	tx, err := pool.BeginTxx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	if err = d.Commit(ctx, tx); err == nil {
		d.Committed()
	}
	return err
}

// NextVersion gives a table the next version in a transaction. The row of the version is locked until that ends.
func (d *DB) NextVersion(ctx context.Context, tx *sqlx.Tx, table string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO table_versions (name, version, changed_at) VALUES (?, 1, "+d.Now()+")"+
		" ON DUPLICATE KEY UPDATE version = version + 1, changed_at = VALUES(changed_at)", []byte(table))
	return err
}

// Tx is a transaction on a separate connection, driven by plain statements so that it is certain which of them were sent.
type Tx struct {
	Conn  *sql.Conn
	begun bool
	over  bool // committed: there is nothing to roll back
}

// Begin takes a connection for a transaction, which begins with its first packet: see Opening. With longWait the
// transaction waits for a lock for Config.LockWait, otherwise for a second; there are few connections for the former.
func (d *DB) Begin(ctx context.Context, longWait bool) (*Tx, error) {
	conn, err := d.writers(longWait).Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &Tx{Conn: conn}, nil
}

func (d *DB) writers(longWait bool) *sqlx.DB {
	if longWait {
		return d.Waiters
	}
	return d.Writers
}

// Opening returns the beginning of the transaction's first packet, and nothing for later packets.
func (tx *Tx) Opening() string {
	if tx.begun {
		return ""
	}
	tx.begun = true
	return "START TRANSACTION;"
}

// Commit sends COMMIT. An error wraps ErrOutcomeUnknown when it was sent and no answer came.
func (tx *Tx) Commit(ctx context.Context) error {
	_, err := tx.Conn.ExecContext(ctx, commit)
	tx.over = err == nil
	return commitOutcome(err)
}

// End rolls back uncommitted changes and gives the connection back, or drops it when the server does not confirm the
// rollback: a connection in the middle of a transaction must not reach another user of the pool.
func (tx *Tx) End() error {
	if tx.begun && !tx.over {
		ctx, cancel := context.WithTimeout(context.Background(), TidyTimeout)
		defer cancel()
		if _, err := tx.Conn.ExecContext(ctx, "ROLLBACK"); err != nil {
			_ = tx.Conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	if err := tx.Conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}

// Querier is the interface for reading: the pool, for one statement, or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// NextResult goes to the answer of the next statement.
func NextResult(rows *sql.Rows) error {
	if rows.NextResultSet() {
		return nil
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return errors.New("a statement of the batch has no answer")
}

// EachRow goes to the answer of the next statement and calls scan at each of its rows.
func EachRow(rows *sql.Rows, scan func() error) error {
	if err := NextResult(rows); err != nil {
		return err
	}
	for rows.Next() {
		if err := scan(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Commit ends a transaction. Without an answer to COMMIT until ctx ends, or with an undecided answer, the outcome is
// unknown.
func (d *DB) Commit(ctx context.Context, tx interface{ Commit() error }) error {
	if err := ctx.Err(); err != nil {
		return err // nothing was sent
	}
	answer := make(chan error, 1)
	d.commits.Go(func() { answer <- tx.Commit() }) // bounded only by the read timeout of the connection
	select {
	case err := <-answer:
		return commitOutcome(err)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, ctx.Err())
	}
}

// NotDone returns the error of a transaction that was not committed: when the deadline of ctx has passed, it says that
// nothing was done.
func NotDone(ctx context.Context, err error) error {
	if err == nil || isSentinel(err) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%w: its time was up before it was committed: %w", leaderboard.ErrUnavailable, err)
}

// commitOutcome returns the meaning of the result of sending COMMIT.
func commitOutcome(err error) error {
	if err == nil || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrTxDone) {
		return err // the driver returns ErrBadConn only when it has sent nothing
	}
	if m, ok := meaningOf(number(err)); ok && m.decided {
		return err
	}
	return fmt.Errorf("%w: %w", leaderboard.ErrOutcomeUnknown, err)
}

// Look is a REPEATABLE READ, READ ONLY transaction: all of its statements see one state. It begins in the packet of its
// first statement and ends in the packet of its last, which saves four round trips. Only one goroutine may use it.
type Look struct {
	conn  *sql.Conn
	begun bool
	last  bool // the next statement is
	ended bool // the last statement was sent, and COMMIT with it
}

// Look takes a connection for a transaction.
func (d *DB) Look(ctx context.Context) (*Look, error) {
	conn, err := d.Looks.Conn(ctx)
	if err != nil {
		return nil, err
	}
	return &Look{conn: conn}, nil
}

// Last marks the next statement as the last one.
func (l *Look) Last() { l.last = true }

// QueryContext implements Querier. query is text built by hand, without arguments.
func (l *Look) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return l.conn.QueryContext(ctx, l.packet(query), args...)
}

// QueryRowContext implements Querier.
func (l *Look) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return l.conn.QueryRowContext(ctx, l.packet(query), args...)
}

// packet puts the beginning and the end of the transaction around a statement.
func (l *Look) packet(query string) string {
	if !l.begun {
		l.begun = true
		query = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;START TRANSACTION READ ONLY;" + query
	}
	if l.last {
		l.ended = true
		query += ";COMMIT"
	}
	return query
}

// End gives the connection back. A transaction that has not ended with its last statement, or may not have because that
// failed, is ended first; when the server does not confirm that, the connection is dropped: no other reader must get this
// snapshot.
func (l *Look) End(failed bool) {
	if l.begun && (failed || !l.ended) {
		ctx, cancel := context.WithTimeout(context.Background(), TidyTimeout)
		defer cancel()
		if _, err := l.conn.ExecContext(ctx, "ROLLBACK"); err != nil {
			_ = l.conn.Raw(func(any) error { return driver.ErrBadConn })
		}
	}
	_ = l.conn.Close()
}
