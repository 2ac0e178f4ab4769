package app

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"syscall"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/topn"
	"leaderboard/httpapi"
)

const (
	// opsConns bounds the connections to --ops-listen.
	opsConns = 64
	// ownFiles is how many files the program needs besides connections: listeners, the log, files of the runtime, the few
	// connections to MySQL that bring the schema up to date.
	ownFiles = 32
	// ownConns are for the probes of this machine when all other connections are taken.
	ownConns = 16
)

// connLimits returns how many connections are served at once. files is how many files the process may have open, 0 when that is
// not known; others is how many of them serve other purposes.
func connLimits(cfg *Config, files, others int, log *slog.Logger, refused func()) httpapi.ConnLimits {
	limits := httpapi.ConnLimits{
		All: cfg.MaxConnections, Own: ownConns, PerAddress: cfg.MaxConnectionsPerAddress, Proxies: cfg.TrustedProxies.Networks, OnRefused: refused,
	}
	if most := files - others; files > 0 && limits.All > most {
		limits.All = max(1, most)
		log.Warn("fewer connections are served than --max-connections says: the process may have so many files open", "connections", limits.All, "files", files)
	}
	return limits
}

// otherFiles returns how many files may be open besides the connections that are served. clients are those of Redis, each
// of which may be nil.
func otherFiles(cfg *Config, clients ...redis.UniversalClient) int {
	n := ownFiles + ownConns + httpapi.MaxLingering + cfg.MySQLMaxConns
	if cfg.OpsListen != "" {
		n += opsConns + httpapi.MaxLingering
	}
	for _, c := range clients {
		if c != nil {
			n += topn.MaxConns(c)
		}
	}
	return n
}

// maxFiles returns how many files the process may have open, 0 when that is not known.
func maxFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, math.MaxInt32))
}

// Listen opens an address. Its errors say what to do, for example when another program uses the address.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program, perhaps another leaderboard: stop it, or choose another address with --listen (port 0 takes a free one)", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no right to listen on %s: ports below 1024 belong to root; choose another one with --listen", address)
	default:
		return nil, fmt.Errorf("listen: %w", err)
	}
}
