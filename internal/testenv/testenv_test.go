package testenv

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/devserver"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func scan(t *testing.T, db *sql.DB, query string, args ...any) string {
	t.Helper()
	var value string
	if err := db.QueryRow(query, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %s", query, err)
	}
	return value
}

// TestDatabasesAreFreshAndApart: each call gives a separate, empty database on the product that it names, which is gone
// when its test has ended.
func TestDatabasesAreFreshAndApart(t *testing.T) {
	for name, fresh := range map[string]func(testing.TB) string{"mysql": MySQL, "mariadb": MariaDB} {
		t.Run(name, func(t *testing.T) {
			outer := open(t, fresh(t))
			var names []string
			t.Run("inner", func(t *testing.T) {
				for range 2 {
					cfg, err := mysql.ParseDSN(fresh(t))
					if err != nil {
						t.Fatal(err)
					}
					names = append(names, cfg.DBName)
					db := open(t, cfg.FormatDSN())
					if n := scan(t, db, "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"); n != "0" {
						t.Errorf("%s has %s tables, want none", cfg.DBName, n)
					}
					if _, err := db.Exec("CREATE TABLE t (id INT PRIMARY KEY)"); err != nil {
						t.Error(err)
					}
					version := scan(t, db, "SELECT VERSION()")
					if strings.Contains(version, "MariaDB") != (name == "mariadb") {
						t.Errorf("version %s", version)
					}
				}
			})
			if len(names) != 2 || names[0] == names[1] {
				t.Fatalf("databases %v", names)
			}
			for _, n := range names {
				if got := scan(t, outer, "SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = ?", n); got != "0" {
					t.Errorf("%s is still there after its test", n)
				}
			}
		})
	}
}

// TestPrivateMySQLIsDurable: writes that a private MySQL acknowledged survive a crash, since it is not Fast.
func TestPrivateMySQLIsDurable(t *testing.T) {
	s := PrivateMySQL(t)
	db := open(t, s.DSN)
	for name, want := range map[string]string{"innodb_flush_log_at_trx_commit": "1", "sync_binlog": "1"} {
		if got := scan(t, db, "SELECT @@"+name); got != want {
			t.Errorf("%s = %s, want %s", name, got, want)
		}
	}
	for _, query := range []string{"CREATE DATABASE app", "CREATE TABLE app.t (id INT PRIMARY KEY)", "INSERT INTO app.t VALUES (1)"} {
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := scan(t, open(t, s.DSN), "SELECT COUNT(*) FROM app.t"); got != "1" {
		t.Errorf("%s rows after the crash, want 1", got)
	}
}

func TestPrivateServersEndWithTheirTest(t *testing.T) {
	var s *devserver.Server
	t.Run("inner", func(t *testing.T) {
		s = PrivateRedis(t)
		if err := s.Pause(); err != nil { // a paused one too
			t.Fatal(err)
		}
	})
	select {
	case <-s.Exited():
	default:
		t.Error("the server is still running")
	}
}

// caught is a test that keeps its failures.
type caught struct {
	testing.TB
	message string
}

func (c *caught) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok {
			c.message += err.Error()
		}
	}
	panic(errCaught)
}

var errCaught = errors.New("the test has failed")

// TestNoServerFails: without a server and a way to get one the test fails, is not skipped, and says what to do. The next test does
// not try again.
func TestNoServerFails(t *testing.T) {
	t.Setenv(RedisVariable, "")
	t.Setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
	t.Setenv("PATH", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	p := newPool()
	for range 2 {
		c := &caught{TB: t}
		func() {
			defer func() {
				if r, _ := recover().(error); !errors.Is(r, errCaught) {
					t.Fatalf("the test went on: %v", r)
				}
			}()
			p.forTest(c, devserver.KindRedis)
		}()
		if !strings.Contains(c.message, RedisVariable) || !strings.Contains(c.message, "docker compose up") {
			t.Errorf("the message does not say what to do: %s", c.message)
		}
	}
	if err := p.failed[devserver.KindRedis]; !errors.Is(err, devserver.ErrNoServer) {
		t.Errorf("remembered error %v, want %v", err, devserver.ErrNoServer)
	}
	if err := p.stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestPoolStartsOnce: a process starts one server of a kind for all callers, and stop ends it.
func TestPoolStartsOnce(t *testing.T) {
	t.Setenv(RedisVariable, "")
	p := newPool()
	first := p.forTest(t, devserver.KindRedis)
	if again := p.forTest(t, devserver.KindRedis); again != first {
		t.Errorf("second server at %s, first at %s", again, first)
	}
	cfg := devserver.Config{Redis: first}
	if _, err := devserver.StartRedis(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := p.stop(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := devserver.StartRedis(t.Context(), cfg); err == nil {
		t.Error("the server still answers after stop")
	}
	if _, err := os.Stat(p.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folder after stop: %v, want it gone", err)
	}
}

func TestGivenAddressesComeFirst(t *testing.T) {
	for _, kind := range []devserver.Kind{devserver.KindMySQL, devserver.KindMariaDB, devserver.KindRedis} {
		want := "address of " + string(kind)
		t.Setenv(Variable(kind), want)
		p, err := Provide(t.Context(), kind, t.TempDir(), nil)
		if err != nil || p.Address != want || p.Origin != "given" {
			t.Errorf("Provide(%s) = %+v, %v", kind, p, err)
		}
		if got := newPool().forTest(t, kind); got != want {
			t.Errorf("forTest(%s) = %s", kind, got)
		}
	}
}

// TestGivenProgramsAreStarted: shared and private servers are started from the program that the environment names.
func TestGivenProgramsAreStarted(t *testing.T) {
	for _, kind := range []devserver.Kind{devserver.KindMySQL, devserver.KindMariaDB, devserver.KindRedis} {
		program := filepath.Join(t.TempDir(), "no-"+string(kind))
		t.Setenv(Variable(kind), "")
		t.Setenv(ProgramVariable(kind), program)
		if p, err := Provide(t.Context(), kind, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), program) {
			t.Errorf("Provide(%s) = %+v, %v, want an error that names %s", kind, p, err, program)
		}
	}
	for kind, private := range map[devserver.Kind]func(testing.TB) *devserver.Server{
		devserver.KindMySQL: PrivateMySQL, devserver.KindRedis: PrivateRedis,
	} {
		c := &caught{TB: t}
		func() {
			defer func() { _ = recover() }()
			private(c)
		}()
		if want := os.Getenv(ProgramVariable(kind)); !strings.Contains(c.message, want) {
			t.Errorf("private %s: %q, want an error that names %s", kind, c.message, want)
		}
	}
}
