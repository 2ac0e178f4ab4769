package cli

import (
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/urfave/cli/v3"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// TestMain lets the test binary act as the program, which the scripts run.
func TestMain(m *testing.M) {
	redis.SetLogger(silence{}) // as Main does
	cli.HelpPrinter = printHelp
	testscript.Main(served{m}, map[string]func(){"leaderboard": func() { os.Exit(Main()) }})
}

// served is the tests and the servers that they started.
type served struct{ *testing.M }

// Run implements testscript.TestingM.
func (s served) Run() int { return testenv.Main(s.M) }

// TestScripts runs testdata/script/*.txtar, each with a new database and a new Redis. The commands of the scripts, in addition to
// `leaderboard`, are:
//
//	address    chooses a free address: LEADERBOARD_LISTEN, LEADERBOARD_URL
//	ready      waits until the server there is ready
//	one-line   fails unless standard output is a single line
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			env := map[string]string{}
			if strings.Contains(string(content), "# needs servers") {
				env["DSN"], env["REDIS"] = testenv.MySQL(t), testenv.Redis(t)
			}
			if strings.Contains(string(content), "# needs unsafe servers") {
				maps.Copy(env, unsafeServers(t, env["DSN"]))
			}
			testscript.Run(t, testscript.Params{
				Files:               []string{file},
				RequireExplicitExec: true,
				Setup: func(e *testscript.Env) error {
					e.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each command takes a second with the race detector
					for name, value := range env {
						e.Setenv(name, value)
					}
					return nil
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"address": scriptAddress, "ready": scriptReady, "one-line": scriptOneLine,
				},
			})
		})
	}
}

// unsafeServers are addresses of servers that the program must not use: see testdata/script/unsafe.txtar.
func unsafeServers(t *testing.T, dsn string) map[string]string {
	t.Helper()
	cache := testenv.PrivateRedis(t)
	client := redis.NewClient(&redis.Options{Addr: cache.Addr})
	defer client.Close()
	if err := client.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	replica, err := testenv.PrivateMySQL(t).CreateDatabase(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	limited, err := mysql.ParseDSN(testenv.MySQL(t))
	if err != nil {
		t.Fatal(err)
	}
	db := openSQL(t, limited.FormatDSN())
	partial, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	account := func(of *mysql.Config, name, grant, on string) {
		of.User, of.Passwd = name+"_"+of.DBName[len(of.DBName)-8:], ""
		for _, statement := range []string{"CREATE USER " + of.User, "GRANT " + grant + " ON " + of.DBName + "." + on + " TO " + of.User} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _, _ = db.Exec("DROP USER " + of.User) })
	}
	account(limited, "reader", "SELECT", "*")
	account(partial, "partly", "SELECT, CREATE", "boards")
	if _, err := openSQL(t, replica).ExecContext(t.Context(), "SET GLOBAL read_only = ON"); err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"EVICTING": "redis://" + cache.Addr + "/0", "REPLICA": replica, "LIMITED": limited.FormatDSN(), "PARTIAL": partial.FormatDSN(),
	}
}

func scriptAddress(ts *testscript.TestScript, _ bool, _ []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv("LEADERBOARD_LISTEN", l.Addr().String())
	ts.Setenv("LEADERBOARD_URL", "http://"+l.Addr().String())
}

func scriptReady(ts *testscript.TestScript, _ bool, _ []string) {
	deadline := time.Now().Add(apptest.MaxWait)
	last := "no answer"
	for time.Now().Before(deadline) {
		resp, err := http.Get(ts.Getenv("LEADERBOARD_URL") + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
			last = resp.Status
		}
		<-time.After(20 * time.Millisecond)
	}
	ts.Fatalf("the server is not ready in time: %s", last)
}

func scriptOneLine(ts *testscript.TestScript, _ bool, _ []string) {
	out := ts.ReadFile("stdout")
	if strings.Count(out, "\n") != 1 {
		ts.Fatalf("want one line of output, got %q", out)
	}
}
