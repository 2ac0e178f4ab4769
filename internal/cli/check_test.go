package cli

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/app"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/migrations"
)

// checking returns the states that serve --check prints, as in "mysql failed", and its output.
func checking(t *testing.T, wantStatus int, env map[string]string, flags ...string) (states, out string) {
	t.Helper()
	status, out, errOut := runWith(t, env, append([]string{"serve", "--check"}, flags...)...)
	if status != wantStatus || (status == exitOK) != (errOut == "") {
		t.Errorf("%v: status %d, want %d\n%s%s", flags, status, wantStatus, out, errOut)
	}
	var b strings.Builder
	for line := range strings.Lines(out) {
		state, rest, _ := strings.Cut(line, "  ")
		name, _, _ := strings.Cut(strings.TrimSpace(rest), "  ")
		if state != "ok" {
			fmt.Fprintf(&b, "%s %s, ", name, state)
		}
	}
	status, jsonOut, jsonErr := runWith(t, env, append([]string{"serve", "--check", "--json"}, flags...)...)
	var view struct {
		Starts bool
		Checks []app.Finding
	}
	if err := json.Unmarshal([]byte(jsonOut), &view); err != nil {
		t.Fatal(err)
	}
	if status != wantStatus || jsonErr != "" || view.Starts != (status == exitOK) || len(view.Checks) != strings.Count(out, "\n") {
		t.Errorf("%v in JSON: status %d\n%s%s", flags, status, jsonOut, jsonErr)
	}
	if strings.Contains(out+errOut+jsonOut, "secret") {
		t.Errorf("it shows a secret: %s%s%s", out, errOut, jsonOut)
	}
	return strings.TrimSuffix(b.String(), ", "), out
}

// positionOf returns where the binary log of a MySQL ends.
func positionOf(t *testing.T, db *sql.DB) string {
	t.Helper()
	var file, position string
	var rest [3]sql.RawBytes
	rows, err := db.QueryContext(t.Context(), "SHOW BINARY LOG STATUS")
	if err != nil {
		rows, err = db.QueryContext(t.Context(), "SHOW MASTER STATUS") // before 8.4
	}
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatalf("there is no binary log: %v", rows.Err())
	}
	if err := rows.Scan(&file, &position, &rest[0], &rest[1], &rest[2]); err != nil {
		t.Fatal(err)
	}
	return file + " " + position
}

// TestCheckChangesNothing: serve --check makes every check of a start, on an empty database, on a database that lacks a migration
// and on an up-to-date database, and writes nothing to the binary log.
func TestCheckChangesNothing(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateMySQL(t)
	dsn, err := server.CreateDatabase(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, dsn)
	env := map[string]string{
		"LEADERBOARD_MYSQL_DSN": dsn, "LEADERBOARD_REDIS_URL": testenv.Redis(t), "LEADERBOARD_LISTEN": "127.0.0.1:0", "LEADERBOARD_OPS_LISTEN": "127.0.0.1:0",
		"LEADERBOARD_KEYS": "admin:secret",
	}
	expect := func(what string, status int, states, says string, flags ...string) {
		t.Helper()
		was := positionOf(t, db)
		got, out := checking(t, status, env, flags...)
		if got != states || !strings.Contains(out, says) {
			t.Errorf("%s, %v: %q, want %q and %q\n%s", what, flags, got, states, says, out)
		}
		if is := positionOf(t, db); is != was {
			t.Errorf("%s, %v: it wrote, the binary log goes from %s to %s", what, flags, was, is)
		}
	}
	expect("empty", exitFailed, "schema failed", "the database has no tables yet: run `leaderboard migrate up`, or start with --migrate")
	expect("empty", exitOK, "", "the database has no tables yet, the start applies what is missing", "--migrate")
	if _, err := migrations.Up(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	expect("up to date", exitOK, "", "lb: MySQL ")
	expect("up to date", exitOK, "", fmt.Sprint("the newest migration is ", migrations.Latest()), "--migrate")
	execSQL(t, db, fmt.Sprint("DELETE FROM goose_db_version WHERE version_id = ", migrations.Latest()))
	needs := fmt.Sprintf("the newest migration is %d, and this program needs %d", migrations.Latest()-1, migrations.Latest())
	expect("a migration is pending", exitFailed, "schema failed", needs)
	expect("a migration is pending", exitOK, "", needs, "--migrate")
	execSQL(t, db, "CREATE USER worker", "GRANT SELECT, INSERT, UPDATE, DELETE ON lb.* TO worker")
	env["LEADERBOARD_MYSQL_DSN"] = strings.Replace(dsn, "root@", "worker@", 1)
	expect("a migration is pending, no right to migrate", exitFailed, "schema failed", "the account lacks CREATE, ALTER, DROP, INDEX, CREATE VIEW", "--migrate")
	execSQL(t, db, fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, 1), (7000, 1)", migrations.Latest()))
	expect("newer, no right to migrate", exitOK, "schema warning", "the schema is newer than this program", "--migrate")
	execSQL(t, db, "REVOKE DELETE ON lb.* FROM worker")
	expect("no right to delete", exitFailed, "schema warning, rights failed", "the account lacks DELETE")
	env["LEADERBOARD_MYSQL_DSN"] = dsn
	execSQL(t, db, "DELETE FROM goose_db_version WHERE version_id = 7000")
	delete(env, "LEADERBOARD_KEYS")
	expect("no keys", exitOK, "keys warning", "nobody can write")
	execSQL(t, db, "SET GLOBAL read_only = ON")
	expect("read-only", exitFailed, "mysql failed, schema skipped, rights skipped, keys skipped", "it is read-only: a replica")
}

// execSQL runs statements.
func execSQL(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %s", s, err)
		}
	}
}

