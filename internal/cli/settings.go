package cli

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/urfave/cli/v3"

	"leaderboard/features/pages"
	"leaderboard/httpapi"
	"leaderboard/internal/app"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// The settings of a server, with the defaults of app.Defaults. Commands that open MySQL and Redis themselves take some of them.

// serverFlags returns the settings of a process that serves.
func (p *program) serverFlags(cfg *app.Config) []cli.Flag {
	return slices.Concat(
		p.mysqlFlags(cfg), []cli.Flag{p.redisFlag(cfg)}, p.servingFlags(cfg), p.signInFlags(cfg), p.quotaFlags(cfg), p.writingFlags(cfg), p.readingFlags(cfg), []cli.Flag{p.pageFlag(cfg)}, p.loggingFlags(cfg), p.oldFlags(cfg),
	)
}

func (p *program) dsnFlag(cfg *app.Config) cli.Flag {
	return newChecked(p.setting("mysql-dsn", "`DSN` of the MySQL database, as in user:password@tcp(127.0.0.1:3306)/leaderboard; a primary and its replicas: tcp(db1:3306,db2:3306)"), &cfg.MySQLDSN, parseDSN)
}

func (p *program) mysqlFlags(cfg *app.Config) []cli.Flag {
	return []cli.Flag{
		p.dsnFlag(cfg),
		whole(p.setting("mysql-max-conns", "connections to MySQL at most, reads and writes together; at least 16, so that each kind of work has some"), &cfg.MySQLMaxConns, 16, 10_000),
	}
}

func (p *program) redisFlag(cfg *app.Config) cli.Flag {
	return newChecked(p.setting("redis-url", "`URL` of the Redis, as in redis://:password@127.0.0.1:6379/0; empty: run without Redis. "+
		"Cluster: redis://h1:6379,h2:6379?cluster=true, any of its nodes; Sentinel: redis://s1:26379,s2:26379/0?master=name, the sentinels"), &cfg.RedisURL, parseRedisURL)
}

func (p *program) listenFlag(cfg *app.Config) cli.Flag {
	return address(p.setting("listen", "`host:port` to serve on; port 0 takes a free one"), &cfg.Listen)
}

func (p *program) servingFlags(cfg *app.Config) []cli.Flag {
	return []cli.Flag{
		p.listenFlag(cfg),
		newChecked(p.setting("base-path", "`path` below which all of the service is, behind a proxy that passes paths on as they are, as in /games; empty: the root"), &cfg.BasePath, parseBasePath),
		address(p.setting("ops-listen", "`host:port` for /metrics, /livez, /readyz and /debug/pprof alone; empty: none"), &cfg.OpsListen),
		toggle(p.setting("public-metrics", "show /metrics on --listen too, to everybody who can reach it; dev does"), &cfg.PublicMetrics),
		p.certFlag(cfg),
		text(p.setting("tls-key", "`file` of the key of --tls-cert, PEM"), &cfg.TLSKey),
		whole(p.setting("max-connections", "connections of clients at once at most; beyond it: 503"), &cfg.MaxConnections, 16, 1_000_000),
		whole(p.setting("max-streams", "streams of clients that are open at once at most; beyond it: 503"), &cfg.MaxStreams, 1, 1_000_000),
		whole(p.setting("max-connections-per-address", "of them from one IPv4 address or one /64 of IPv6, other than this machine's and those of "+
			"--trusted-proxies, which has to be given; 0: any number"), &cfg.MaxConnectionsPerAddress, 0, 1_000_000),
		custom(p.setting("trusted-proxies", "addresses and networks of proxies in front of the server, as in 10.0.0.0/8,192.0.2.7, or none: their "+
			"connections are those of many clients"), &cfg.TrustedProxies, parseProxies),
		p.keysFlag(cfg),
		p.privateFlag(cfg),
		custom(p.setting("cors-origins", "origins whose pages may use the API from a browser, as in https://game.example,http://localhost:3000, or * for all; "+
			"empty: none"), &cfg.CORSOrigins, parseOrigins),
		duration(p.setting("shutdown-timeout", "how long requests under way may take to end at shutdown"), &cfg.ShutdownTimeout, 0),
		duration(p.setting("drain-delay", "how long /readyz says 503 before the listener closes at shutdown, for load balancers to notice"), &cfg.DrainDelay, 0),
	}
}

func (p *program) privateFlag(cfg *app.Config) cli.Flag {
	f := toggle(p.setting("allow-private-addresses", "for development: the keys of issuers of players' tokens may be at private addresses, and at http://localhost; "+
		"endpoints of events that ask for it (allow_private) may have http and private addresses"), new(bool))
	f.Config.parse = func(v string) (allowed bool, err error) {
		allowed, err = parseSwitch(v)
		cfg.PrivateIssuers, cfg.PrivateEndpoints = allowed, allowed
		return allowed, err
	}
	return f
}

