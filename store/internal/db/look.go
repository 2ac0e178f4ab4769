package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// Look is a REPEATABLE READ, READ ONLY transaction: all of its statements see one state. It begins in the packet of its
// first statement and ends in that of its last one, which saves four round trips. It is used by one goroutine.
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

// Last says that the next statement is the last one.
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
// failed, is ended first; when the server does not confirm that, the connection is dropped: nobody else must read what
// was true for this one.
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
