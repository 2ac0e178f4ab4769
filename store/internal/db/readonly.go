package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard"
)

// ErrReadOnly is a server that takes no writes: a replica, or a primary that another one has taken over from. It is no
// source of answers either, because it may be behind without knowing.
var ErrReadOnly = fmt.Errorf("%w: the server is read-only", leaderboard.ErrUnavailable)

// ErrOtherServer is a server that another one than before answers for. What was written to the one is unknown to the other,
// so neither is used until it is certain which of them the address leads to.
var ErrOtherServer = fmt.Errorf("%w: connections lead to more than one server, or to another one since a moment ago", leaderboard.ErrUnavailable)

// ServerSettings is the SQL expression of what reports whether a server is read-only, and which one it is: see DB.Refuse. An
// account that may write to a read-only server finds it so, too. In MySQL super_read_only is never on without read_only. Each
// dialect takes the other's comment for one. MariaDB has no UUID: servers that replicate differ in their id, others in name,
// port or directory.
const ServerSettings = "CONCAT_WS(',', @@global.read_only, @@global.innodb_read_only," +
	" /*!80000 @@global.server_uuid */ /*M! CONCAT_WS(' ', @@global.server_id, @@global.hostname, @@global.port, @@global.datadir) */)"

// readSettings returns what ServerSettings mean.
func readSettings(settings string) (readOnly bool, server string) {
	parts := append(strings.SplitN(settings, ",", 3), "", "", "")
	for _, s := range parts[:2] {
		readOnly = readOnly || s != "" && s != "0" && !strings.EqualFold(s, "OFF")
	}
	return readOnly, parts[2]
}

// Refuse returns an error for a server that must not be used, as ServerSettings say, and gives all connections up: those
// dialled from now on reach whichever server has the address by now. Errors: ErrReadOnly, ErrOtherServer.
func (d *DB) Refuse(settings string) error { return d.era.refuse(settings) }

// CheckServer asks whether the server may be used, on a connection of its own that is hardly older than the call. Errors:
// ErrReadOnly, ErrOtherServer.
func (d *DB) CheckServer(ctx context.Context) error {
	var settings string
	if err := d.Health.QueryRowContext(ctx, "SELECT "+ServerSettings).Scan(&settings); err != nil {
		return err
	}
	return d.Refuse(settings)
}

const (
	// lookEvery is how often the address is dialled while connections are used: an address that moves leaves those that it
	// led to where they are.
	lookEvery = time.Second
	// lookAgain is how often it is while it is not certain where it leads.
	lookAgain = 50 * time.Millisecond
	// certain is how many connections in a row lead to another server before that is used. With a proxy that gives them two
	// servers by chance, all would be the same once in a billion times.
	certain = 30
)

// look dials the address until ctx ends.
func (d *DB) look(ctx context.Context) {
	for ctx.Err() == nil {
		pause := lookEvery
		if d.era.moves() {
			pause = lookAgain
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		if !d.era.used.Swap(false) && !d.era.moves() {
			continue
		}
		asked, cancel := context.WithTimeout(ctx, probeLimit) // servers count connections that end before they have begun
		_ = d.CheckServer(asked)                              // a connection that is dialled tells the era
		cancel()
	}
}

// era counts how often all connections of some pools were given up, and knows to which server they lead.
type era struct {
	n       atomic.Int64
	refused atomic.Bool // the server was read-only when it was looked at last
	used    atomic.Bool // connections were, since the address was dialled last
	log     *slog.Logger

	mu     sync.Mutex // guards the fields below
	server string     // the one that was met last
	met    int        // how often in a row, up to certain; 0 before the first
}

// refuse returns an error for a server that must not be used, and gives all connections up.
func (e *era) refuse(settings string) error {
	readOnly, server := readSettings(settings)
	if !readOnly {
		return e.meet(server)
	}
	e.end()
	return ErrReadOnly
}

// end gives all connections up, to a server that is read-only.
func (e *era) end() {
	e.n.Add(1)
	if !e.refused.Swap(true) {
		e.log.Warn("the database server is read-only and not used: another may have taken over")
	}
}

// meet notes to which server a connection leads. The first one is used. After that all connections are given up whenever one leads
// elsewhere than the one before it, and the last server is used once it is certain that all lead there.
func (e *era) meet(server string) error {
	if server == "" {
		return nil // it was not asked, or there was no row to say so in
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.met == 0:
		e.server, e.met = server, certain
	case e.server != server:
		e.n.Add(1)
		if e.met == certain {
			e.log.Warn("the database address leads to another server than before: neither is used until all connections lead to one")
		}
		e.server, e.met = server, 1
	case e.met < certain:
		if e.met++; e.met == certain {
			e.log.Info("the server that the database address leads to now is used")
		}
	}
	if e.met < certain {
		return ErrOtherServer
	}
	return nil
}

// moves reports whether it is not certain to which server the address leads.
func (e *era) moves() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.met > 0 && e.met < certain
}