func (p *program) quotaFlags(cfg *app.Config) []cli.Flag {
	return []cli.Flag{
		quotas(p.setting("key-quota", "`requests/rows/heavy` a second of a key that has no quota of its own, on all servers together: requests, entries, friends and profiles that it "+
			"writes, and units of heavy work; 0: any number"), &cfg.KeyQuota.Requests, &cfg.KeyQuota.Rows, &cfg.KeyQuota.Heavy),
		quotas(p.setting("player-quota", "`requests/rows/heavy` a second of a player who comes with a token; rows are entries submitted"),
			&cfg.PlayerQuota.Requests, &cfg.PlayerQuota.Rows, &cfg.PlayerQuota.Heavy),
		quotas(p.setting("address-quota", "`requests/heavy` a second without a key from one IPv4 address or one /64 of IPv6, other than this machine's, "+
			"once --trusted-proxies is given"), &cfg.AddressQuota.Requests, &cfg.AddressQuota.Heavy),
		whole(p.setting("servers", "servers that share the quotas: without Redis each lets through its part"), &cfg.Servers, 1, 10_000),
	}
}

// parseProxies reads a list of addresses and networks.
func parseProxies(v string) (app.TrustedProxies, error) {
	proxies := app.TrustedProxies{Given: v != ""}
	if v == "" || v == "none" {
		return proxies, nil
	}
	for text := range strings.SplitSeq(v, ",") {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			var address netip.Addr
			if address, err = netip.ParseAddr(text); err == nil {
				network = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen())
			}
		}
		if err != nil {
			return proxies, fmt.Errorf("want none, or addresses and networks such as 10.0.0.0/8 separated by commas, not %q", text)
		}
		proxies.Networks = append(proxies.Networks, network)
	}
	return proxies, nil
}

func (p *program) certFlag(cfg *app.Config) cli.Flag {
	return text(p.setting("tls-cert", "`file` of the certificates that --listen serves TLS with, PEM, its own first; it is read again when it changes. Empty: no TLS"), &cfg.TLSCert)
}

// needBothFiles fails when only one of the two files of a certificate is given.
func needBothFiles(cfg *app.Config) error {
	if (cfg.TLSCert == "") == (cfg.TLSKey == "") {
		return nil
	}
	return usagef("--tls-cert and --tls-key go together: give both files, or none")
}

// parseCAFile reads a file of certificates, and returns them with the system's.
func parseCAFile(v string) (*x509.CertPool, error) {
	content, err := os.ReadFile(v)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("want a file of certificates in PEM, %s has no certificate", v)
	}
	return pool, nil
}

// parseOrigins reads a list of origins as browsers send them.
func parseOrigins(v string) ([]string, error) {
	if v == "*" {
		return []string{"*"}, nil
	}
	origins := strings.Split(v, ",")
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Hostname() == "" || origin != u.Scheme+"://"+u.Host || strings.ContainsAny(origin, "* ") {
			return nil, fmt.Errorf("want * alone, or origins such as https://game.example separated by commas, without a path, not %q", origin)
		}
	}
	return origins, nil
}

// needProxies fails when connections are bounded by address and the proxies are not given.
func needProxies(cfg *app.Config) error {
	if cfg.MaxConnectionsPerAddress == 0 || cfg.TrustedProxies.Given {
		return nil
	}
	return usagef("--max-connections-per-address needs --trusted-proxies: all clients behind a proxy have its address; give theirs, or none")
}

func (p *program) keysFlag(cfg *app.Config) cli.Flag {
	return custom(p.setting("keys", "bearer keys as comma-separated scope:key, with scope read, write or admin; empty: public reads only"), &cfg.Keys, parseKeys)
}

func (p *program) migrateFlag(cfg *app.Config) cli.Flag {
	return toggle(p.setting("migrate", "bring the schema up to date at the start, waiting for MySQL if it is away"), &cfg.Migrate)
}

// faultFlag returns a testing aid, which is hidden from the help.
func (p *program) faultFlag(cfg *app.Config) cli.Flag {
	f := custom(p.setting("fault", "testing aid: kill:POINT or stop:POINT sends SIGKILL or SIGSTOP to this process at a named point of a rebuild"),
		&cfg.Fault, app.ParseFault)
	f.Hidden = true
	return f
}

func (p *program) writingFlags(cfg *app.Config) []cli.Flag {
	return []cli.Flag{
		duration(p.setting("change-ttl", "how long the change log is kept; a copy that lags further is rebuilt"), &cfg.ChangeTTL, time.Minute),
		duration(p.setting("audit-ttl", "how long records of changes are kept: see leaderboard audit"), &cfg.AuditTTL, time.Minute),
	}
}

