package app

import (
	"time"

	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/internal/app/installed"
	"leaderboard/internal/settings"
	"leaderboard/internal/telemetry"
)

// Config has the settings of a serving process, by the tags of package settings, and fields that only programs and tests set. The
// settings of features are in Features. Defaults returns the defaults.
type Config struct {
	MySQLDSN      string `setting:"mysql-dsn" main:"yes" section:"MySQL and Redis" value:"DSN" doc:"DSN of MySQL, as in user:password@tcp(127.0.0.1:3306)/leaderboard; a primary and its replicas: tcp(db1:3306,db2:3306)"` // secret
	MySQLMaxConns int    `setting:"mysql-max-conns" default:"32" range:"16,10000" doc:"maximum of connections to MySQL, at least 16"`
	RedisURL      string `setting:"redis-url" main:"yes" value:"URL" doc:"URL of Redis, as in redis://:password@127.0.0.1:6379/0; empty: no Redis. Cluster: redis://h1:6379,h2:6379?cluster=true; Sentinel: redis://s1:26379,s2:26379/0?master=name"` // secret

	Listen                   string                `setting:"listen" main:"yes" section:"Serving" value:"host:port" default:"127.0.0.1:8080" doc:"host:port to serve on; port 0 takes a free one"`
	BasePath                 string                `setting:"base-path" value:"path" doc:"path of the whole service behind a proxy that keeps paths, as in /games; empty: the root"`
	OpsListen                string                `setting:"ops-listen" main:"yes" value:"host:port" doc:"host:port for /metrics, /livez, /readyz and /debug/pprof alone; empty: none"`
	PublicMetrics            bool                  `setting:"public-metrics" doc:"show /metrics on --listen too, to everybody; dev does"`
	TLSCert                  string                `setting:"tls-cert" value:"file" doc:"file of TLS certificates for --listen, PEM, its own first; read again when it changes. Empty: no TLS"`
	TLSKey                   string                `setting:"tls-key" value:"file" doc:"file of the key of --tls-cert, PEM"`
	MaxConnections           int                   `setting:"max-connections" default:"8192" range:"16,1000000" doc:"maximum of client connections, at least 16; more get 503"`
	MaxStreams               int                   `setting:"max-streams" default:"4096" range:"1,1000000" doc:"maximum of open streams, at least 1; more get 503"`
	MaxConnectionsPerAddress int                   `setting:"max-connections-per-address" default:"0" range:"0,1000000" doc:"maximum of connections per IPv4 address or IPv6 /64, except of this machine and the proxies; needs --trusted-proxies; 0: any number"`
	TrustedProxies           TrustedProxies        `setting:"trusted-proxies" main:"yes" doc:"addresses and networks of proxies in front of the server, as in 10.0.0.0/8,192.0.2.7, or none"`
	Keys                     []httpapi.SettingsKey `setting:"keys" main:"yes" doc:"bearer keys as scope:key, separated by commas, with scope read, write or admin; empty: public reads only"`
	AllowPrivate             bool                  `setting:"allow-private-addresses" doc:"for development: allow private addresses and http://localhost for keys of players' issuers, and http and private addresses for endpoints with allow_private"`
	CORSOrigins              []string              `setting:"cors-origins" doc:"origins whose pages may use the API, as in https://game.example,http://localhost:3000, or * for all; empty: none"`
	ShutdownTimeout          time.Duration         `setting:"shutdown-timeout" default:"12s" range:"0s" doc:"time for requests under way to end at shutdown"`
	DrainDelay               time.Duration         `setting:"drain-delay" default:"0s" range:"0s" doc:"time in which /readyz says 503 before the listener closes at shutdown, for load balancers to notice"`
	Migrate                  bool                  `setting:"migrate" main:"yes" command:"serve" doc:"bring the schema up to date at the start, and wait for MySQL if it is away"`
	Fault                    Fault                 `setting:"fault" command:"serve" hidden:"a testing aid" doc:"testing aid: kill:POINT or stop:POINT sends SIGKILL or SIGSTOP to this process at a named point of a rebuild; leave:copies writes no commit to a copy before a reader finds it old"`

	Servers int `setting:"servers" section:"Quotas" default:"1" range:"1,10000" doc:"servers that share the quotas: without Redis each lets through its part"`

	BatchRows int           `setting:"batch-rows" section:"Writing" range:"1,10000" old:""` // of store.Config, like the next; 0: the default there
	WriteWait time.Duration `setting:"write-wait" range:"1ms" old:""`
	KeyTTL    time.Duration `setting:"key-ttl" range:"1m" old:""`
	ChangeTTL time.Duration `setting:"change-ttl" default:"1h" range:"1m" doc:"age to which the change log is kept, at least 1m; a copy that lags further is rebuilt"`
	AuditTTL  time.Duration `setting:"audit-ttl" default:"9600h" range:"1m" doc:"age to which records of changes are kept, at least 1m: see leaderboard audit"`

	MaxAge             time.Duration `setting:"max-age" section:"Reading" default:"200ms" range:"20ms" doc:"maximum age of an answer not marked stale, at least 20ms"`
	ResidentMemory     int64         `setting:"resident-memory" main:"yes" value:"bytes" doc:"memory for periods kept whole, in bytes as in 256MiB; 0: none; empty: a quarter of GOMEMLIMIT, the cgroup's limit or the machine's memory, whichever is least, at most 256MiB"`
	StaleLimit         time.Duration `setting:"stale-limit" default:"10m" range:"1ms" doc:"maximum age of an answer marked stale, when MySQL and Redis are away"`
	FallbackConcurrent int           `setting:"fallback-concurrent" range:"1,10000" old:""` // of cache, like the next; 0: the default there
	ReadWait           time.Duration `setting:"read-wait" range:"1ms" old:""`

	LogFormat string `setting:"log" section:"Logging" default:"text" words:"text,json" doc:"form of the log on standard error: text or json"`
	LogLevel  string `setting:"log-level" default:"info" words:"debug,info,warn,error" doc:"debug (with a line per request), info, warn or error; dev: warn, unless it is given"`

	Features []features.Feature // with their settings
	Header   string             // of pages, unless the settings of pages name another header
	Tracing  *telemetry.Config  // where spans go; nil: nowhere. No setting sets it: see ReadTracing

	standingWait time.Duration                // for standings after a commit, 50 ms; only tests wait longer
	readerWait   time.Duration                // for a layer behind the process; 0: the default of cache.ReaderOptions
	clock        func(database string) string // store.Config.Clock
}