// admit returns an error for a new connection to a server that must not be used.
func (e *era) admit(settings string) error {
	readOnly, server := readSettings(settings)
	if readOnly {
		e.refused.Store(true)
		return ErrReadOnly
	}
	if err := e.meet(server); err != nil {
		return err
	}
	if e.refused.Swap(false) {
		e.log.Info("the database server takes writes again")
	}
	return nil
}

// driverConn is all that a connection of the driver can do for database/sql.
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

// conn is a connection that is not used any more, nor what it answers, once its era is over: the pool drops it. It tells the
// outage what it sends and what comes back.
type conn struct {
	driverConn // nil while it is being made
	wire
	era  *era
	made int64 // in which era
}

// over reports whether the era of the connection is.
func (c *conn) over() bool { return c.made != c.era.n.Load() }

// dial makes a connection.
func (c *conn) dial(ctx context.Context, dial func(context.Context) (driverConn, error)) (err error) {
	ctx, c.stop = context.WithCancel(context.WithValue(ctx, dialled{}, &c.wire))
	defer c.stop()
	c.outage.add(&c.wire)
	if err := c.send(false); err != nil {
		c.outage.remove(&c.wire)
		return ErrAway
	}
	c.driverConn, err = dial(ctx)
	c.got(err)
	if err != nil {
		c.outage.remove(&c.wire)
	}
	return err
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	c.outage.remove(&c.wire)
	err := c.driverConn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		return nil // there is nobody to say good-bye to
	}
	return err
}

// ResetSession implements driver.SessionResetter: it is called before a connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.over() {
		return driver.ErrBadConn
	}
	if !c.era.used.Load() { // processors do not fight over it
		c.era.used.Store(true)
	}
	return c.driverConn.ResetSession(ctx)
}

// IsValid implements driver.Validator: it is called before a connection goes back to its pool.
func (c *conn) IsValid() bool { return !c.over() && c.driverConn.IsValid() }

// begin tells the outage that something is sent. It fails when the connection must not be used any more.
func (c *conn) begin(commit bool) error {
	if c.over() {
		return driver.ErrBadConn // which means that nothing was sent
	}
	return c.send(commit)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.begin(query == commit); err != nil {
		return nil, err
	}
	result, err := c.driverConn.ExecContext(ctx, query, args)
	c.got(err)
	return result, c.judge(err)
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.begin(false); err != nil {
		return nil, err
	}
	rows, err := c.driverConn.QueryContext(ctx, query, args)
	c.got(err)
	judged := c.judge(err)
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

// judge returns the error of a statement: that of a lost connection when its era ended before it was answered. All connections
// are given up when the server has refused to write.
func (c *conn) judge(err error) error {
	switch number(err) {
	case errReadOnlyOption, errReadOnlyMode:
		if !c.over() {
			c.era.end()
		}
	}
	if err == nil && c.over() {
		return fmt.Errorf("another server has been met: %w", mysql.ErrInvalidConn)
	}
	return err
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
	return t.on.judge(err)
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
