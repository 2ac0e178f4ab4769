package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/apptest"
	"leaderboard/internal/serverfault"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// runApp runs an app until it ends without a request to stop, and returns its error.
func runApp(t *testing.T, dsn, redisURL string, change ...func(*Config)) error {
	t.Helper()
	cfg := Defaults()
	cfg.MySQLDSN, cfg.RedisURL, cfg.Listen, cfg.Migrate = dsn, redisURL, "127.0.0.1:0", true
	for _, c := range change {
		c(&cfg)
	}
	ctx, cancel := context.WithTimeout(t.Context(), apptest.MaxWait)
	defer cancel()
	a, err := New(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	err = a.Run(ctx, func(string) string { return "" }, nil, func(context.Context) error { return nil })
	if ctx.Err() != nil {
		t.Fatal("it served until it was ended")
	}
	return err
}

// faultIn returns the fault in an error, and checks that the error's text names the remedy.
func faultIn(t *testing.T, err error) serverfault.Check {
	t.Helper()
	f, ok := errors.AsType[*serverfault.Fault](err)
	if !ok {
		t.Fatalf("ended by %v", err)
	}
	if text := err.Error(); !strings.Contains(text, " is not safe to use: ") || !strings.Contains(text, f.Remedy) {
		t.Errorf("it says %s", text)
	}
	return f.Check
}

// TestUnsafeServersEndTheStart: a server does not start on a MySQL or a Redis that is not safe to use (promise H2).
func TestUnsafeServersEndTheStart(t *testing.T) {
	t.Parallel()
	mysql, evicting := testenv.PrivateMySQL(t), testenv.PrivateRedis(t)
	dsn, err := mysql.CreateDatabase(t.Context(), "lb")
	if err != nil {
		t.Fatal(err)
	}
	if got := faultIn(t, runApp(t, dsn, configured(t, evicting.Addr, "maxmemory-policy", "allkeys-lru"))); got != serverfault.CheckEviction {
		t.Errorf("an evicting Redis: %s", got)
	}
	execute(t, dsn, "SET GLOBAL max_allowed_packet = 4194304")
	if got := faultIn(t, runApp(t, dsn, "")); got != serverfault.CheckPackets {
		t.Errorf("small packets: %s", got)
	}
	execute(t, dsn, "SET GLOBAL max_allowed_packet = 67108864")
	execute(t, dsn, "CREATE USER worker")
	execute(t, dsn, "GRANT SELECT, INSERT, UPDATE ON lb.* TO worker")
	worker := strings.Replace(dsn, "root@", "worker@", 1)
	if got := faultIn(t, runApp(t, worker, "")); got != serverfault.CheckPrivileges {
		t.Errorf("an account that may not migrate: %s", got)
	}
	startReady(t, dsn, "")
	if err := runApp(t, worker, ""); faultIn(t, err) != serverfault.CheckPrivileges || !strings.Contains(err.Error(), "lacks DELETE (") {
		t.Errorf("an account that may not delete: %v", err)
	}
	execute(t, dsn, "GRANT DELETE ON lb.* TO worker")
	startReady(t, worker, "") // with --migrate, and nothing to migrate
	execute(t, dsn, "CREATE USER partly")
	execute(t, dsn, "GRANT SELECT, INSERT, UPDATE, DELETE ON lb.boards TO partly")
	partly := strings.Replace(dsn, "root@", "partly@", 1)
	if err := runApp(t, partly, ""); faultIn(t, err) != serverfault.CheckPrivileges || !strings.Contains(err.Error(), "CREATE VIEW ON the database") {
		t.Errorf("an account with rights on one table: %v", err)
	}
}

// configured changes a setting of a private Redis.
func configured(t *testing.T, addr, name, value string) (url string) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	if err := client.ConfigSet(t.Context(), name, value).Err(); err != nil {
		t.Fatal(err)
	}
	return "redis://" + addr + "/0"
}

