// Package migrations holds the schema of the database and applies it. MySQL commits each DDL statement separately, so each
// of them may be repeated: the next process begins a half-applied migration again. Several processes may call everything
// here at once: a named lock of the database server lets one of them work at a time.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed *.sql
var files embed.FS

// Applied is a migration that was carried out.
type Applied struct {
	Version int64
	Name    string // such as 00001_baseline.sql
	Took    time.Duration
}

// State is a migration and whether the database has it.
type State struct {
	Version   int64
	Name      string
	Applied   bool
	AppliedAt time.Time // UTC; zero when it is not applied
}

// Up applies the missing migrations, in order, and returns them: none when the database is up to date. When it fails
// half-way, the migrations before the failed one stay applied, and are returned. db needs two free connections and
// parseTime, and sessions with a short lock_wait_timeout (see store.Connect): a statement that waits for a table makes all
// others wait for it, so it must give up soon and is tried again. The account needs the rights to CREATE, ALTER, DROP and
// CREATE VIEW. Errors: ErrOtherSchema, when nothing was done; ErrLocked, ErrBusy.
func Up(ctx context.Context, db *sql.DB) ([]Applied, error) {
	var done []Applied
	err := locked(ctx, db, nil, func(p *goose.Provider, f *found, held func() error) error {
		if err := held(); err != nil {
			return err
		}
		if err := f.begin(ctx, db); err != nil {
			return err
		}
		for {
			if err := held(); err != nil {
				return err
			}
			result, err := whenFree(ctx, p.UpByOne)
			if errors.Is(err, goose.ErrNoNextVersion) {
				return nil
			}
			if err != nil {
				return err
			}
			done = append(done, applied(result))
		}
	})
	if err != nil {
		return done, fmt.Errorf("migrations: up: %w", err)
	}
	return done, nil
}

// Down reverts the newest applied migration, and deletes its data. The result is nil if no migration is applied. An unknown
// migration is an error, like ErrOtherSchema; nothing was done then.
func Down(ctx context.Context, db *sql.DB) (*Applied, error) {
	var done *Applied
	err := locked(ctx, db, errHalfDown, func(p *goose.Provider, f *found, held func() error) error {
		if f.version > Latest() {
			return fmt.Errorf("migration %d is newer than this program, whose newest is %d: take it back with the program that has it", f.version, Latest())
		}
		if err := held(); err != nil {
			return err
		}
		if f.version == baselineVersion {
			if err := end(ctx, db); err != nil {
				return err
			}
		}
		result, err := whenFree(ctx, p.Down)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err != nil {
			return err
		}
		a := applied(result)
		done = &a
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("migrations: down: %w", err)
	}
	return done, nil
}

// Status lists all migrations of this program in order. Errors: ErrOtherSchema.
func Status(ctx context.Context, db *sql.DB) ([]State, error) {
	var states []State
	err := locked(ctx, db, nil, func(p *goose.Provider, _ *found, _ func() error) error {
		all, err := p.Status(ctx)
		for _, m := range all {
			states = append(states, State{
				Version: m.Source.Version, Name: path.Base(m.Source.Path),
				Applied: m.State == goose.StateApplied, AppliedAt: m.AppliedAt.UTC(),
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("migrations: status: %w", err)
	}
	return states, nil
}

// Latest returns the newest version of this program.
func Latest() int64 {
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		return 0
	}
	version, err := goose.NumericComponent(names[len(names)-1])
	if err != nil {
		return 0
	}
	return version
}

// Version returns the version of the database, 0 when it was never migrated. It changes nothing and takes no lock, so a
// readiness check may call it. Errors: ErrOtherSchema.
func Version(ctx context.Context, db *sql.DB) (int64, error) {
	f, err := inspect(ctx, db)
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return 0, fmt.Errorf("migrations: version: %w", err)
	}
	return f.version, nil
}

// Pending reports whether the database lacks a migration of this program. A database that is newer than the program lacks
// nothing: the previous version of the program works on each schema. Errors: the errors of Version.
func Pending(ctx context.Context, db *sql.DB) (bool, error) {
	version, err := Version(ctx, db)
	return version < Latest(), err
}

func applied(r *goose.MigrationResult) Applied {
	return Applied{Version: r.Source.Version, Name: path.Base(r.Source.Path), Took: r.Duration}
}
