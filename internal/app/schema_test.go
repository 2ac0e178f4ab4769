package app

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // the tests migrate the database themselves

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/migrations"
	"leaderboard/store"
)

// TestNewerSchema: while a later version is rolled out it migrates first; servers of this version continue to work, and start.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	db := migrated(t, dsn)
	if _, err := db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (7000, 1)"); err != nil {
		t.Fatal(err)
	}
	a := startReady(t, dsn, "")
	a.Ask(http.StatusCreated, "PUT", "/v1/boards/b", `{}`)
	apptest.Eventually(t, func() string {
		if strings.Contains(a.log.String(), "the schema is newer than this program: its newest migration is 7000") {
			return ""
		}
		return "the log says nothing of it"
	})
}

// TestMigratedByAnother: a server without --migrate waits for the schema, and then does all its work, also that in the
// background: a derived board follows.
func TestMigratedByAnother(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	a := startApp(t, dsn, "", func(c *Config) { c.Migrate = false })
	a.Await("/readyz", http.StatusServiceUnavailable)
	migrated(t, dsn)
	a.Await("/readyz", http.StatusOK)
	a.Ask(http.StatusCreated, "PUT", "/v1/boards/source", `{}`)
	a.Ask(http.StatusCreated, "PUT", "/v1/boards/derived", `{"derive":{"from":[{"board":"source"}]}}`)
	a.Ask(http.StatusOK, "POST", "/v1/boards/source/scores", `{"entries":[{"member":"m","score":1}]}`)
	apptest.Eventually(t, func() string {
		if _, body := a.Get("/v1/boards/derived/top"); strings.Contains(string(body), `"total":1`) {
			return ""
		}
		return "the derived board does not follow"
	})
}

// migrated brings a database up to date.
func migrated(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn+"?parseTime=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestMigrateWaitsOn: serve --migrate waits for another process that migrates, also when MySQL ends its connections meanwhile.
func TestMigrateWaitsOn(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const lock = "SELECT GET_LOCK(CONCAT('leaderboard-', LEFT(SHA2(DATABASE(), 256), 40)), 0)"
	var got int
	if err := other.QueryRowContext(t.Context(), lock).Scan(&got); err != nil || got != 1 {
		t.Fatal(got, err)
	}
	a := startApp(t, dsn, "")
	apptest.Eventually(t, func() string {
		processes, err := testenv.Processes(t.Context(), db)
		for _, p := range processes {
			if strings.Contains(p.Statement, "GET_LOCK") {
				if _, err := db.ExecContext(t.Context(), fmt.Sprint("KILL ", p.ID)); err != nil {
					return err.Error()
				}
				return ""
			}
		}
		return fmt.Sprint("it does not wait for the lock: ", err)
	})
	apptest.Eventually(t, func() string {
		if !strings.Contains(a.log.String(), "the schema waits for MySQL") {
			return "the log does not say that it waits"
		}
		return ""
	})
	if status, body := a.Get("/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz is %d %s before there is a schema", status, body)
	}
	if err := other.Close(); err != nil { // it goes back to its pool, with the lock
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	a.Await("/readyz", http.StatusOK)
}

// TestUnsupportedDatabase: a server on a database of a version that is not supported names the supported ones and ends, with
// --migrate and without.
func TestUnsupportedDatabase(t *testing.T) {
	t.Parallel()
	dsn := testenv.WithVersion(t, testenv.MySQL(t), "8.0.11-TiDB-v8.5.3", "")
	for _, migrate := range []bool{true, false} {
		a := startApp(t, dsn, "", func(c *Config) { c.Migrate = migrate })
		select {
		case err := <-a.failed:
			if !errors.Is(err, store.ErrUnsupported) || !strings.Contains(err.Error(), "8.0.11-TiDB-v8.5.3") {
				t.Errorf("with migrate %t: %v", migrate, err)
			}
		case <-time.After(apptest.MaxWait):
			t.Errorf("with migrate %t it waits", migrate)
		}
	}
}
