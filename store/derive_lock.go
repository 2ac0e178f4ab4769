package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	"leaderboard/store/internal/db"
)

// derivers keeps the locks by which processes share the following of derived boards. They belong to one connection, which
// is opened when the first is asked for and is not of the pools. A lock only saves work: what makes a step right is the
// check in its transaction.
type derivers struct {
	mu   sync.Mutex // guards the fields below, and is held while the server answers
	db   *sql.DB
	conn *sql.Conn
}

// deriverName is the name of the lock of a board. Names belong to the server, not to the database, and have 64 bytes at most.
const deriverName = "CONCAT('leaderboard-derive-', LEFT(SHA2(DATABASE(), 256), 20), '-', ?)"

// LeadDerived says whether this process is the one that follows the sources of a board, and makes it so when nobody is.
// It does not wait for another process. The caller asks again from time to time: the server gives the lock up with the
// connection. Errors: ErrUnavailable.
func (s *Store) LeadDerived(ctx context.Context, boardID int64) (bool, error) {
	d := &s.derivers
	d.mu.Lock()
	defer d.mu.Unlock()
	conn, err := d.connection(ctx, s.db)
	if err != nil {
		return false, db.Translate(ctx, "lead", err)
	}
	var got sql.NullInt64
	const query = "SELECT IF(IS_USED_LOCK(" + deriverName + ") <=> CONNECTION_ID(), 1, GET_LOCK(" + deriverName + ", 0))"
	if err := conn.QueryRowContext(ctx, query, boardID, boardID).Scan(&got); err != nil {
		return false, db.Translate(ctx, "lead", errors.Join(err, d.drop()))
	}
	return got.Int64 == 1, nil
}

// YieldDerived leaves a board to other processes.
func (s *Store) YieldDerived(ctx context.Context, boardID int64) error {
	d := &s.derivers
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn == nil {
		return nil
	}
	var released sql.NullInt64
	if err := d.conn.QueryRowContext(ctx, "SELECT RELEASE_LOCK("+deriverName+")", boardID).Scan(&released); err != nil {
		return db.Translate(ctx, "yield", errors.Join(err, d.drop()))
	}
	return nil
}

func (d *derivers) connection(ctx context.Context, store *db.DB) (*sql.Conn, error) {
	if d.conn != nil {
		return d.conn, nil
	}
	if d.db == nil {
		db, err := store.Single()
		if err != nil {
			return nil, err
		}
		d.db = db
	}
	conn, err := d.db.Conn(ctx)
	d.conn = conn
	return conn, err
}

// drop gives the connection up, and all locks with it.
func (d *derivers) drop() error {
	conn := d.conn
	d.conn = nil
	if conn == nil {
		return nil
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // a connection that may have locks is not used again
	if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}

func (d *derivers) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.drop()
	if d.db != nil {
		err = errors.Join(err, d.db.Close())
	}
	return err
}
