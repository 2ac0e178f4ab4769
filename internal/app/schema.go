package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

// schemaTimeout bounds one statement of a migration: on a great table an index takes its time.
const schemaTimeout = 6 * time.Hour

// OpenSchema opens the database for migrations, which may take longer than requests may.
func OpenSchema(ctx context.Context, dsn string) (*store.Store, error) {
	s, err := store.Open(ctx, store.Config{DSN: dsn, MaxConns: 2, ReadTimeout: schemaTimeout})
	if err != nil {
		return nil, err
	}
	if err := s.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("ask MySQL at %s: %w", PlaceOfDSN(dsn), err), s.Close())
	}
	return s, nil
}

// Waiting for MySQL at the start: from a quarter of a second between attempts to five seconds.
const (
	firstMigrateWait = 250 * time.Millisecond
	maxMigrateWait   = 5 * time.Second
)

// MigrateUntilDone brings the schema up to date, waiting for MySQL while it is away. It logs a failure when it differs
// from the one before, so that an hour without MySQL is one line.
func MigrateUntilDone(ctx context.Context, dsn string, log *slog.Logger) error {
	wait, said := firstMigrateWait, ""
	for {
		applied, err := migrateOnce(ctx, dsn)
		if n := len(applied); n > 0 {
			log.Info("schema migrated", "migrations", n, "newest", applied[n-1].Name)
		}
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.Is(err, leaderboard.ErrUnavailable):
			return err
		case err.Error() != said:
			said = err.Error()
			log.Warn("the schema waits for MySQL", "error", err)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		wait = min(2*wait, maxMigrateWait)
	}
}

func migrateOnce(ctx context.Context, dsn string) (applied []migrations.Applied, err error) {
	s, err := OpenSchema(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return migrations.Up(ctx, s.DB())
}
