package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"leaderboard"
)

// ErrReadOnly is a server that takes no writes: a replica, or a primary that another one has taken over from. It is no
// source of answers either, because it may be behind without knowing.
var ErrReadOnly = fmt.Errorf("%w: the server is read-only", leaderboard.ErrUnavailable)

// ServerSettings is the SQL expression of what says whether a server is read-only, see DB.Refuse. An account that may write
// to it all the same finds it so, too. In MySQL super_read_only is never on without read_only.
const ServerSettings = "CONCAT_WS(',', @@global.read_only, @@global.innodb_read_only)"

// readOnly says what ServerSettings mean.
func readOnly(settings string) bool {
	for s := range strings.SplitSeq(settings, ",") {
		if s != "" && s != "0" && !strings.EqualFold(s, "OFF") {
			return true
		}
	}
	return false
}

// Refuse returns ErrReadOnly when ServerSettings say so, and gives all connections up: those dialled from now on reach whichever
// server has the address by now.
func (d *DB) Refuse(settings string) error {
	if !readOnly(settings) {
		return nil
	}
	d.era.end()
	return ErrReadOnly
}

// CheckServer asks whether the server takes writes, on a connection of its own. Errors: ErrReadOnly.
func (d *DB) CheckServer(ctx context.Context) error {
	var settings string
	if err := d.Health.QueryRowContext(ctx, "SELECT "+ServerSettings).Scan(&settings); err != nil {
		return err
	}
	return d.Refuse(settings)
}

// era counts how often all connections of some pools were given up.
type era struct {
	n       atomic.Int64
	refused atomic.Bool // the server was read-only when it was looked at last
	log     *slog.Logger
}

func (e *era) end() {
	e.n.Add(1)
	if !e.refused.Swap(true) {
		e.log.Warn("the database server is read-only and not used: another may have taken over")
	}
}

func (e *era) takesWrites() {
	if e.refused.Swap(false) {
		e.log.Info("the database server takes writes again")
	}
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

// conn is a connection that its pool drops once its era is over.
type conn struct {
	driverConn
	era  *era
	made int64 // in which era
}

// ResetSession implements driver.SessionResetter: it is called before a connection is used again.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.made != c.era.n.Load() {
		return driver.ErrBadConn
	}
	return c.driverConn.ResetSession(ctx)
}

// IsValid implements driver.Validator: it is called before a connection goes back to its pool.
func (c *conn) IsValid() bool { return c.made == c.era.n.Load() && c.driverConn.IsValid() }

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.driverConn.ExecContext(ctx, query, args)
	return result, c.judge(err)
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	rows, err := c.driverConn.QueryContext(ctx, query, args)
	return rows, c.judge(err)
}

// judge gives all connections up when the server has refused to write.
func (c *conn) judge(err error) error {
	switch number(err) {
	case errReadOnlyOption, errReadOnlyMode:
		if c.made == c.era.n.Load() {
			c.era.end()
		}
	}
	return err
}

// refuse returns ErrReadOnly for a new connection to a server that is read-only.
func (e *era) refuse(ctx context.Context, c driverConn) error {
	settings, err := oneText(ctx, c, "SELECT "+ServerSettings)
	if err != nil {
		return err
	}
	if readOnly(settings) {
		e.refused.Store(true)
		return ErrReadOnly
	}
	e.takesWrites()
	return nil
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
