package migrations_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

// TestRestart kills the process before its first statement, before its second, and so on, on the way up and on the way
// down. The database commits each statement separately, so each kill leaves a different partial state; the same command
// again finishes it, and the database is as if nothing had happened.
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dsn(t)
			db := openDB(t, dsn)
			up := func(db *sql.DB) error { _, err := migrations.Up(t.Context(), db); return err }
			down := func(db *sql.DB) error { return downTo(t.Context(), db, 0) }
			if err := up(db); err != nil {
				t.Fatal(err)
			}
			full := schema(t, db)
			if err := down(db); err != nil {
				t.Fatal(err)
			}
			killedUp, killedDown := true, true
			for n := int64(0); killedUp || killedDown; n++ {
				if _, err := db.ExecContext(t.Context(), "DROP TABLE IF EXISTS goose_db_version"); err != nil {
					t.Fatal(err)
				}
				killedUp = killedAfter(t, dsn, n, up)
				if err := up(db); err != nil || schema(t, db) != full {
					t.Fatalf("up, killed after %d statements, and up again: %v\n%s", n, err, schema(t, db))
				}
				killedDown = killedAfter(t, dsn, n, down)
				if err := down(db); err != nil || schema(t, db) != "" {
					t.Fatalf("down, killed after %d statements, and down again: %v\n%s", n, err, schema(t, db))
				}
				if n > 100 {
					t.Fatal("it is killed again and again: it has no end")
				}
			}
		})
	}
}

// killedAfter runs a step in a separate process that is killed after n statements, and reports whether it was.
func killedAfter(t *testing.T, dsn string, n int64, step func(*sql.DB) error) bool {
	t.Helper()
	inner, err := mysql.MySQLDriver{}.OpenConnector(dsn + "?parseTime=true")
	if err != nil {
		t.Fatal(err)
	}
	k := &killer{Connector: inner}
	k.left.Store(n)
	db := sql.OpenDB(k)
	defer db.Close()
	err = step(db)
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatalf("after %d statements: %v", n, err)
	}
	return err != nil
}

var errKilled = errors.New("the process is killed")

// killer opens connections over which some changing statements are sent, and then nothing.
type killer struct {
	driver.Connector
	left atomic.Int64
}

func (k *killer) Connect(ctx context.Context) (driver.Conn, error) {
	if k.left.Load() < 0 {
		return nil, errKilled
	}
	conn, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &mortal{conn.(mysqlConn), k}, nil
}

// mysqlConn is the set of methods of the driver's connections.
type mysqlConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
}

// mortal is a connection of a process that is going to be killed.
type mortal struct {
	mysqlConn
	process *killer
}

func (c *mortal) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.process.left.Add(-1) < 0 {
		return nil, errKilled
	}
	return c.mysqlConn.ExecContext(ctx, query, args)
}

func (c *mortal) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if c.process.left.Load() < 0 {
		return nil, errKilled
	}
	return c.mysqlConn.QueryContext(ctx, query, args)
}

func (c *mortal) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if c.process.left.Load() < 0 {
		return nil, errKilled
	}
	return c.mysqlConn.PrepareContext(ctx, query)
}
