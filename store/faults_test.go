package store_test

import (
	"crypto/rand"
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/serverfault"
	"leaderboard/migrations"
	"leaderboard/store"
	"leaderboard/store/storetest/dbtest"
)

// TestFaults: the servers of the tests are good for the defaults, and not for batches and connections beyond their limits
// (promise H2).
func TestFaults(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		checks := func(change func(*store.Config), processes int) (serious, doubtful []serverfault.Check) {
			_, faults, err := open(t, dsn, change).Faults(t.Context(), processes)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range faults {
				if f.Doubtful {
					doubtful = append(doubtful, f.Check)
				} else {
					serious = append(serious, f.Check)
				}
			}
			return serious, doubtful
		}
		// The servers of the tests gave durability up, for speed.
		if serious, doubtful := checks(nil, 3); len(serious) > 0 || !slices.Equal(doubtful, []serverfault.Check{serverfault.CheckDurability}) {
			t.Errorf("of a usual store: %v, doubtful %v", serious, doubtful)
		}
		large := func(c *store.Config) { c.BatchRows = 10_000 }
		if serious, _ := checks(large, 1); !slices.Equal(serious, []serverfault.Check{serverfault.CheckPackets}) {
			t.Errorf("of batches of 10,000: %v", serious)
		}
		if _, doubtful := checks(nil, 100); !slices.Contains(doubtful, serverfault.CheckConnections) {
			t.Errorf("of 100 processes: doubtful %v", doubtful)
		}
	})
}

// account makes an account with rights on the database of a DSN, granted directly or through a role.
func account(t *testing.T, db *sql.DB, dsn, grant string, byRole bool) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := "u" + strings.ToLower(rand.Text()[:10])
	execute := func(statements ...string) {
		for _, s := range statements {
			if _, err := db.ExecContext(t.Context(), s); err != nil {
				t.Fatalf("%s: %s", s, err)
			}
		}
	}
	user, on := "'"+name+"'@'%'", " ON "+cfg.DBName+".* TO "
	if strings.Contains(grant, " ON ") {
		on = " TO "
	}
	execute("CREATE USER " + user)
	t.Cleanup(func() { _, _ = db.Exec("DROP USER " + user) })
	if byRole {
		role := "r" + name
		execute("CREATE ROLE "+role, "GRANT "+grant+on+role, "GRANT "+role+" TO "+user)
		t.Cleanup(func() { _, _ = db.Exec("DROP ROLE " + role) })
		def := "SET DEFAULT ROLE " + role + " TO " + user
		if isMariaDB(t, db) {
			def = "SET DEFAULT ROLE " + role + " FOR " + user
		}
		execute(def)
	} else {
		execute("GRANT " + grant + on + user)
	}
	cfg.User, cfg.Passwd = name, ""
	return cfg.FormatDSN()
}

// TestRights: the rights that an account lacks are found for all kinds of grants, and without any change (promise H2).
func TestRights(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		db := dbtest.Connect(t, dsn)
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		const work, schema = "SELECT, INSERT, UPDATE, DELETE", "CREATE, ALTER, DROP, INDEX, CREATE VIEW"
		for _, c := range []struct {
			grant         string
			byRole        bool
			work, migrate string // the missing rights
		}{
			{grant: work, migrate: schema},
			{grant: work, byRole: true, migrate: schema},
			{grant: work + ", " + schema},
			{grant: work + ", " + schema, byRole: true},
			{grant: "SELECT", work: "DELETE, UPDATE, INSERT", migrate: schema},
			{grant: "SELECT, INSERT, UPDATE, CREATE, DROP, ALTER", byRole: true, work: "DELETE", migrate: "INDEX, CREATE VIEW"},
		} {
			s, err := store.Open(t.Context(), store.Config{DSN: account(t, db, dsn, c.grant, c.byRole)})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			working, err := s.RightsToWork(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			migrating, err := s.RightsToMigrate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, judged := range []struct {
				to     string
				faults []serverfault.Fault
				want   string
			}{{"work", working, c.work}, {"migrate", migrating, c.migrate}} {
				lacks := ""
				for _, f := range judged.faults {
					rest, _ := strings.CutPrefix(f.Wrong, "the account lacks ")
					lacks, _, _ = strings.Cut(rest, " (")
					if f.Check != serverfault.CheckPrivileges || f.Doubtful || !strings.Contains(f.Remedy, "GRANT "+work) {
						t.Errorf("%s: %+v", c.grant, f)
					}
				}
				if lacks != judged.want {
					t.Errorf("to %s with %s, by a role %t: lacks %q, want %q", judged.to, c.grant, c.byRole, lacks, judged.want)
				}
			}
		}
		if pending, err := migrations.Pending(t.Context(), db); pending || err != nil {
			t.Errorf("the schema after it: %t, %v", pending, err)
		}
	})
}

// TestRightsOnSomeTables: rights on all tables but one are not enough, and that table is named.
func TestRightsOnSomeTables(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		db := dbtest.Connect(t, dsn)
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		const first, without = "boards", "table_versions"
		limited := account(t, db, dsn, "SELECT, INSERT, UPDATE, DELETE ON "+first, false)
		cfg, err := mysql.ParseDSN(limited)
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range migrations.Tables() {
			if table.Name == first {
				continue
			}
			grant := "SELECT, INSERT, UPDATE, DELETE ON "
			if table.Name == without {
				grant = "SELECT, DELETE, UPDATE ON "
			}
			if _, err := db.ExecContext(t.Context(), "GRANT "+grant+table.Name+" TO '"+cfg.User+"'@'%'"); err != nil {
				t.Fatal(err)
			}
		}
		s, err := store.Open(t.Context(), store.Config{DSN: limited})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		faults, err := s.RightsToWork(t.Context())
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0].Wrong, "lacks INSERT (") || !strings.Contains(faults[0].Wrong, without) {
			t.Errorf("%v, %v", faults, err)
		}
	})
}

// TestDenied: an account that does not exist, an account without rights, a database that does not exist and a DSN that does
// not fit the server are distinguished from a server that is away.
func TestDenied(t *testing.T) {
	t.Parallel()
	dbtest.Dialects(t, func(t *testing.T, dsn string) {
		without := account(t, dbtest.Connect(t, dsn), dsn, "USAGE ON *.*", false)
		for what, change := range map[string]func(*mysql.Config){
			"no account": func(c *mysql.Config) { c.User = "nobody" }, "no database": func(c *mysql.Config) { c.DBName = "lb_no_such" },
			"no rights": func(c *mysql.Config) {
				if cfg, err := mysql.ParseDSN(without); err == nil {
					c.User = cfg.User
				}
			},
			"no trust": func(c *mysql.Config) { c.TLSConfig = "true" }, // no TLS there, or a certificate that nobody vouches for
			"away":     func(c *mysql.Config) { c.Addr = "127.0.0.1:1" },
		} {
			cfg, err := mysql.ParseDSN(dsn)
			if err != nil {
				t.Fatal(err)
			}
			change(cfg)
			s, err := store.Open(t.Context(), store.Config{DSN: cfg.FormatDSN()})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, _, err := s.Faults(t.Context(), 1); err == nil || store.IsDenied(err) != (what != "away") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
	if store.IsDenied(nil) {
		t.Error("no error is denied")
	}
}
