package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3"
)

// lockWait bounds the waiting for another process that migrates.
const lockWait = 5 * time.Minute

var errLockLost = errors.New("the lock of the migrations was lost")

// locked runs work on a schema that is this program's, or has the one fault that work mends, while this process holds
// the named lock. goose has lockers for Postgres only, and creates its own table before it would take one; so the lock
// is held here, on a connection of its own, around everything goose does. work calls held before each step: the server
// gives the lock up with the connection.
func locked(ctx context.Context, db *sql.DB, mended error, work func(p *goose.Provider, f *found, held func() error) error) (err error) {
	provider, err := goose.NewProvider(goose.DialectMySQL, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	// Lock names belong to the server, not to the database, and have 64 bytes at most.
	const name = "CONCAT('leaderboard-', LEFT(SHA2(DATABASE(), 256), 40))"
	if err := acquire(ctx, conn, name); err != nil {
		return err
	}
	defer func() {
		// The connection may go back to a pool: it must not keep the lock, even when ctx has ended.
		var released sql.NullInt64
		row := conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT RELEASE_LOCK("+name+")")
		err = errors.Join(err, row.Scan(&released))
	}()
	held := func() error {
		var mine sql.NullBool
		if err := conn.QueryRowContext(ctx, "SELECT IS_USED_LOCK("+name+") = CONNECTION_ID()").Scan(&mine); err != nil {
			return errors.Join(errLockLost, err)
		}
		if !mine.Bool {
			return errLockLost
		}
		return nil
	}
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
	return work(provider, &f, held)
}

// acquire asks again and again for a second each, because connections have read timeouts of a few seconds.
func acquire(ctx context.Context, conn *sql.Conn, name string) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for {
		var got sql.NullInt64
		err := conn.QueryRowContext(ctx, "SELECT GET_LOCK("+name+", 1)").Scan(&got)
		if got.Int64 == 1 || (err != nil && ctx.Err() == nil) {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("another process is migrating: %w", ctx.Err())
		}
	}
}
