package main

import (
	"context"
	"path/filepath"

	"leaderboard/internal/devserver"
)

// engine is a row of the table: a server program of one version, and the suites that run on it.
type engine struct {
	name    string // for -only, as in mysql-8.0
	title   string // as in MySQL 8.0
	program func(context.Context, fetcher) (path string, err error)
	as      []devserver.Kind // the servers of the tests that are of this program; the others are as always
	galera  bool             // the servers that tests share are clusters
	suites  []suite
	differs string // from the first of its kind in the list, as found by its tests
	remedy  string // the remedy that was found
}

// suite is a package and which of its tests are run.
type suite struct {
	pkg   string // folder below the module's
	tests string // a regular expression; "" for all
	quick string // the same for -quick
	tag   string // of files that are built for this suite only; "" for none
}

// faults names the tests of e2e that kill, freeze, flush or cut off servers, or run several on the same data.
const faults = "Kill|Killed|Lost|Down|Gone|Hung|Slow|Paused|Frozen|Refused|AtOnce|ReadYourWrites|DuringRebuilds|AsOld"

// onBoth are the suites that reach both kinds of server.
func onBoth() []suite {
	return []suite{
		{pkg: "cache", quick: "ReaderConformance|ReaderProperty|HungRedis$|Damaged"},
		{pkg: "refresher", quick: "RealRedis|PublishesNothing"},
		{pkg: "internal/app", quick: "FullFlow|WithoutRedis|RefusesWrites|ReadOnlyDatabase|QuotaOverTwo"},
		{pkg: "workshop/e2e", tests: faults, quick: "Kill9DuringIncrements|MySQLDown|RedisDown|RedisHung"},
	}
}

// onSQL are the suites of an engine of SQL, without the suites of cache/topn and features/quotas, which use Redis alone.
func onSQL() []suite {
	suites := []suite{{pkg: "store", quick: "TestConformance|TestProperty$|Plans|ReadOnly|Silent|LockWait|TestCommitLost|ConcurrentSums"}}
	for _, pkg := range []string{
		"internal/entries", "store/commit", "store/internal/read", "store/internal/sweep", "internal/app/installed",
		"features/audit", "features/derived", "features/events", "features/friends", "features/keys", "features/metadata", "features/people", "features/players", "features/plays", "features/review",
	} {
		suites = append(suites, suite{pkg: pkg})
	}
	return append(append(suites, suite{pkg: "migrations"}), onBoth()...)
}

// onRedis are the suites of an engine that is Redis, without the suites of store and migrations, which use the database
// alone.
func onRedis() []suite {
	return append([]suite{{pkg: "cache/topn"}, {pkg: "features/quotas"}}, onBoth()...)
}

// packaged returns a finder of a program of a distribution's release.
func packaged(distribution, suite, pkg, program string) func(context.Context, fetcher) (string, error) {
	r := devserver.Release{Distribution: distribution, Suite: suite, Package: pkg, Program: program}
	return func(ctx context.Context, f fetcher) (string, error) { return f(ctx, r) }
}

// fetcher fetches a program of a release and returns its path.
type fetcher func(context.Context, devserver.Release) (path string, err error)

// onSeveral is the suite of a Redis of several servers. Its failovers take too long for every day.
func onSeveral(tests string) []suite {
	return []suite{{pkg: "workshop/e2e", tests: tests, tag: "failover"}}
}

// onSeveralDatabases are the suites of several servers that replicate.
func onSeveralDatabases() []suite {
	return []suite{
		{pkg: "store", tests: "TestGroup|TestHosts"},
		{pkg: "workshop/e2e", tests: "TestGroupDies|TestGroupsDocument|TestReplicaDocument"},
	}
}

// onGalera are the suites of a Galera cluster.
func onGalera() []suite {
	suites := onSQL()
	suites[0].quick += "|GaleraCutOff"
	return append(suites, suite{pkg: "workshop/e2e", tests: "TestGalera"}, suite{pkg: "internal/devserver", tests: "TestStartGalera"})
}

