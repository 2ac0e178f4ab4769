package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"leaderboard/internal/serverfault"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

// schemaTimeout bounds one statement of a migration: on a great table an index takes its time.
const schemaTimeout = 6 * time.Hour

// OpenSchema opens the database for migrations, whose statements may take longer than statements of requests.
func OpenSchema(ctx context.Context, dsn string) (*store.Store, error) {
	s, err := store.Open(ctx, store.Config{DSN: dsn, MaxConns: 2, ReadTimeout: schemaTimeout})
	if err != nil {
		return nil, err
	}
	l, err := faultsOfMySQL(ctx, s, 1)
	if err := lookError(dsn, l, err); err != nil {
		return nil, errors.Join(explained(dsn, err), s.Close())
	}
	return s, nil
}

// Waiting for MySQL at the start: from a quarter of a second between attempts to one.
const (
	firstMigrateWait = 250 * time.Millisecond
	maxMigrateWait   = time.Second
	// faultWait is how long a server may be read-only or deny the account before that is an error: during a failover, or while
	// the account is being made, it would not help to exit and start again.
	faultWait = 30 * time.Second
)

// MigrateUntilDone brings the schema up to date. It waits while MySQL is away, also in the middle of it, while another process
// migrates, and while another session uses a table.
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

// checkSchema looks whether the database has all migrations, or whether this start may apply the missing ones.
func checkSchema(ctx context.Context, s *store.Store, migrate bool) (look, error) {
	l, pending, err := versionOf(ctx, s)
	switch {
	case err != nil || !pending:
		return l, err
	case migrate:
		l, err := checkMigration(ctx, s)
		l.found += ", the start applies what is missing"
		return l, err
	}
	missing := serverfault.Fault{
		Check: serverfault.CheckSchema, Wrong: l.found, Remedy: "run `leaderboard migrate up`, or start with --migrate; until then servers wait",
	}
	return look{faults: []serverfault.Fault{missing}}, nil
}

// checkMigration looks whether migrations are pending, and then whether the account may apply them.
func checkMigration(ctx context.Context, s *store.Store) (look, error) {
	l, pending, err := versionOf(ctx, s)
	if err == nil && pending {
		l.faults, err = s.RightsToMigrate(ctx)
	}
	return l, err
}

// versionOf looks which migrations a database has.
func versionOf(ctx context.Context, s *store.Store) (l look, pending bool, err error) {
	version, err := migrations.Version(ctx, s.DB())
	switch latest := migrations.Latest(); {
	case err != nil:
		return l, false, err
	case version > latest:
		f := serverfault.Fault{
			Check: serverfault.CheckSchema, Wrong: newerText(version), Remedy: "none is needed while a version is rolled out", Doubtful: true,
		}
		return look{faults: []serverfault.Fault{f}}, false, nil
	case version == latest:
		return look{found: fmt.Sprintf("up to date, the newest migration is %d", version)}, false, nil
	case version == 0:
		l.found = "the database has no tables yet"
	default:
		l.found = fmt.Sprintf("the newest migration is %d, and this program needs %d", version, latest)
	}
	return l, true, nil
}

// startSchema brings the schema up to date if that is wanted, otherwise waits until another process has. It fails when the database
// has a foreign schema, or its server is not supported.
func startSchema(ctx context.Context, cfg *Config, ask lookFunc, log *slog.Logger) error {
	if cfg.Migrate {
		if err := MigrateUntilDone(ctx, cfg.MySQLDSN, log); err != nil {
			return err
		}
	}
	return untilSchema(ctx, cfg.MySQLDSN, log, func() (done bool, err error) {
		l, err := ask(ctx)
		switch {
		case errors.Is(err, migrations.ErrOtherSchema), errors.Is(err, store.ErrUnsupported):
			return true, err
		case err != nil:
			return false, err
		case checkFaults(placeOfMySQL(cfg.MySQLDSN), l.faults, log) != nil:
			return false, errSchema
		}
		return true, nil
	})
}

// untilSchema calls try until it is done, ctx ends, or it has failed for faultWait with a fault that only an operator can remove
// (faultOf). It logs an error when it differs from the one before, so that an hour without MySQL is one line.
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
	l, err := checkMigration(ctx, s)
	if err := lookError(dsn, l, err); err != nil {
		return nil, ExplainDenied(dsn, err)
	}
	applied, err := migrations.Up(ctx, s.DB())
	return applied, ExplainDenied(dsn, err)
}

// NewerSchema returns a warning when a database has migrations that this program does not know, otherwise "". It is no failure,
// since the previous version of the program works on each schema.
func NewerSchema(ctx context.Context, s *store.Store) (string, error) {
	version, err := migrations.Version(ctx, s.DB())
	if err != nil || version <= migrations.Latest() {
		return "", err
	}
	return newerText(version), nil
}

func newerText(version int64) string {
	return fmt.Sprintf("the schema is newer than this program: its newest migration is %d, and this program has %d", version, migrations.Latest())
}
