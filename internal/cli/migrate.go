package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
	"leaderboard/store"
)

// migrateOptions are the options of a migrate command.
type migrateOptions struct {
	app.Config
	json bool
}

func (p *program) migrateCommand() *cli.Command {
	leaf := func(name, usage string, do func(context.Context, *migrateOptions, *store.Store) error, flags ...cli.Flag) *cli.Command {
		o := &migrateOptions{Config: app.Defaults()}
		return p.leaf(name, usage, "", func(ctx context.Context, _ []string) (err error) {
			if err := needMySQL(&o.Config); err != nil {
				return err
			}
			s, err := app.OpenSchema(ctx, o.MySQLDSN)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			return app.ExplainDenied(o.MySQLDSN, do(ctx, o, s))
		}, append(append(p.serverFlags(&o.Config, "mysql-dsn"), jsonFlag(&o.json)), flags...)...)
	}
	yes := false
	return group(
		"migrate", "change the database schema",
		leaf("migrate up", "apply all migrations that are missing", p.migrateUp),
		leaf("migrate status", "list the migrations; status 1 when one is missing", p.migrateStatus, p.utcFlag()),
		leaf("migrate down", "take the newest migration back, with the data in it", func(ctx context.Context, o *migrateOptions, s *store.Store) error {
			question := fmt.Sprintf("Take the newest migration of %s back, with the data in it, for good?", app.PlaceOfDSN(o.MySQLDSN))
			if err := p.confirm(ctx, yes, question); err != nil {
				return err
			}
			return p.migrateDown(ctx, o, s)
		}, yesFlag(&yes)),
	)
}

// appliedView is a migration that was applied or taken back.
type appliedView struct {
	Version int64  `json:"version"`
	Name    string `json:"name"`
	Took    string `json:"took"`
}

func viewApplied(a migrations.Applied) appliedView {
	return appliedView{a.Version, a.Name, a.Took.Round(time.Microsecond).String()}
}

func (p *program) migrateUp(ctx context.Context, o *migrateOptions, s *store.Store) error {
	done, err := app.Migrate(ctx, s, o.MySQLDSN)
	views := []appliedView{}
	for _, a := range done {
		views = append(views, viewApplied(a))
	}
	if err != nil && len(views) == 0 {
		return err
	}
	if err == nil {
		err = p.sayNewer(ctx, s)
	}
	return errors.Join(err, p.showApplied(o, views, "applied", "the schema is up to date"))
}

func (p *program) migrateDown(ctx context.Context, o *migrateOptions, s *store.Store) error {
	done, err := migrations.Down(ctx, s.DB())
	if err != nil {
		return err
	}
	views := []appliedView{}
	if done != nil {
		views = append(views, viewApplied(*done))
	}
	return p.showApplied(o, views, "taken back", "there is no migration to take back")
}

// sayNewer prints a warning when the database has migrations that this program does not know.
func (p *program) sayNewer(ctx context.Context, s *store.Store) error {
	text, err := app.NewerSchema(ctx, s)
	if text != "" {
		p.say("leaderboard: %s", text)
	}
	return err
}

func (p *program) showApplied(o *migrateOptions, views []appliedView, verb, none string) error {
	if o.json {
		return terminal.PrintJSON(p.out, views)
	}
	for _, v := range views {
		if _, err := fmt.Fprintf(p.out, "%s %s (%s)\n", verb, v.Name, v.Took); err != nil {
			return err
		}
	}
	if len(views) > 0 {
		return nil
	}
	_, err := fmt.Fprintln(p.out, none)
	return err
}

// migrationView is a row of migrate status.
type migrationView struct {
	Version   int64              `json:"version"`
	Name      string             `json:"name"`
	Applied   bool               `json:"applied"`
	AppliedAt leaderboard.Micros `json:"applied_at,omitzero"`
}

func (p *program) migrateStatus(ctx context.Context, o *migrateOptions, s *store.Store) error {
	states, err := migrations.Status(ctx, s.DB())
	if err != nil {
		return err
	}
	views, missing := []migrationView{}, 0
	for _, state := range states {
		v := migrationView{Version: state.Version, Name: state.Name, Applied: state.Applied}
		if state.Applied {
			v.AppliedAt = leaderboard.MicrosOf(state.AppliedAt)
		} else {
			missing++
		}
		views = append(views, v)
	}
	if err := errors.Join(p.showStatus(o, views), p.sayNewer(ctx, s)); err != nil {
		return err
	}
	if missing > 0 {
		return fmt.Errorf("%s: run `leaderboard migrate up`", missingMigrations(missing))
	}
	return nil
}

func missingMigrations(n int) string {
	if n == 1 {
		return "1 migration is missing"
	}
	return fmt.Sprintf("%d migrations are missing", n)
}

func (p *program) showStatus(o *migrateOptions, views []migrationView) error {
	if o.json {
		return terminal.PrintJSON(p.out, views)
	}
	t := terminal.NewTable(p.out, "MIGRATION", "APPLIED")
	for _, v := range views {
		at := any("missing")
		if v.Applied {
			at = v.AppliedAt.Time()
		}
		t.Row(v.Name, at)
	}
	return t.Flush()
}
