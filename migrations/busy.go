package migrations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
)

const (
	// busyPause is the time between two attempts, in which statements that waited behind ours can run.
	busyPause = time.Second
	// busyWait bounds all attempts.
	busyWait = time.Minute
)

// ErrBusy: a table was in use by others, such as an export, during all attempts. Applied migrations stay; another call
// continues there.
var ErrBusy = errors.New("a table is in use by a long transaction")

// whenFree repeats step while it fails because a table is in use.
func whenFree(ctx context.Context, step func(context.Context) (*goose.MigrationResult, error)) (*goose.MigrationResult, error) {
	for began := time.Now(); ; {
		result, err := step(ctx)
		if !inUse(err) {
			return result, err
		}
		if time.Since(began) > busyWait {
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		}
	}
}

func inUse(err error) bool {
	const lockWaitTimeout = 1205
	my, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && my.Number == lockWaitTimeout
}
