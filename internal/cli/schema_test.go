package cli

import (
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/go-sql-driver/mysql" // this test looks into the database itself

	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

// TestOtherSchema: no command works on tables that a version before v0.1.1 made, and each says what to do.
func TestOtherSchema(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	db := openSQL(t, dsn)
	for _, q := range []string{
		"CREATE TABLE goose_db_version (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, version_id BIGINT NOT NULL," +
			" is_applied BOOLEAN NOT NULL, tstamp TIMESTAMP NULL DEFAULT NOW())",
		"INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1), (22, 1)",
		"CREATE TABLE boards (id BIGINT NOT NULL PRIMARY KEY, name VARBINARY(64) NOT NULL, created_time DATETIME(6) NOT NULL)",
		"INSERT INTO boards VALUES (1, 'b', '2026-11-20')",
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	was := databaseSum(t, db)
	env := map[string]string{
		"LEADERBOARD_MYSQL_DSN": dsn, "LEADERBOARD_REDIS_URL": testenv.Redis(t), "LEADERBOARD_LISTEN": "127.0.0.1:0",
		"LEADERBOARD_DIR": t.TempDir(),
	}
	for _, command := range []string{
		"migrate up", "migrate status", "migrate down --yes", "serve", "serve --migrate", "dev", "refresh --all", "verify --all", "index build --all",
	} {
		status, out, errOut := runWith(t, env, strings.Fields(command)...)
		want := exitFailed
		if command == "verify --all" {
			want = exitUnknown // nothing was found, and nothing was compared
		}
		if status != want || out != "" || !strings.Contains(errOut, "before v0.1.1 (its newest migration is 22, here it is ") || !strings.Contains(errOut, "use an empty database") {
			t.Errorf("%s: status %d, %s%s", command, status, out, errOut)
		}
		if is := databaseSum(t, db); is != was {
			t.Errorf("%s changed the database from\n%s\nto\n%s", command, was, is)
		}
	}
}

// TestUnsupportedDatabase: no command works on a database engine that is not supported, nor waits for another one, and each
// names the supported ones.
func TestUnsupportedDatabase(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	db := openSQL(t, dsn)
	was := databaseSum(t, db)
	env := map[string]string{
		"LEADERBOARD_MYSQL_DSN": testenv.WithVersion(t, dsn, "8.0.11-TiDB-v8.5.3", ""), "LEADERBOARD_REDIS_URL": testenv.Redis(t),
		"LEADERBOARD_LISTEN": "127.0.0.1:0", "LEADERBOARD_DIR": t.TempDir(),
	}
	for _, command := range []string{
		"migrate up", "migrate status", "migrate down --yes", "serve", "serve --migrate", "dev", "refresh --all", "verify --all", "index build --all",
	} {
		status, out, errOut := runWith(t, env, strings.Fields(command)...)
		want := exitFailed
		if command == "verify --all" {
			want = exitUnknown // nothing was found, and nothing was compared
		}
		if status != want || out != "" || !strings.Contains(errOut, `take a MySQL or a MariaDB`) || !strings.Contains(errOut, `"8.0.11-TiDB-v8.5.3 `) {
			t.Errorf("%s: status %d, %s%s", command, status, out, errOut)
		}
	}
	if is := databaseSum(t, db); is != was {
		t.Errorf("the database was changed from\n%s\nto\n%s", was, is)
	}
}

// TestNewerSchema: a later version has migrated the database. migrate up does nothing, and says why.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	dsn := testenv.MySQL(t)
	db := openSQL(t, dsn)
	if _, err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (7000, 1)"); err != nil {
		t.Fatal(err)
	}
	const says = "the schema is newer than this program: its newest migration is 7000"
	env := map[string]string{"LEADERBOARD_MYSQL_DSN": dsn}
	for _, command := range []string{"migrate up", "migrate status"} {
		if status, out, errOut := runWith(t, env, strings.Fields(command)...); status != exitOK || !strings.Contains(errOut, says) {
			t.Errorf("%s: status %d, %s%s", command, status, out, errOut)
		}
	}
}

func openSQL(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn+"?parseTime=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// databaseSum names every table with a checksum of its rows.
func databaseSum(t *testing.T, db *sql.DB) (sum string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY table_name")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, qualified string
		var check sql.NullInt64
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if err := db.QueryRowContext(t.Context(), "CHECKSUM TABLE "+name).Scan(&qualified, &check); err != nil {
			t.Fatal(err)
		}
		sum += fmt.Sprintln(name, check.Int64)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return sum
}

// devRefuses checks that dev does not start on a folder with data of another schema, says which, and leaves all of it.
func devRefuses(t *testing.T, dir string) {
	t.Helper()
	was := folderSum(t, dir)
	status, out, errOut := runWith(t, nil, "dev", "--listen", "127.0.0.1:0", "--dir", dir)
	data := filepath.Join(dir, "mysql")
	if _, err := os.Stat(data); err != nil {
		data = filepath.Join(dir, "mariadb")
	}
	want := "leaderboard: the data in " + data + " were made with another schema, and before v0.1.1 nothing converts them: " +
		"delete them (rm -r " + data + "), or name another folder with --dir\n"
	if status != exitFailed || out != "" || errOut != want {
		t.Errorf("status %d\n%s%s\nwant\n%s", status, out, errOut, want)
	}
	if is := folderSum(t, dir); is != was {
		t.Errorf("the folder was changed from\n%s\nto\n%s", was, is)
	}
}

// folderSum names every file of a folder with its time and a hash of its content.
func folderSum(t *testing.T, dir string) (sum string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		sum += fmt.Sprintf("%s %s %x\n", path, info.ModTime(), sha256.Sum256(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
