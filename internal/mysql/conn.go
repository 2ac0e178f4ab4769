package mysql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"

	gomysql "github.com/go-sql-driver/mysql"
)

// driverConn is the set of methods of a driver's connection that database/sql uses.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection that reports each statement and each answer to its server. Once its era is over, neither the
// connection nor an answer from it is used: the pool drops it.
type conn struct {
	driverConn // nil while it is being made
	server     *server
	era        int64 // in which it was made

	mu         sync.Mutex // guards the fields below
	stop       context.CancelFunc
	raw        net.Conn // nil until it is dialled
	sent       int64    // when the statement under way was sent, 0 without one
	committing bool     // that is a COMMIT
	gone       bool     // it was cut
}

// commit ends a transaction. It is sent alone, so that an answer to the statements before it shows that it was not sent.
const commit = "COMMIT"

// over reports whether the era of the connection is over.
func (c *conn) over() bool { return c.era != c.server.era.Load() }

// dialled is the context key for the connection that is dialled with the context.
type dialled struct{}

// dial makes a connection.
func (c *conn) dial(ctx context.Context, dial func(context.Context) (driverConn, error)) (err error) {
	ctx, c.stop = context.WithCancel(context.WithValue(ctx, dialled{}, c))
	defer c.stop()
	c.join()
	if err := c.send(false); err != nil {
		c.leave()
		return ErrAway
	}
	c.driverConn, err = dial(ctx)
	if err != nil && number(err) == 0 && !isUnfit(err) && !isSentinel(err) && !lost(err) && !errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w: %w", errNoSession, err)
	}
	c.got(err)
	if err != nil {
		c.leave()
	}
	return err
}

// dialRaw is how all connections are dialled, so that they can be cut.
func dialRaw(ctx context.Context, network, address string) (net.Conn, error) {
	raw, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if c, ok := ctx.Value(dialled{}).(*conn); ok && err == nil {
		c.mu.Lock()
		c.raw = raw
		c.mu.Unlock()
	}
	return raw, err
}

// join and leave report the beginning and the end of the connection to the server.
func (c *conn) join() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.server.conns[c] = struct{}{}
}

func (c *conn) leave() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	delete(c.server.conns, c)
}

// begin reports to the server that a statement is sent. It fails when the connection must no longer be used.
func (c *conn) begin(commit bool) error {
	if c.over() {
		return driver.ErrBadConn // which means that nothing was sent
	}
	return c.send(commit)
}

// send is begin for any era. It fails while the server is away.
func (c *conn) send(commit bool) error {
	c.mu.Lock()
	if c.server.isAway() {
		c.mu.Unlock()
		return driver.ErrBadConn
	}
	c.sent, c.committing = c.server.now(), commit
	c.mu.Unlock()
	c.server.expect()
	return nil
}

// got reports the result to the server.
func (c *conn) got(err error) {
	c.mu.Lock()
	sent := c.sent
	c.sent, c.committing = 0, false
	c.mu.Unlock()
	c.server.heard(sent, err)
}

func (c *conn) waits() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}

// cut ends the statement under way, unless it is a COMMIT, whose answer may still come.
func (c *conn) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.committing {
		return
	}
	c.gone = true
	c.stop()
	if c.raw != nil {
		_ = c.raw.Close()
	}
}

// check returns the error of a statement, which is the error of a lost connection when the era ended before the answer
// came. All connections are dropped when the server has refused to write.
func (c *conn) check(err error) error {
	switch number(err) {
	case errReadOnlyOption, errReadOnlyMode:
		if !c.over() {
			c.server.endEra()
		}
	}
	if err == nil && c.over() {
		return fmt.Errorf("another server has been met: %w", gomysql.ErrInvalidConn)
	}
	return err
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.begin(query == commit); err != nil {
		return nil, err
	}
	result, err := c.driverConn.ExecContext(ctx, query, args)
	c.got(err)
	return result, c.check(err)
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.begin(false); err != nil {
		return nil, err
	}
	rows, err := c.driverConn.QueryContext(ctx, query, args)
	c.got(err)
	judged := c.check(err)
	if err == nil && judged != nil {
		return nil, errors.Join(judged, rows.Close())
	}
	return rows, judged
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.begin(false); err != nil {
		return nil, err
	}
	inner, err := c.driverConn.BeginTx(ctx, opts)
	c.got(err)
	if err != nil {
		return nil, err
	}
	return &connTx{inner, c}, nil
}

// connTx is a transaction that database/sql ends.
type connTx struct {
	driver.Tx
	on *conn
}

// Commit implements driver.Tx.
func (t *connTx) Commit() error {
	if err := t.on.begin(true); err != nil {
		return err
	}
	err := t.Tx.Commit()
	t.on.got(err)
	return t.on.check(err)
}

// ResetSession implements driver.SessionResetter: it is called before a connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.over() {
		return driver.ErrBadConn
	}
	if !c.server.used.Load() { // processors do not fight over it
		c.server.used.Store(true)
	}
	return c.driverConn.ResetSession(ctx)
}

// IsValid implements driver.Validator: it is called before a connection goes back to its pool.
func (c *conn) IsValid() bool { return !c.over() && c.driverConn.IsValid() }

// Close implements driver.Conn.
func (c *conn) Close() error {
	c.leave()
	err := c.driverConn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil // the server does not answer, so the connection closes without notice
	}
	return err
}

// oneText runs a query that has one text as its answer.
func oneText(ctx context.Context, c driver.QueryerContext, query string) (string, error) {
	rows, err := c.QueryContext(ctx, query, nil)
	if err != nil {
		return "", err
	}
	row := make([]driver.Value, 1)
	err = rows.Next(row)
	text, _ := row[0].([]byte)
	return string(text), errors.Join(err, rows.Close())
}
