package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-sql-driver/mysql"
)

const (
	dialTimeout = 5 * time.Second
	// connMaxIdle lets the pool shrink after a burst; connMaxAge lets connections move when a proxy or DNS name does.
	connMaxIdle = time.Minute
	connMaxAge  = 30 * time.Minute
)

// Connect opens a pool with the discipline of the store but without limits on time, for migrations and tools. It
// returns an error for a bad DSN only; nothing is dialled yet.
func Connect(dsn string) (*sql.DB, error) {
	cfg := Config{DSN: dsn}.withDefaults()
	cfg.ReadTimeout, cfg.WriteTimeout = 0, 0
	db, _, err := connect(cfg, pool{conns: cfg.MaxConns})
	return db, err
}

// pool is what the two pools of a store differ in.
type pool struct {
	conns int
	// several statements may go into one packet, separated by semicolons
	several bool
}

// pools splits MaxConns: writers cannot starve readers, nor the other way round. A quarter is for writers, each of
// which commits for a whole board; two are left to readers at least, because migrations need two at once.
func pools(maxConns int) (readers, writers pool) {
	w := max(1, maxConns/4)
	return pool{conns: max(2, maxConns-w)}, pool{conns: w, several: true}
}

// connect is the one way to a connection. Each of them is strict about what it stores, speaks UTC, reads committed
// rows without gap locks, gives up waiting for locks soon, and interpolates arguments (one round trip per statement).
func connect(cfg Config, p pool) (*sql.DB, *flavour, error) {
	mc, err := mysql.ParseDSN(cfg.DSN)
	if err != nil {
		return nil, nil, fmt.Errorf("store: DSN: %w", err)
	}
	if mc.DBName == "" {
		return nil, nil, errors.New("store: DSN: it names no database, as in user:password@tcp(host:3306)/leaderboard")
	}
	mc.Loc, mc.ParseTime, mc.InterpolateParams, mc.CheckConnLiveness = time.UTC, true, true, true
	// Found rows instead of changed ones would change what the code here means.
	mc.ClientFoundRows, mc.MultiStatements, mc.ColumnsWithAlias = false, p.several, false
	mc.RejectReadOnly = false // it would hide what the server answered to COMMIT
	mc.Collation = "utf8mb4_bin"
	mc.ReadTimeout, mc.WriteTimeout = cfg.ReadTimeout, cfg.WriteTimeout
	if mc.Timeout == 0 {
		mc.Timeout = dialTimeout
	}
	mc.Logger = driverLog{cfg.Logger}
	params := maps.Clone(mc.Params)
	if params == nil {
		params = map[string]string{}
	}
	params["time_zone"] = "'+00:00'"
	params["sql_mode"] = "'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION'"
	params["innodb_lock_wait_timeout"] = strconv.Itoa(int(cfg.LockWait / time.Second))
	mc.Params = params
	inner, err := mysql.NewConnector(mc)
	if err != nil {
		return nil, nil, fmt.Errorf("store: DSN: %w", err)
	}
	c := &connector{Connector: inner}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(p.conns)
	db.SetMaxIdleConns(p.conns)
	db.SetConnMaxIdleTime(connMaxIdle)
	db.SetConnMaxLifetime(connMaxAge)
	return db, &c.flavour, nil
}

// connector does what the variables of a DSN cannot: MySQL and MariaDB name the one of the isolation level differently.
type connector struct {
	driver.Connector
	flavour flavour
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.prepare(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

func (c *connector) prepare(ctx context.Context, conn driver.Conn) error {
	exec, ok := conn.(driver.ExecerContext)
	if !ok {
		return errors.New("store: the MySQL driver cannot execute directly")
	}
	if _, err := exec.ExecContext(ctx, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", nil); err != nil {
		return err
	}
	if c.flavour.known() {
		return nil
	}
	query, ok := conn.(driver.QueryerContext)
	if !ok {
		return errors.New("store: the MySQL driver cannot query directly")
	}
	rows, err := query.QueryContext(ctx, "SELECT VERSION()", nil)
	if err != nil {
		return err
	}
	row := make([]driver.Value, 1)
	err = rows.Next(row)
	if version, ok := row[0].([]byte); ok && err == nil {
		c.flavour.set(string(version))
	}
	return errors.Join(err, rows.Close())
}

// flavour is which of the two dialects the server speaks where they differ.
type flavour struct{ v atomic.Int32 }

const (
	flavourMySQL   = 1
	flavourMariaDB = 2
)

func (f *flavour) known() bool { return f.v.Load() != 0 }

func (f *flavour) set(version string) {
	if strings.Contains(strings.ToLower(version), "mariadb") {
		f.v.Store(flavourMariaDB)
	} else {
		f.v.Store(flavourMySQL)
	}
}

// limited gives a reading statement that begins with SELECT a limit of time at the server: ending the context closes
// the socket, but the server would work on.
func (f *flavour) limited(query string, limit time.Duration) string {
	if f.v.Load() == flavourMariaDB {
		return fmt.Sprintf("SET STATEMENT max_statement_time=%.3f FOR %s", limit.Seconds(), query)
	}
	return fmt.Sprintf("SELECT /*+ MAX_EXECUTION_TIME(%d) */%s", limit.Milliseconds(), strings.TrimPrefix(query, "SELECT"))
}

// driverLog passes on what the driver would print to standard error.
type driverLog struct{ log *slog.Logger }

func (d driverLog) Print(v ...any) { d.log.Debug("mysql driver", "message", fmt.Sprint(v...)) }
