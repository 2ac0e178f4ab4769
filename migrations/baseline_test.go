package migrations_test

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

// earlier makes a database of the time when there were 22 migrations, as far as it matters.
func earlier() []string {
	return []string{
		"CREATE TABLE goose_db_version (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, version_id BIGINT NOT NULL," +
			" is_applied BOOLEAN NOT NULL, tstamp TIMESTAMP NULL DEFAULT NOW())",
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1), (2, 1), (21, 1), (22, 1)",
		"CREATE TABLE boards (id BIGINT NOT NULL PRIMARY KEY, shadowed TINYINT NOT NULL, created_time DATETIME(6) NOT NULL)",
		"INSERT INTO boards VALUES (1, 0, '2026-11-20')",
	}
}

// TestOtherSchema: no call changes tables that were not made by this program's migrations, and
// the error says what to do.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		migrated bool // by this program, first
		then     []string
		says     string
	}{
		"22 migrations":   {false, earlier(), fmt.Sprintf("(its newest migration is 22, here it is %d)", migrations.Latest())},
		"edited baseline": {true, []string{"UPDATE schema_baseline SET sha256 = REPEAT('x', 32)"}, "(the baseline has been edited since)"},
		"half of another baseline": {true, []string{
			"UPDATE schema_baseline SET sha256 = REPEAT('x', 32)", "DROP TABLE boards", "DELETE FROM goose_db_version WHERE version_id = 1",
		}, "before v0.1.1"},
		"the table of another program": {false, []string{"CREATE TABLE runs (id INT PRIMARY KEY)"}, "there is a table runs already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dialects(t, func(t *testing.T, db *sql.DB) {
				if c.migrated {
					if _, err := migrations.Up(t.Context(), db); err != nil {
						t.Fatal(err)
					}
				}
				for _, q := range c.then {
					if _, err := db.ExecContext(t.Context(), q); err != nil {
						t.Fatal(err)
					}
				}
				unchanged(t, db, func() {
					_, up := migrations.Up(t.Context(), db)
					_, down := migrations.Down(t.Context(), db)
					_, status := migrations.Status(t.Context(), db)
					_, version := migrations.Version(t.Context(), db)
					_, pending := migrations.Pending(t.Context(), db)
					for call, err := range map[string]error{"up": up, "down": down, "status": status, "version": version, "pending": pending} {
						if !errors.Is(err, migrations.ErrOtherSchema) || !strings.Contains(err.Error(), c.says) {
							t.Errorf("%s: %v, want ErrOtherSchema with %q", call, err, c.says)
						}
					}
				})
			})
		})
	}
}

// TestHiddenNotes: to an account with rights on one table of a migrated database that is no schema of another program, which
// would make its operator delete the database: the error names what the account may not read.
func TestHiddenNotes(t *testing.T) {
	t.Parallel()
	for name, server := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := server(t)
			db := openDB(t, dsn)
			if _, err := migrations.Up(t.Context(), db); err != nil {
				t.Fatal(err)
			}
			cfg, err := mysql.ParseDSN(dsn)
			if err != nil {
				t.Fatal(err)
			}
			cfg.User, cfg.Passwd = "hidden_"+cfg.DBName[len(cfg.DBName)-8:], ""
			t.Cleanup(func() { _, _ = db.Exec("DROP USER " + cfg.User) })
			for _, q := range []string{"CREATE USER " + cfg.User, "GRANT SELECT ON " + cfg.DBName + ".boards TO " + cfg.User} {
				if _, err := db.ExecContext(t.Context(), q); err != nil {
					t.Fatal(err)
				}
			}
			_, err = migrations.Pending(t.Context(), openDB(t, cfg.FormatDSN()))
			if errors.Is(err, migrations.ErrOtherSchema) || err == nil || !strings.Contains(err.Error(), "denied") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestNewerSchema: a later version of the program has migrated the same schema. This version continues to work, and reverts
// nothing that it does not know.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, db *sql.DB) {
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		next := migrations.Latest() + 1
		if _, err := db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", next); err != nil {
			t.Fatal(err)
		}
		unchanged(t, db, func() {
			if applied, err := migrations.Up(t.Context(), db); err != nil || len(applied) != 0 {
				t.Errorf("up: %+v, %v", applied, err)
			}
			if states, err := migrations.Status(t.Context(), db); err != nil || int64(len(states)) != migrations.Latest() || !states[0].Applied {
				t.Errorf("status: %+v, %v", states, err)
			}
			if version, err := migrations.Version(t.Context(), db); err != nil || version != next {
				t.Errorf("version: %d, %v", version, err)
			}
			if pending, err := migrations.Pending(t.Context(), db); err != nil || pending {
				t.Errorf("pending: %v, %v", pending, err)
			}
			if down, err := migrations.Down(t.Context(), db); err == nil || down != nil || !strings.Contains(err.Error(), "newer than this program") {
				t.Errorf("down: %+v, %v", down, err)
			}
		})
	})
}

// TestHalfDown: when a Down was cut short, only Down continues.
func TestHalfDown(t *testing.T) {
	t.Parallel()
	dialects(t, func(t *testing.T, db *sql.DB) {
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if err := downTo(t.Context(), db, 1); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), "DROP TABLE schema_baseline, boards"); err != nil {
			t.Fatal(err)
		}
		unchanged(t, db, func() {
			if _, err := migrations.Up(t.Context(), db); !errors.Is(err, migrations.ErrOtherSchema) || !strings.Contains(err.Error(), "`leaderboard migrate down` goes on") {
				t.Errorf("up: %v", err)
			}
		})
		if down, err := migrations.Down(t.Context(), db); err != nil || down == nil || schema(t, db) != "" {
			t.Errorf("down: %+v, %v\n%s", down, err, schema(t, db))
		}
	})
}

// unchanged checks that work changes no table and no row.
func unchanged(t *testing.T, db *sql.DB, work func()) {
	t.Helper()
	was := contents(t, db)
	work()
	if is := contents(t, db); is != was {
		t.Errorf("the database was changed from\n%s\nto\n%s", was, is)
	}
}

// contents returns the schema and a checksum of each table's rows.
func contents(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables"+
		" WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := schema(t, db)
	for rows.Next() {
		var name, qualified string
		var sum sql.NullInt64
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowContext(t.Context(), "CHECKSUM TABLE "+name).Scan(&qualified, &sum); err != nil {
			t.Fatal(err)
		}
		out += fmt.Sprintln(name, sum.Int64)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