// sections are the parts of docs/settings.md that have settings of servers. In a part the settings of features come first.
func sections() []string {
	return []string{"MySQL and Redis", "Serving", "People who sign in", "Quotas", "Writing", "Reading", "Pages", "Logging"}
}

// Fields returns all settings, including the settings of features. Their Set changes c.
func (c *Config) Fields() []settings.Field {
	var holders []any
	for _, f := range c.Features {
		if f.Settings != nil {
			holders = append(holders, f.Settings)
		}
	}
	return settings.Of(sections(), append(holders, c)...)
}

// CheckFeatures checks the settings of each feature together, once each is good alone, and returns the first error.
func (c *Config) CheckFeatures() error {
	for _, f := range c.Features {
		if s, ok := f.Settings.(features.Checker); ok {
			if err := s.Check(c.server()); err != nil {
				return err
			}
		}
	}
	return nil
}

// server returns the settings of the server that features use.
func (c *Config) server() features.Server {
	return features.Server{
		Base: c.BasePath, Header: c.Header, AllowPrivate: c.AllowPrivate, KnowsAddresses: c.TrustedProxies.Given, Servers: c.Servers, Point: c.Fault.hook(),
	}
}

// String hides the secrets when a configuration is printed.
func (Config) String() string { return "the configuration" }

// Defaults returns the default settings, with all features.
func Defaults() Config {
	c := Config{ResidentMemory: MemoryAuto, Features: installed.Features()}
	settings.Reset(c.Fields())
	return c
}
