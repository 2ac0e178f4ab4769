// Package testenv gives tests real servers: a fresh MySQL or MariaDB database, a separate Redis database, or whole private
// servers to maltreat.
//
// Sources of servers, first match:
//
//  1. addresses in the environment: LEADERBOARD_TEST_MYSQL_DSN,
//     LEADERBOARD_TEST_MARIADB_DSN, LEADERBOARD_TEST_REDIS_URL;
//  2. programs in the environment: LEADERBOARD_TEST_MYSQL_PROGRAM,
//     LEADERBOARD_TEST_MARIADB_PROGRAM, LEADERBOARD_TEST_REDIS_PROGRAM, each the
//     path of a server, which private servers are started from too. An SQL
//     server may stand in for another, a Valkey for Redis;
//  3. containers, when a Docker engine answers;
//  4. internal/devserver: programs on PATH, or the distribution's packages.
//
// One set of servers serves a whole run: the program in testenv/run starts it and passes the addresses on (make test does
// that). Without it each test process starts its servers at first use, and the servers die with it.
//
// Without a server and a way to get one the test fails, and says what to
// install. No test is skipped.
package testenv

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"leaderboard/internal/devserver"
)

// MySQL returns the DSN of a fresh, empty database on the run's MySQL. It is dropped when the test ends. The DSN has only
// the parts that connecting needs.
func MySQL(t testing.TB) string {
	t.Helper()
	return database(t, devserver.KindMySQL)
}

// MariaDB is MySQL on the run's MariaDB.
func MariaDB(t testing.TB) string {
	t.Helper()
	return database(t, devserver.KindMariaDB)
}

// Redis returns the URL of a Redis database that no other test uses at the same
// time. It is empty, and is emptied and given back when the test ends. FLUSHALL
// and CONFIG would hit others: use PrivateRedis for such faults.
func Redis(t testing.TB) string {
	t.Helper()
	return claimRedis(t, shared(t, devserver.KindRedis))
}

// PrivateRedis returns a Redis process of the test's own, to be killed, paused
// or flushed. It ends with the test.
func PrivateRedis(t testing.TB) *devserver.Server {
	t.Helper()
	return private(t, devserver.KindRedis, devserver.StartRedis)
}

// PrivateMySQL returns a MySQL process for the test alone, with an empty data folder and MySQL's default durability:
// acknowledged writes survive Kill. It is up in about a second and ends with the test.
func PrivateMySQL(t testing.TB) *devserver.Server {
	t.Helper()
	return private(t, devserver.KindMySQL, devserver.StartMySQL)
}

// PrivateMariaDB is PrivateMySQL with a MariaDB, whose configuration may be changed.
func PrivateMariaDB(t testing.TB, change ...func(*devserver.Config)) *devserver.Server {
	t.Helper()
	return private(t, devserver.KindMariaDB, devserver.StartMariaDB, change...)
}

// PrivateMySQLGroup returns a MySQL Group Replication of three members with one primary, of the test's own. When the primary dies another
// member takes writes after some five seconds, fifteen in a run of all tests. It is up in about ten seconds and ends with the test.
func PrivateMySQLGroup(t testing.TB) *devserver.MySQLGroup {
	t.Helper()
	g, err := devserver.StartMySQLGroup(t.Context(), groupConfig(t))
	endsWith(t, g, err)
	return g
}

// PrivateMySQLMembers returns servers that the test can make a group, and that end with it.
func PrivateMySQLMembers(t testing.TB, members int) *devserver.MySQLGroup {
	t.Helper()
	g, err := devserver.StartMySQLMembers(t.Context(), groupConfig(t), members)
	endsWith(t, g, err)
	return g
}

// PrivateGalera returns a Galera cluster of three nodes for the test alone; the first takes writes and the others are
// read-only. The cluster finds after some five seconds that a node has died, fifteen in a run of all tests. It is up in
// some seconds and ends with the test.
func PrivateGalera(t testing.TB) *devserver.Galera {
	t.Helper()
	g, err := devserver.StartGalera(t.Context(), galeraConfig(t))
	endsWith(t, g, err)
	return g
}

// PrivateGaleraNodes returns a Galera cluster whose nodes are all read-only, and that ends with the test.
func PrivateGaleraNodes(t testing.TB, nodes int) *devserver.Galera {
	t.Helper()
	g, err := devserver.StartGaleraNodes(t.Context(), galeraConfig(t), nodes)
	endsWith(t, g, err)
	return g
}