// TestCheck: serve --check reports on each thing that a start needs.
func TestCheck(t *testing.T) {
	t.Parallel()
	dsns := map[string]string{"MySQL": testenv.MySQL(t), "MariaDB": testenv.MariaDB(t)}
	for product, dsn := range dsns {
		db := openSQL(t, dsn)
		if _, err := migrations.Up(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"LEADERBOARD_MYSQL_DSN": dsn, "LEADERBOARD_REDIS_URL": testenv.Redis(t), "LEADERBOARD_LISTEN": "127.0.0.1:0", "LEADERBOARD_KEYS": "write:secret"}
		was := databaseSum(t, db)
		states, out := checking(t, exitOK, env)
		// The servers of the tests gave durability up, for speed.
		if states != "mysql warning" || !strings.Contains(out, "innodb_flush_log_at_trx_commit is 0") || !strings.Contains(out, ": Redis ") || !strings.Contains(out, "noeviction") {
			t.Errorf("%s: %s\n%s", product, states, out)
		}
		if is := databaseSum(t, db); is != was {
			t.Errorf("%s was changed", product)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	ca := filepath.Join(t.TempDir(), "ca")
	if err := os.WriteFile(ca, apptest.NewCA(t).PEM, 0o600); err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, dsns["MySQL"])
	user := "check" + dsns["MySQL"][len(dsns["MySQL"])-8:]
	execSQL(t, db, "CREATE USER "+user+" IDENTIFIED BY 'right'")
	t.Cleanup(func() { _, _ = db.Exec("DROP USER " + user) })
	_, at, _ := strings.Cut(dsns["MySQL"], "@")
	server, _, _ := strings.Cut(strings.TrimPrefix(at, "tcp("), ")")
	locked := testenv.PrivateRedis(t)
	admin := redis.NewClient(&redis.Options{Addr: locked.Addr})
	defer admin.Close()
	if err := admin.ConfigSet(t.Context(), "requirepass", "right").Err(); err != nil {
		t.Fatal(err)
	}
	provider := apptest.NewProvider(t)
	signingIn := func(issuer string) []string {
		return []string{"--public-url", "http://localhost", "--oidc-issuer", issuer, "--oidc-client-id", "scores", "--oidc-admins", "admins"}
	}
	const unasked = "schema skipped, rights skipped, keys skipped"
	for name, c := range map[string]struct {
		flags        []string
		status       int
		states, says string
	}{
		"MySQL away":     {[]string{"--mysql-dsn", "root:secret@tcp(127.0.0.1:1)/lb"}, exitFailed, "mysql failed, " + unasked, "start it, or correct its address in --mysql-dsn"},
		"no database":    {[]string{"--mysql-dsn", "root@tcp(" + server + ")/no_such"}, exitFailed, "mysql failed, " + unasked, "there is no database no_such: CREATE DATABASE `no_such`, or correct its name in --mysql-dsn"},
		"wrong password": {[]string{"--mysql-dsn", user + ":secret@" + at}, exitFailed, "mysql failed, " + unasked, "correct user, password, database or tls in --mysql-dsn"},
		"Redis away":     {[]string{"--redis-url", "redis://:secret@127.0.0.1:1/0"}, exitOK, "redis warning, mysql warning", "correct --redis-url; servers work without it"},
		"no Redis":       {nil, exitOK, "mysql warning", "none is given"},
		"Redis password": {[]string{"--redis-url", "redis://:secret@" + locked.Addr + "/0"}, exitOK, "redis warning, mysql warning", "WRONGPASS"},
		"port in use":    {[]string{"--listen", taken.Addr().String()}, exitFailed, "listen failed, mysql warning", "choose another address with --listen"},
		"ops port":       {[]string{"--ops-listen", taken.Addr().String()}, exitFailed, "ops-listen failed, mysql warning", "choose another address with --ops-listen"},
		"certificate":    {[]string{"--tls-cert", ca, "--tls-key", ca + "x"}, exitFailed, "tls-cert failed, mysql warning", "no such file"},
		"provider":       {signingIn(provider.URL), exitOK, "mysql warning", provider.URL + " says where people sign in"},
		"other provider": {signingIn(provider.URL + "/"), exitOK, "mysql warning, sign-in warning", "the settings call it"},
		"provider away":  {signingIn("http://127.0.0.1:1"), exitOK, "mysql warning, sign-in warning", "connection refused: correct --oidc-issuer"},
		"large batches":  {[]string{"--batch-rows", "10000"}, exitFailed, "settings warning, mysql failed, mysql warning", "SET GLOBAL max_allowed_packet"},
		"settings":       {[]string{"--redis-url", "redis://127.0.0.1:1/0?no_such=1"}, exitUsage, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			env := map[string]string{"LEADERBOARD_MYSQL_DSN": dsns["MySQL"], "LEADERBOARD_LISTEN": "127.0.0.1:0", "LEADERBOARD_KEYS": "write:secret"}
			if c.status == exitUsage {
				if status, out, errOut := runWith(t, env, append([]string{"serve", "--check"}, c.flags...)...); status != exitUsage || out != "" {
					t.Errorf("status %d\n%s%s", status, out, errOut)
				}
				return
			}
			if states, out := checking(t, c.status, env, c.flags...); states != c.states || !strings.Contains(out, c.says) {
				t.Errorf("%q, want %q and %q\n%s", states, c.states, c.says, out)
			}
		})
	}
	if status, _, errOut := runWith(t, nil, "serve", "--json"); status != exitUsage || !strings.Contains(errOut, "--json goes with --check") {
		t.Errorf("--json alone: status %d, %s", status, errOut)
	}
}
