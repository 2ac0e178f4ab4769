package migrations

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pressly/goose/v3"
)

const (
	// lockWait bounds the wait for another process that migrates.
	lockWait = 5 * time.Minute
	// lockIdle is how long the session with the lock may be silent before the server ends it, so that a process that is
	// frozen or cut off keeps others waiting no longer; lockPing is the time between two pings of it.
	lockIdle = 15 * time.Second
	lockPing = 5 * time.Second
	// lockName is an expression: names of locks belong to the server, not to the database, and have 64 bytes at most.
	lockName = "CONCAT('leaderboard-', LEFT(SHA2(DATABASE(), 256), 40))"
)

// ErrLocked: another process migrates, and took longer than lockWait, or took over because this process was silent. Another
// call continues where the other process ends.
var ErrLocked = errors.New("another process is migrating")

// locked holds the named lock while work runs on a schema that is this program's, or has the fault that work repairs. goose
// has lockers for Postgres only, and creates its own table before taking a lock; so the lock is held here, on a separate
// connection, around everything goose does. work calls held before each step: the server releases the lock with the
// connection.
func locked(ctx context.Context, db *sql.DB, mended error, work func(p *goose.Provider, f *found, held func() error) error) (err error) {
	provider, err := goose.NewProvider(goose.DialectMySQL, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	lock, err := acquire(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	f, err := inspect(ctx, db)
	if err == nil {
		err = f.check()
	}
	if err == nil || mended != nil && errors.Is(err, mended) {
		err = completeTable(ctx, db)
	}
	if err != nil {
		return err
	}
	return work(provider, &f, func() error { return lock.held(ctx) })
}

// lock is the named lock of the server, on a separate session that is pinged.
type lock struct {
	mu   sync.Mutex // one statement at a time
	conn *sql.Conn
	stop context.CancelFunc
	ping sync.WaitGroup // the goroutine that pings
}

// acquire asks again and again for a second each, because connections have read timeouts of a few seconds.
func acquire(ctx context.Context, db *sql.DB) (*lock, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	l := &lock{conn: conn, stop: func() {}}
	limited, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	_, err = conn.ExecContext(ctx, fmt.Sprintf("SET SESSION wait_timeout = %d", int(lockIdle/time.Second)))
	for err == nil {
		var got sql.NullInt64
		err = conn.QueryRowContext(limited, "SELECT GET_LOCK("+lockName+", 1)").Scan(&got)
		switch {
		case got.Int64 == 1:
			l.keep(ctx)
			return l, nil
		case limited.Err() != nil:
			err = fmt.Errorf("%w: %w", ErrLocked, limited.Err())
		}
	}
	return nil, errors.Join(err, l.release())
}

// keep pings the session until release.
func (l *lock) keep(ctx context.Context) {
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.ping.Go(func() {
		tick := time.NewTicker(lockPing)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				l.pingOnce(ctx)
			}
		}
	})
}

// pingOnce keeps the session alive; held notices a failure.
func (l *lock) pingOnce(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lockPing)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.conn.PingContext(ctx)
}

// held returns an ErrLocked when the lock was lost.
func (l *lock) held(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var mine sql.NullBool
	err := l.conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK("+lockName+") = CONNECTION_ID()").Scan(&mine)
	if err != nil || !mine.Bool {
		return errors.Join(ErrLocked, err)
	}
	return nil
}

// release ends the session, which releases the lock: the session may still hold it, so the pool must not get it back.
func (l *lock) release() error {
	l.stop()
	l.ping.Wait()
	_ = l.conn.Raw(func(any) error { return driver.ErrBadConn })
	if err := l.conn.Close(); !errors.Is(err, sql.ErrConnDone) {
		return err
	}
	return nil
}
