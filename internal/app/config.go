package app

import (
	"net/netip"
	"time"

	"leaderboard/features/pages"
	"leaderboard/httpapi"
	"leaderboard/internal/app/installed"
	"leaderboard/internal/telemetry"
	"leaderboard/leaderboard"
)

// Config holds the settings of a serving process. Defaults returns their defaults.
type Config struct {
	MySQLDSN      string // secret
	MySQLMaxConns int    // reads and writes together
	RedisURL      string // secret; "": run without Redis

	Listen         string // host:port; port 0 takes a free one
	OpsListen      string // for /metrics, /livez, /readyz and /debug/pprof alone; "": none
	PublicMetrics  bool   // /metrics is on Listen too
	TLSCert        string // file of the certificate of Listen, read again when it changes; "": no TLS
	TLSKey         string // file of its key
	MaxConnections int    // of clients at once, beyond: 503
	MaxStreams     int    // of clients that are open at once, beyond: 503
	// MaxConnectionsPerAddress bounds those of one address, unless it is one of TrustedProxies or of this machine; 0: any
	// number. It needs TrustedProxies to be given.
	MaxConnectionsPerAddress int
	TrustedProxies           TrustedProxies
	Keys                     []httpapi.SettingsKey
	BasePath                 string // path below which the service is, such as /games; "": the root
	PublicURL                string // at which people reach the server; needed by SignIn
	SignIn                   installed.SignIn
	KeyQuota                 leaderboard.Rates // of a key that has none of its own
	PlayerQuota              leaderboard.Rates // of a player who comes with a token
	PrivateIssuers           bool              // keys of issuers may be at private addresses
	// AddressQuota is the quota of an address for requests without a key. It needs TrustedProxies to be given.
	AddressQuota leaderboard.Rates
	Servers      int      // that share the quotas when Redis does not answer
	CORSOrigins  []string // whose pages may use the API, "*" alone: all; nil: none
	// PrivateEndpoints lets endpoints have addresses that are not public, if they ask for it.
	PrivateEndpoints bool
	eventRetry       time.Duration // before the second attempt to send an event; 0: the default
	DrainDelay       time.Duration // how long /readyz says 503 before the listener closes at shutdown
	ShutdownTimeout  time.Duration // for the requests under way at shutdown
	Migrate          bool          // bring the schema up to date at the start, waiting for MySQL if it is away
	Fault            Fault

	BatchRows int           // of store.Config; 0: its default
	WriteWait time.Duration // as well
	ChangeTTL time.Duration // how long the change log is kept
	KeyTTL    time.Duration // of store.Config; 0: its default
	AuditTTL  time.Duration // how long records of changes are kept
	// AuditProfiles is whose changes of profiles are recorded: all, or people, which leaves out keys of scope write. "": all.
	AuditProfiles string

	MaxAge             time.Duration // of an answer that does not say that it is stale
	standingWait       time.Duration // for standings after a commit, 50 ms; only tests wait longer
	ResidentMemory     int64         // bytes that periods kept whole in memory may take; MemoryAuto, 0: none is kept
	PictureFont        string        // a file with a font for letters in share pictures that the embedded ones lack, "" for none
	Face               pages.Face    // how the pages look
	Language           string        // of the pages, for readers whose languages there are not; "": English
	StaleLimit         time.Duration // how old an answer may be, marked stale, when MySQL and Redis are away
	FallbackConcurrent int           // batches of reads that MySQL answers at the same time at most; 0: cache.FallbackConcurrent
	ReadWait           time.Duration // how long a read may wait to go there; 0: cache.ReadWait

	Tracing *telemetry.Config // where spans go; nil: nowhere. No setting sets it: see ReadTracing

	LogFormat string // text or json
	LogLevel  string // debug, info, warn or error

	// clock is store.Config.Clock.
	clock func(database string) string
	// without is a feature that a test leaves out, "": none.
	without string
	// readerWait bounds the wait for a layer behind the process; 0: what cache.ReaderOptions says.
	readerWait time.Duration
}

// The values of Config.AuditProfiles.
const (
	AuditProfilesAll    = "all"
	AuditProfilesPeople = "people"
)

// TrustedProxies are the networks of proxies whose X-Forwarded-For is believed.
type TrustedProxies struct {
	Given    bool // the setting was given; it may name no network
	Networks []netip.Prefix
}

// String hides the secrets when a configuration is printed.
func (Config) String() string { return "the configuration" }

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		MySQLMaxConns: 32, Listen: "127.0.0.1:8080", MaxConnections: 8192, MaxStreams: 4096, ShutdownTimeout: 12 * time.Second,
		KeyQuota: leaderboard.Rates{Requests: 20_000, Rows: 500_000, Heavy: 500}, AddressQuota: leaderboard.Rates{Requests: 1000, Heavy: 100}, Servers: 1,
		PlayerQuota: leaderboard.Rates{Requests: 100, Rows: 20, Heavy: 20},
		ChangeTTL:   time.Hour, AuditTTL: 400 * 24 * time.Hour,
		MaxAge: 200 * time.Millisecond, ResidentMemory: MemoryAuto, Language: pages.DefaultLanguage, StaleLimit: 10 * time.Minute,
		SignIn:    installed.SignIn{Scopes: []string{"email", "profile"}, Claim: "groups", Session: leaderboard.MaxSession},
		LogFormat: "text", LogLevel: "info",
	}
}
