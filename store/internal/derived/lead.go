package derived

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"

	"leaderboard/store/internal/db"
)

// leadership keeps the locks by which processes share the following of derived boards. They belong to one connection,
// which is opened when the first is asked for and is not of the pools. A lock only saves work: what makes a step right
// is the check in its transaction.
type leadership struct {
	store *db.DB

	mu   sync.Mutex // guards the fields below, and is held while the server answers
	pool *sql.DB
	conn *sql.Conn
}

// lockName is the name of the lock of a board. Names belong to the server, not to the database, and have 64 bytes at
// most.
const lockName = "CONCAT('leaderboard-derive-', LEFT(SHA2(DATABASE(), 256), 20), '-', ?)"

// LeadDerived says whether this process is the one that follows the sources of a board, and makes it so when nobody is.
// It does not wait for another process. The caller asks again from time to time: the server gives the lock up with the
// connection. Errors: ErrUnavailable.
func (l *leadership) LeadDerived(ctx context.Context, boardID int64) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	conn, err := l.connection(ctx)
	if err != nil {
		return false, db.Translate(ctx, "lead", err)
	}
	var got sql.NullInt64
	const query = "SELECT IF(IS_USED_LOCK(" + lockName + ") <=> CONNECTION_ID(), 1, GET_LOCK(" + lockName + ", 0))"
	if err := conn.QueryRowContext(ctx, query, boardID, boardID).Scan(&got); err != nil {
		return false, db.Translate(ctx, "lead", errors.Join(err, l.drop()))
	}
	return got.Int64 == 1, nil
}

// YieldDerived releases the leadership of a board to other processes.
func (l *leadership) YieldDerived(ctx context.Context, boardID int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil
	}
	var released sql.NullInt64
	if err := l.conn.QueryRowContext(ctx, "SELECT RELEASE_LOCK("+lockName+")", boardID).Scan(&released); err != nil {
		return db.Translate(ctx, "yield", errors.Join(err, l.drop()))
	}
	return nil
}

func (l *leadership) connection(ctx context.Context) (*sql.Conn, error) {
	if l.conn != nil {
		return l.conn, nil
	}
	if l.pool == nil {
		pool, err := l.store.Single()
		if err != nil {
			return nil, err
		}
		l.pool = pool
	}
	conn, err := l.pool.Conn(ctx)
	l.conn = conn
	return conn, err
}

// drop gives the connection up, and all locks with it.
func (l *leadership) drop() error {
	conn := l.conn
	l.conn = nil
	if conn == nil {
		return nil
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // a connection that may have locks is not used again
	if err := conn.Close(); err != nil && !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}

func (l *leadership) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.drop()
	if l.pool != nil {
		err = errors.Join(err, l.pool.Close())
	}
	return err
}
