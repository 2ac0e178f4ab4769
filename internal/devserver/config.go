package devserver

import (
	"errors"
	"time"
)

// Kind names a server program.
type Kind string

// The kinds that can be started.
const (
	KindMySQL   Kind = "mysql"
	KindMariaDB Kind = "mariadb"
	KindRedis   Kind = "redis" // redis-server or valkey-server
)

// Config says where servers live and how careful they are with their data.
type Config struct {
	// Dir holds a folder of data per kind and the servers' logs. It is made when missing; the next start uses its content
	// again.
	Dir string
	// Log receives progress worth a user's attention; nil means silence.
	Log func(format string, args ...any)
	// MySQL and Redis are addresses of servers that run already: a
	// go-sql-driver DSN and a redis:// URL. Empty means start one.
	MySQL, Redis string
	// Program is the path of the server program to start, in a root of unpacked packages or alone; no other program is
	// tried then. Empty: a program is searched. A MariaDB may stand in for a MySQL, see Server.Kind.
	Program string
	// Ephemeral deletes the data at Stop and keeps buffers small. Commits are
	// as durable as MySQL's defaults make them.
	Ephemeral bool
	// Fast gives up durability: a killed server may lose its last second.
	Fast bool
	// BinaryLog has a MariaDB keep a binary log, as a MySQL does that is not Fast.
	BinaryLog bool
	// MySQLOnly refuses a MariaDB on PATH where StartMySQL would take it.
	MySQLOnly bool
	// Env are variables for the process of a MySQL or MariaDB, in addition to the environment of this process.
	Env []string
	// Patience is how many seconds a member of a group may be silent before it is expelled, and how long a member without a
	// majority waits for it, in addition to MySQL's five.
	Patience int
	// Databases is the number of Redis databases; 0 means Redis's own default.
	Databases int
	// Cache overrides the folder that keeps fetched programs and initialised
	// data folders; empty means the user's cache folder.
	Cache string

	redisArgs []string // ahead of the other arguments of a Redis
	mysqlArgs []string // after the other arguments of a MySQL or MariaDB
}

const (
	// startLimit bounds a start when the context does not: crash recovery of a
	// developer's database may take a while.
	startLimit = 2 * time.Minute
	// stopLimit is how long a server may take to shut down before SIGKILL.
	stopLimit = 20 * time.Second
	// probeLimit bounds one question to a server that may not be up yet.
	probeLimit = 2 * time.Second
	// portAttempts is how many ports are tried when another process is quicker.
	portAttempts = 5
)

var (
	// errInUse means that another server holds the data folder.
	errInUse = errors.New("another server uses this data folder")
	// errForeign means that some other server answers at our address.
	errForeign = errors.New("another server answers at this address")
)

// socketName is the file of the socket, in the data folder.
const socketName = "server.sock"

// tmpDir returns the folder where a server with that data folder keeps temporary tables. Each server needs a separate
// folder: a starting server deletes everything in it that looks like a temporary table, even of another server's query.
func tmpDir(dir string) string { return dir + ".tmp" }
