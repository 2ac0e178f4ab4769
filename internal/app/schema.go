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
	if err := askMySQL(ctx, s, dsn, 1, nil); err != nil {
		return nil, errors.Join(explained(dsn, err), s.Close())
	}
	return s, nil
}

// Waiting for MySQL at the start: from a quarter of a second between attempts to one.
const (
	firstMigrateWait = 250 * time.Millisecond
	maxMigrateWait   = time.Second
	// faultWait is how long a server may be read-only, or not let the account in: while another one takes over from it, or an
	// account is made, it would help nobody to start again and again.
	faultWait = 30 * time.Second
)

// MigrateUntilDone brings the schema up to date, waiting for MySQL while it is away, also when it goes in the middle, and
// for whoever else migrates or uses a table.
func MigrateUntilDone(ctx context.Context, dsn string, log *slog.Logger) error {
	return untilSchema(ctx, dsn, log, func() (done bool, err error) {
		err = migrateOnce(ctx, dsn, log)
		if errors.Is(err, store.ErrUnsupported) {
			return true, err
		}
		for _, passing := range []error{leaderboard.ErrUnavailable, migrations.ErrLocked, migrations.ErrBusy} {
			if errors.Is(err, passing) {
				return false, err
			}
		}
		return true, err
	})
}

// awaitSchema waits until somebody has migrated the database, and fails when it has another schema, or is none that the
// service works on.
func awaitSchema(ctx context.Context, s *store.Store, dsn string, log *slog.Logger) error {
	return untilSchema(ctx, dsn, log, func() (done bool, err error) {
		pending, err := migrations.Pending(ctx, s.DB())
		switch {
		case errors.Is(err, migrations.ErrOtherSchema), errors.Is(err, store.ErrUnsupported):
			return true, err
		case err != nil:
			return false, err
		case pending:
			return false, errSchema
		}
		text, err := NewerSchema(ctx, s)
		if text != "" {
			log.Warn(text)
		}
		return err == nil, err
	})
}

// untilSchema calls try until it is done or ctx ends, or it has failed for faultWait with what does not pass by itself. It
// logs what is in the way when it differs from the time before, so that an hour without MySQL is one line.
func untilSchema(ctx context.Context, dsn string, log *slog.Logger, try func() (done bool, err error)) error {
	wait, said, since := firstMigrateWait, "", time.Time{}
	for {
		done, err := try()
		fault := faultOf(dsn, err)
		if fault == nil {
			since = time.Time{}
		} else if since.IsZero() {
			since = time.Now()
		}
		switch {
		case done:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case fault != nil && time.Since(since) >= faultWait:
			return fault
		case err.Error() != said:
			said = err.Error()
			log.Warn("the schema waits for MySQL", "error", err)
		}
		pause(ctx, wait)
		wait = min(2*wait, maxMigrateWait)
	}
}

func migrateOnce(ctx context.Context, dsn string, log *slog.Logger) (err error) {
	s, err := OpenSchema(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	applied, err := Migrate(ctx, s, dsn)
	if n := len(applied); n > 0 {
		log.Info("schema migrated", "migrations", n, "newest", applied[n-1].Name)
	}
	return store.Translate(ctx, "migrate", err)
}

// Migrate brings the schema up to date, unless this account may not change it.
func Migrate(ctx context.Context, s *store.Store, dsn string) ([]migrations.Applied, error) {
	if err := checkMigration(ctx, s, dsn); err != nil {
		return nil, ExplainDenied(dsn, err)
	}
	applied, err := migrations.Up(ctx, s.DB())
	return applied, ExplainDenied(dsn, err)
}

// NewerSchema says that a database has migrations that this program does not know, and returns "" when it has not. The
// previous version of the program works on each schema, so it is no failure.
func NewerSchema(ctx context.Context, s *store.Store) (string, error) {
	version, err := migrations.Version(ctx, s.DB())
	if err != nil || version <= migrations.Latest() {
		return "", err
	}
	return fmt.Sprintf("the schema is newer than this program: its newest migration is %d, and this program has %d", version, migrations.Latest()), nil
}