// engines returns the rows of the table in its order.
func engines() []engine {
	const mysqld, mariadbd, redis, valkey = "usr/sbin/mysqld", "usr/sbin/mariadbd", "usr/bin/redis-server", "usr/bin/valkey-server"
	mysql := []devserver.Kind{devserver.KindMySQL}
	// A MariaDB is both, so that tests which ask for MySQL run on it too.
	mariadb := []devserver.Kind{devserver.KindMySQL, devserver.KindMariaDB}
	cache := []devserver.Kind{devserver.KindRedis}
	return []engine{
		{
			name: "mysql-9", title: "MySQL 9 (Debian sid)", as: mysql, suites: onSQL(),
			program: packaged("debian", "sid", "mysql-server-core", mysqld),
		},
		{
			name: "mysql-8.4", title: "MySQL 8.4 (Ubuntu 26.04)", as: mysql, suites: onSQL(),
			program: packaged("ubuntu", "resolute", "mysql-server-core", mysqld),
		},
		{
			name: "mysql-8.0", title: "MySQL 8.0 (Ubuntu 24.04)", as: mysql, suites: onSQL(),
			program: packaged("ubuntu", "noble", "mysql-server-core-8.0", mysqld),
			differs: "sorts by columns of the primary key unless a secondary index names them",
			remedy:  "`submissions_member` names them",
		},
		{
			name: "mariadb-11", title: "MariaDB 11 (Debian sid)", as: mariadb, suites: onSQL(),
			program: packaged("debian", "sid", "mariadb-server-core", mariadbd),
			differs: "other names of time limits; a session ended for its silence is not told, so its COMMIT is unknown until it is repeated",
			remedy:  "`internal/mysql`; idempotency keys",
		},
		{
			name: "mariadb-10.11", title: "MariaDB 10.11 (Debian 12)", as: mariadb, suites: onSQL(),
			program: packaged("debian", "bookworm", "mariadb-server-core", mariadbd),
			differs: "as 11; sorts hides that are in order; scans small tables for keys",
			remedy:  "as 11; `store/hidden.go` orders by board alone, `features/keys/store.go` forces the primary key",
		},
		{
			name: "mysql-9-group", title: "Group, and source with replica, of MySQL 9 (Debian sid)", as: mysql, suites: onSeveralDatabases(),
			program: packaged("debian", "sid", "mysql-server-core", mysqld),
		},
		{
			name: "mysql-8.4-group", title: "Group, and source with replica, of MySQL 8.4 (Ubuntu 26.04)", as: mysql, suites: onSeveralDatabases(),
			program: packaged("ubuntu", "resolute", "mysql-server-core", mysqld),
		},
		{
			name: "galera-11", title: "Galera of MariaDB 11 (Debian sid), one node takes writes", as: mariadb, galera: true, suites: onGalera(),
			program: packaged("debian", "sid", "mariadb-server-core galera-4", mariadbd),
			differs: "as MariaDB 11, and [more](failover.md#what-differs-from-one-server)",
			remedy:  "batches run again; connections ask with `wsrep_sync_wait`",
		},
		{
			name: "galera-10.11", title: "Galera of MariaDB 10.11 (Debian 12), one node takes writes", as: mariadb, galera: true, suites: onGalera(),
			program: packaged("debian", "bookworm", "mariadb-server-core galera-4", mariadbd),
			differs: "as Galera of MariaDB 11, and as MariaDB 10.11", remedy: "as both",
		},
		{
			name: "redis-8", title: "Redis 8 (Debian sid)", as: cache, suites: onRedis(),
			program: packaged("debian", "sid", "redis-server", redis),
		},
		{
			name: "redis-7", title: "Redis 7.0 (Debian 12)", as: cache, suites: onRedis(),
			program: packaged("debian", "bookworm", "redis-server", redis),
		},
		{
			name: "valkey-9", title: "Valkey 9 (Debian sid)", as: cache, suites: onRedis(),
			program: packaged("debian", "sid", "valkey-server", valkey),
		},
		{
			name: "valkey-8", title: "Valkey 8.1 (Debian 13)", as: cache, suites: onRedis(),
			program: packaged("debian", "trixie", "valkey-server", valkey),
		},
		{
			name: "redis-cluster", title: "Redis Cluster of Redis 8 (Debian sid)", as: cache, suites: onSeveral("RedisCluster"),
			program: packaged("debian", "sid", "redis-server", redis),
		},
		{
			name: "redis-sentinel", title: "Redis Sentinel of Redis 8 (Debian sid)", as: cache, suites: onSeveral("RedisSentinel"),
			program: packaged("debian", "sid", "redis-server", redis),
		},
		{
			name: "valkey-cluster", title: "Cluster of Valkey 9 (Debian sid)", as: cache, suites: onSeveral("RedisCluster"),
			program: packaged("debian", "sid", "valkey-server", valkey),
		},
		{
			name: "valkey-sentinel", title: "Sentinel of Valkey 9 (Debian sid)", as: cache, suites: onSeveral("RedisSentinel"),
			program: packaged("debian", "sid", "valkey-server", valkey),
		},
	}
}

// dir returns the folder of the suite's package.
func (s suite) dir() string { return filepath.FromSlash(s.pkg) }
