package testenv

import "leaderboard/internal/devserver"

// The environment variables that name servers to use.
const (
	MySQLVariable   = "LEADERBOARD_TEST_MYSQL_DSN"
	MariaDBVariable = "LEADERBOARD_TEST_MARIADB_DSN"
	RedisVariable   = "LEADERBOARD_TEST_REDIS_URL"
)

// The environment variables that name programs to start servers from.
const (
	MySQLProgramVariable   = "LEADERBOARD_TEST_MYSQL_PROGRAM"
	MariaDBProgramVariable = "LEADERBOARD_TEST_MARIADB_PROGRAM"
	RedisProgramVariable   = "LEADERBOARD_TEST_REDIS_PROGRAM"
)

// GaleraVariable is the environment variable with which the shared SQL servers are each a Galera cluster of three nodes of
// MariaDB, and tests work on the node that takes writes. Servers for one test alone stay single.
const GaleraVariable = "LEADERBOARD_TEST_GALERA"

// Variable returns the environment variable that names a server of kind.
func Variable(kind devserver.Kind) string {
	switch kind {
	case devserver.KindMySQL:
		return MySQLVariable
	case devserver.KindMariaDB:
		return MariaDBVariable
	default:
		return RedisVariable
	}
}

// ProgramVariable returns the environment variable that names the program of servers of kind.
func ProgramVariable(kind devserver.Kind) string {
	switch kind {
	case devserver.KindMySQL:
		return MySQLProgramVariable
	case devserver.KindMariaDB:
		return MariaDBProgramVariable
	default:
		return RedisProgramVariable
	}
}