func (p *program) readingFlags(cfg *app.Config) []cli.Flag {
	return []cli.Flag{
		duration(p.setting("max-age", "how old an answer may be that does not say that it is stale"), &cfg.MaxAge, 20*time.Millisecond),
		custom(p.setting("resident-memory", "memory for periods that are kept whole in the process, in `bytes` as in 256MiB; 0: none is kept; empty: a quarter of "+
			"GOMEMLIMIT, the cgroup's limit or the machine's memory, whichever is least, at most 256MiB"), &cfg.ResidentMemory, parseMemory),
		duration(p.setting("stale-limit", "how old an answer may be, marked stale, when MySQL and Redis are away"), &cfg.StaleLimit, time.Millisecond),
	}
}

// pageFlag names the folder that says how the pages for people look.
func (p *program) pageFlag(cfg *app.Config) cli.Flag {
	return newChecked(p.setting("site", "`folder` that says how the pages look; each of these may be missing: title.txt, header.txt (manual, console, Shop https://example.com/), footer.txt, accent.txt (a colour, #3151d3), "+
		"language.txt (for readers whose languages there are not: de), logo.png, font.ttf (for letters in share pictures that are not Latin, Greek or Cyrillic), and "+
		"logos, pictures that boards may have"), new(string), func(v string) (string, error) {
		look, err := pages.ReadFolder(v)
		if err != nil {
			return "", err
		}
		cfg.Face, cfg.PictureFont, cfg.Language = look.Face, look.Font, cmp.Or(look.Language, cfg.Language)
		return v, nil
	})
}

func (p *program) loggingFlags(cfg *app.Config) []cli.Flag {
	return []cli.Flag{
		choice(p.setting("log", "form of the log on standard error: text or json"), &cfg.LogFormat, "text", "json"),
		choice(p.setting("log-level", "debug (with a line per request), info, warn or error"), &cfg.LogLevel, "debug", "info", "warn", "error"),
	}
}

// parseMemory reads a number of bytes as GOMEMLIMIT does.
func parseMemory(v string) (int64, error) {
	if v == "" {
		return app.MemoryAuto, nil
	}
	digits, shift := v, 0
	for unit, by := range map[string]int{"KiB": 10, "MiB": 20, "GiB": 30} {
		if number, ok := strings.CutSuffix(v, unit); ok {
			digits, shift = number, by
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return 0, fmt.Errorf("want a number of bytes, such as 0, 64MiB or 1GiB, not %q", v)
	}
	return n << shift, nil
}

// needMySQL fails when no database is given, and says how to give one.
func needMySQL(cfg *app.Config) error {
	if cfg.MySQLDSN != "" {
		return nil
	}
	return usagef("no database given: set --mysql-dsn or LEADERBOARD_MYSQL_DSN, " +
		"as in user:password@tcp(127.0.0.1:3306)/leaderboard (or try `leaderboard dev`, which brings its own)")
}

// The parsers' own errors quote what they read, passwords included; so the secret settings have errors of their own.

func parseDSN(v string) (string, error) {
	for _, one := range store.DSNs(v) {
		parsed, err := mysql.ParseDSN(one)
		if err != nil {
			return "", errors.New("want the form user:password@tcp(127.0.0.1:3306)/leaderboard")
		}
		if parsed.DBName == "" {
			return "", errors.New("the name of the database is missing at the end: …/leaderboard")
		}
	}
	return v, nil
}

func parseKeys(v string) ([]httpapi.SettingsKey, error) {
	var keys []httpapi.SettingsKey
	seen := map[string]bool{}
	for i, item := range strings.Split(v, ",") {
		scope, secret, ok := strings.Cut(strings.TrimSpace(item), ":")
		switch {
		case !ok || !slices.Contains([]string{"read", "write", "admin"}, scope):
			return nil, fmt.Errorf("key %d of the list: want scope:key with scope read, write or admin", i+1)
		case !visibleASCII(secret):
			return nil, fmt.Errorf("key %d of the list: a key is visible ASCII, at least one character", i+1)
		case seen[secret]:
			return nil, fmt.Errorf("key %d of the list is there twice", i+1)
		}
		seen[secret] = true
		keys = append(keys, httpapi.SettingsKey{Scope: leaderboard.Scope(scope), Secret: secret})
	}
	return keys, nil
}

func visibleASCII(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// basePath is the form of a path below which the service is: parts of letters, digits and -._~, which nobody has to escape.
var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// maxBasePath is how long it may be, in bytes.
const maxBasePath = 100

func parseBasePath(v string) (string, error) {
	if v != "" && (len(v) > maxBasePath || !basePath.MatchString(v)) {
		return "", fmt.Errorf("want a path such as /games, without a slash at its end, of %d letters, digits and -._~ at most, not %q", maxBasePath, v)
	}
	return v, nil
}