// TestUnsafeRedisComesBack: Redis did not answer at the start, and comes back with settings that are not safe. The server
// continues; /readyz and the log report the fault until it is repaired.
func TestUnsafeRedisComesBack(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	url := configured(t, server.Addr, "maxmemory-policy", "volatile-lru")
	if err := server.Pause(); err != nil {
		t.Fatal(err)
	}
	a := startReady(t, testenv.MySQL(t), url)
	if err := server.Resume(); err != nil {
		t.Fatal(err)
	}
	a.awaitHealth(http.StatusOK, "degraded", "volatile-lru", "CONFIG SET maxmemory-policy noeviction")
	a.Ask(201, "PUT", "/v1/boards/b", `{}`)
	submit(a, "ada", 10)
	apptest.Eventually(t, func() string { return differs(a, "ada", 10, 1) })
	configured(t, server.Addr, "maxmemory-policy", "noeviction")
	l, err := a.checkRedis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(l.faults) != 0 {
		t.Errorf("a Redis that was mended: %v", l.faults)
	}
	if n := strings.Count(a.log.String(), "volatile-lru"); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
}

// TestRedisState: a fault of Redis is logged once, and its end too.
func TestRedisState(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	var state redisState
	logger := slog.New(slog.NewTextHandler(&log, nil))
	evicts := serverfault.Fault{Check: serverfault.CheckEviction, Wrong: "it evicts", Remedy: "mend it"}
	silent := serverfault.Fault{Check: serverfault.CheckAnswers, Wrong: "it does not tell", Remedy: "let it", Doubtful: true}
	replica := serverfault.Fault{Check: serverfault.CheckReplica, Wrong: "a replica", Remedy: "another one", Doubtful: true}
	for i, step := range []struct {
		faults []serverfault.Fault
		health string
		lines  int
	}{
		{nil, "", 0},
		{[]serverfault.Fault{silent}, "", 1},
		{[]serverfault.Fault{silent, evicts}, "it evicts: mend it", 2},
		{[]serverfault.Fault{silent, evicts}, "it evicts: mend it", 0},
		{[]serverfault.Fault{replica}, "a replica: another one", 1},
		{nil, "", 1},
		{nil, "", 0},
	} {
		log.Reset()
		state.note("Redis at h", step.faults, logger)
		health := ""
		if err := state.health(); err != nil {
			health = err.Error()
		}
		if lines := strings.Count(log.String(), "\n"); health != step.health || lines != step.lines {
			t.Errorf("step %d: health %q, %d lines\n%s", i, health, lines, log.String())
		}
	}
}

// TestFaultWait: a start waits half a minute for a failover to end, and for as long as it takes for a server that is away.
func TestFaultWait(t *testing.T) {
	t.Parallel()
	const dsn = "u:secret@tcp(h:1)/lb"
	for _, c := range []struct {
		err  error
		ends bool
	}{{fmt.Errorf("ask: %w", store.ErrReadOnly), true}, {leaderboard.ErrUnavailable, false}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			began := time.Now()
			err := untilSchema(ctx, dsn, slog.New(slog.DiscardHandler), func() (bool, error) { return false, c.err })
			took := time.Since(began)
			if !c.ends {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v: ended by %v after %s", c.err, err, took)
				}
				return
			}
			if got := faultIn(t, err); got != serverfault.CheckReadOnly || took < faultWait || took > faultWait+2*maxMigrateWait || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v: ended by %v after %s", c.err, err, took)
			}
			began = time.Now()
			failed := false // a failover that takes less, twice
			err = untilSchema(ctx, dsn, slog.New(slog.DiscardHandler), func() (bool, error) {
				switch at := time.Since(began); {
				case at < faultWait*2/3:
					return false, c.err
				case !failed:
					failed = true
					return false, leaderboard.ErrUnavailable
				case at < faultWait*4/3:
					return false, c.err
				default:
					return true, nil
				}
			})
			if err != nil {
				t.Errorf("after two short failovers: %v", err)
			}
		})
	}
}

// TestChecksAreDocumented: docs/engines.md has a row for each check.
func TestChecksAreDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("../serverfault/serverfault.go")
	if err != nil {
		t.Fatal(err)
	}
	checks := regexp.MustCompile(`Check += "(.+)"`).FindAllStringSubmatch(string(source), -1)
	if len(checks) < 9 {
		t.Errorf("found %d checks, the search is broken", len(checks))
	}
	for _, check := range checks {
		if !strings.Contains(string(text), "\n| `"+check[1]+"` |") {
			t.Errorf("docs/engines.md has no row for %s", check[1])
		}
	}
}
