package app

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"leaderboard/cache/topn"
	"leaderboard/httpapi"
	"leaderboard/internal/settings"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// TrustedProxies are the networks of proxies whose X-Forwarded-For is believed.
type TrustedProxies struct {
	Given    bool // the setting was given; it may name no network
	Networks []netip.Prefix
}

// Parsers implements settings.Parsers.
func (c *Config) Parsers() map[string]func(string) error {
	return map[string]func(string) error{
		"mysql-dsn": settings.Into(&c.MySQLDSN, parseDSN), "redis-url": settings.Into(&c.RedisURL, ParseRedisURL),
		"listen": settings.Into(&c.Listen, parseAddress), "ops-listen": settings.Into(&c.OpsListen, parseAddress), "base-path": settings.Into(&c.BasePath, parseBasePath),
		"trusted-proxies": settings.Into(&c.TrustedProxies, parseProxies), "keys": settings.Into(&c.Keys, parseKeys), "cors-origins": settings.Into(&c.CORSOrigins, parseOrigins),
		"resident-memory": settings.Into(&c.ResidentMemory, parseMemory), "fault": settings.Into(&c.Fault, ParseFault),
	}
}

// parseAddress reads an address to listen on.
func parseAddress(v string) (string, error) {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", fmt.Errorf("want host:port, such as 127.0.0.1:8080 or :8080, not %q", v)
	}
	return v, nil
}

// ParseRedisURL returns v if it is the URL of a Redis. It does not connect, and its errors hide the password.
func ParseRedisURL(v string) (string, error) {
	client, err := topn.Open(v)
	if err != nil {
		return "", err
	}
	return v, topn.Close(client)
}

// parseProxies reads a list of addresses and networks.
func parseProxies(v string) (TrustedProxies, error) {
	proxies := TrustedProxies{Given: true}
	if v == "none" {
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

// parseMemory reads a number of bytes as GOMEMLIMIT does.
func parseMemory(v string) (int64, error) {
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

// The parsers' own errors quote their input, passwords included; so the secret settings have other errors.

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
		case !VisibleASCII(secret):
			return nil, fmt.Errorf("key %d of the list: a key is visible ASCII, at least one character", i+1)
		case seen[secret]:
			return nil, fmt.Errorf("key %d of the list is there twice", i+1)
		}
		seen[secret] = true
		keys = append(keys, httpapi.SettingsKey{Scope: leaderboard.Scope(scope), Secret: secret})
	}
	return keys, nil
}

// VisibleASCII reports whether s can be a bearer key.
func VisibleASCII(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// basePath is the form of a path below which the service is: parts of letters, digits and -._~, which nobody has to escape.
var basePath = regexp.MustCompile(`^(/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$`)

// maxBasePath bounds the length of a base path, in bytes.
const maxBasePath = 100

func parseBasePath(v string) (string, error) {
	if len(v) > maxBasePath || !basePath.MatchString(v) {
		return "", fmt.Errorf("want a path such as /games, without a slash at its end, of %d letters, digits and -._~ at most, not %q", maxBasePath, v)
	}
	return v, nil
}
