package cli

import (
	"strings"
	"time"
)

// setting is a row of the one table that flags, environment variables, their defaults and docs/settings.md come from.
type setting struct {
	name     string // of the flag; see variable
	section  string // of the documentation
	fallback string // the default, in the form that is parsed; "" for none
	usage    string
	secret   bool // its value is never shown
	toggle   bool // a flag without a value
	repeats  bool // a flag that may be given several times; set gets the values separated by commas
	hidden   bool // a testing aid
	clears   bool // an empty value on the command line is one: it takes away what there is
	set      func(c *config, value string) error
}

// variable is the environment variable of a setting: --mysql-dsn is LEADERBOARD_MYSQL_DSN.
func (s *setting) variable() string {
	return "LEADERBOARD_" + strings.ToUpper(strings.ReplaceAll(s.name, "-", "_"))
}

// The sections of docs/settings.md.
const (
	secServers  = "MySQL and Redis"
	secServing  = "Serving"
	secWriting  = "Writing"
	secReading  = "Reading"
	secLogging  = "Logging"
	secDev      = "The dev command"
	secRefresh  = "Refresh and verify"
	secClient   = "Talking to a server (board, submit, top, rank)"
	secTransfer = "Moving data (export, import)"
	secMembers  = "Members (member, rank)"
	secHiding   = "Hiding members (hide, restore, hidden)"
	secRules    = "Rules of a board (board put)"
)

// serverSettings are those of a process that serves.
func serverSettings() []string {
	return append(storeSettings(), "listen", "ops-listen", "keys", "drain-delay", "shutdown-timeout",
		"batch-rows", "queue-limit", "change-ttl", "key-ttl",
		"local-ttl", "stale-limit", "fallback-concurrent", "fallback-queue")
}

// storeSettings are those of a process that opens MySQL and Redis.
func storeSettings() []string {
	return []string{"mysql-dsn", "redis-url", "mysql-max-conns", "log", "log-level"}
}

// clientSettings are those of a process that asks a server.
func clientSettings() []string { return []string{"url", "key", "timeout", "json"} }

// rulesSettings describe a board.
func rulesSettings() []string {
	return []string{
		"rules", "title", "order", "policy", "mode", "visibility", "top-n", "tiebreak-order", "tiebreak-fields", "min-score", "max-score",
		"max-delta", "refresh-full", "refresh-incremental", "refresh-dynamic", "cache-ttl", "windows", "time-zone", "starts-at", "ends-at", "labels",
	}
}

// settings is the whole table.
func settings() []setting {
	var all []setting
	for _, part := range [][]setting{
		serversTable(), servingTable(), writingTable(), readingTable(), loggingTable(), toolsTable(), clientTable(), memberTable(), hidingTable(), transferTable(), rulesTable(),
	} {
		all = append(all, part...)
	}
	return all
}

func serversTable() []setting {
	return []setting{
		{
			name: "mysql-dsn", section: secServers, secret: true, set: setDSN,
			usage: "the MySQL database, as in user:password@tcp(127.0.0.1:3306)/leaderboard",
		},
		{
			name: "mysql-max-conns", section: secServers, fallback: "32",
			usage: "connections to MySQL at most, reads and writes together",
			set:   number(func(c *config) *int { return &c.MySQLMaxConns }, 2, 10_000),
		},
		{
			name: "redis-url", section: secServers, secret: true, set: setRedisURL,
			usage: "the Redis, as in redis://:password@127.0.0.1:6379/0; empty: run without Redis. " +
				"Cluster: redis://h1,h2,h3?cluster=true, Sentinel: redis://h1,h2?master=name",
		},
	}
}

func servingTable() []setting {
	return []setting{
		{
			name: "listen", section: secServing, fallback: "127.0.0.1:8080", usage: "address to serve on; port 0 takes a free one",
			set: address(func(c *config) *string { return &c.Listen }),
		},
		{
			name: "ops-listen", section: secServing, usage: "address for /metrics, /livez, /readyz and /debug/pprof alone; empty: /metrics is on --listen",
			set: address(func(c *config) *string { return &c.OpsListen }),
		},
		{
			name: "keys", section: secServing, secret: true, set: setKeys,
			usage: "bearer keys as comma-separated scope:key, with scope read, write or admin; empty: public reads only",
		},
		{
			name: "shutdown-timeout", section: secServing, fallback: "15s", usage: "how long requests under way may take to end at shutdown",
			set: duration(func(c *config) *time.Duration { return &c.ShutdownTimeout }, 0),
		},
		{
			name: "drain-delay", section: secServing, fallback: "0s", usage: "how long /readyz says 503 before the listener closes at shutdown, for load balancers to notice",
			set: duration(func(c *config) *time.Duration { return &c.DrainDelay }, 0),
		},
		{
			name: "migrate", section: secServing, toggle: true, usage: "bring the schema up to date at the start, waiting for MySQL if it is away",
			set: toggle(func(c *config) *bool { return &c.Migrate }),
		},
		{
			name: "fault", section: secServing, hidden: true, set: setFault,
			usage: "testing aid: kill:POINT or stop:POINT sends SIGKILL or SIGSTOP to this process at a named point of a rebuild",
		},
	}
}

func writingTable() []setting {
	return []setting{
		{
			name: "batch-rows", section: secWriting, fallback: "500", usage: "entries that one transaction commits at most",
			set: number(func(c *config) *int { return &c.BatchRows }, 1, 10_000),
		},
		{
			name: "queue-limit", section: secWriting, fallback: "20000", usage: "entries that wait for a commit per board at most; beyond it: 503",
			set: number(func(c *config) *int { return &c.QueueLimit }, 1000, 10_000_000),
		},
		{
			name: "change-ttl", section: secWriting, fallback: "1h", usage: "how long the change log is kept; a copy that lags further is rebuilt",
			set: duration(func(c *config) *time.Duration { return &c.ChangeTTL }, time.Minute),
		},
		{
			name: "key-ttl", section: secWriting, fallback: "24h", usage: "how long an Idempotency-Key is remembered",
			set: duration(func(c *config) *time.Duration { return &c.KeyTTL }, time.Minute),
		},
	}
}

func readingTable() []setting {
	return []setting{
		{
			name: "local-ttl", section: secReading, fallback: "100ms", usage: "how long an answer is reused inside the process; up to ten times as long it is given once more while it is renewed",
			set: duration(func(c *config) *time.Duration { return &c.LocalTTL }, time.Millisecond),
		},
		{
			name: "stale-limit", section: secReading, fallback: "10m", usage: "how old an answer may be, marked stale, when MySQL and Redis are away",
			set: duration(func(c *config) *time.Duration { return &c.StaleLimit }, time.Millisecond),
		},
		{
			name: "fallback-concurrent", section: secReading, fallback: "16", usage: "reads that MySQL answers at the same time at most",
			set: number(func(c *config) *int { return &c.FallbackConcurrent }, 1, 10_000),
		},
		{
			name: "fallback-queue", section: secReading, fallback: "64", usage: "reads that wait for MySQL at most; beyond it: 503",
			set: number(func(c *config) *int { return &c.FallbackQueue }, 1, 100_000),
		},
	}
}

func loggingTable() []setting {
	return []setting{
		{
			name: "log", section: secLogging, fallback: "text", usage: "form of the log on standard error: text or json",
			set: choice(func(c *config) *string { return &c.LogFormat }, "text", "json"),
		},
		{
			name: "log-level", section: secLogging, fallback: "info", usage: "debug (with a line per request), info, warn or error",
			set: choice(func(c *config) *string { return &c.LogLevel }, "debug", "info", "warn", "error"),
		},
	}
}