// galeraConfig is the configuration of Galera nodes. A MySQL in place of a MariaDB cannot be a node.
func galeraConfig(t testing.TB) devserver.Config {
	t.Helper()
	program := os.Getenv(ProgramVariable(devserver.KindMariaDB))
	if filepath.Base(program) != "mariadbd" {
		program = ""
	}
	return devserver.Config{Dir: t.TempDir(), Log: t.Logf, Program: program, Ephemeral: true, Patience: Size(10, 0)}
}

// groupConfig is the configuration of members of groups. A MariaDB in place of a MySQL has no group replication.
func groupConfig(t testing.TB) devserver.Config {
	t.Helper()
	program := os.Getenv(ProgramVariable(devserver.KindMySQL))
	if filepath.Base(program) != "mysqld" {
		program = ""
	}
	patience := Size(10, 0) // members that get no processor for a while during other tests are not dead
	return devserver.Config{Dir: t.TempDir(), Log: t.Logf, Program: program, Ephemeral: true, MySQLOnly: true, Patience: patience}
}

// PrivateRedisCluster returns a Redis Cluster of the test's own: three primaries with a replica each, which is promoted
// when its primary has not answered for about a second. It is up in three seconds and ends with the test.
func PrivateRedisCluster(t testing.TB) *devserver.Cluster {
	t.Helper()
	c, err := devserver.StartRedisCluster(t.Context(), redisConfig(t), devserver.ClusterConfig{})
	endsWith(t, c, err)
	return c
}

// PrivateRedisSentinel returns a Redis of the test's own with a replica and three sentinels, which promote it when the primary
// has not answered for about a second. It is up in three seconds and ends with the test.
func PrivateRedisSentinel(t testing.TB) *devserver.Sentinel {
	t.Helper()
	s, err := devserver.StartRedisSentinel(t.Context(), redisConfig(t), devserver.SentinelConfig{})
	endsWith(t, s, err)
	return s
}

// redisConfig is the configuration of private servers of Redis.
func redisConfig(t testing.TB) devserver.Config {
	t.Helper()
	return devserver.Config{Dir: t.TempDir(), Log: t.Logf, Program: os.Getenv(ProgramVariable(devserver.KindRedis)), Ephemeral: true}
}

// endsWith stops servers at the end of a test, which fails if they could not be started.
func endsWith(t testing.TB, servers interface{ Stop(context.Context) error }, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("private server: %s", err)
	}
	t.Cleanup(func() {
		if err := servers.Stop(context.Background()); err != nil {
			t.Errorf("stop private servers: %s", err)
		}
	})
}

func private(t testing.TB, kind devserver.Kind, start func(context.Context, devserver.Config) (*devserver.Server, error), change ...func(*devserver.Config)) *devserver.Server {
	t.Helper()
	env, err := clockEnv()
	if err != nil {
		t.Fatal(err)
	}
	cfg := devserver.Config{
		Dir: t.TempDir(), Log: t.Logf, Program: os.Getenv(ProgramVariable(kind)), Ephemeral: true, MySQLOnly: true, Env: env,
	}
	for _, c := range change {
		c(&cfg)
	}
	s, err := start(t.Context(), cfg)
	endsWith(t, s, err)
	return s
}

// database creates a database of a random name on the shared server of kind.
func database(t testing.TB, kind devserver.Kind) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(shared(t, kind))
	if err != nil {
		t.Fatalf("address of the test's %s: %s", kind, err)
	}
	name := "lb_test_" + strings.ToLower(rand.Text()[:12])
	// A server's own default differs by product and version. This one folds
	// case, so that code which leans on the default is found out everywhere.
	err = execOnce(t.Context(), cfg, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
	if err != nil {
		t.Fatalf("test database on %s at %s: %s", kind, cfg.Addr, err)
	}
	admin := cfg.Clone()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), cleanupLimit)
		defer cancel()
		if err := execOnce(ctx, admin, "DROP DATABASE IF EXISTS "+name); err != nil {
			t.Logf("test database %s stays behind: %s", name, err)
		}
	})
	own := cfg.Clone()
	own.DBName = name
	return own.FormatDSN()
}

// execOnce runs one statement on a separate connection to the server of cfg, whatever database cfg names.
func execOnce(ctx context.Context, cfg *mysql.Config, query string) error {
	cfg = cfg.Clone()
	cfg.DBName = ""
	cfg.Timeout = cleanupLimit
	// A transaction that a test left open must not hold up DROP for a year.
	cfg.Params = map[string]string{"lock_wait_timeout": fmt.Sprint(int(cleanupLimit / time.Second))}
	conn, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	db := sql.OpenDB(conn)
	defer db.Close()
	_, err = db.ExecContext(ctx, query)
	return err
}
