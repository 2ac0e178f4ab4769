package app

import (
	"log/slog"
	"math"
	"syscall"

	"leaderboard/httpapi"
)

const (
	// opsConns is how many connections whoever watches the server may have.
	opsConns = 64
	// otherFiles is how many files may be open besides the connections that are served: connections to MySQL and Redis,
	// what the program and the system need.
	otherFiles = 200
	// ownConns are for the probes of this machine when all other connections are taken.
	ownConns = 16
)

// connLimits returns how many connections are served at once; refused is told of each that is not.
func connLimits(cfg *Config, refused func(), log *slog.Logger) httpapi.ConnLimits {
	limits := httpapi.ConnLimits{All: cfg.MaxConnections, Own: ownConns, PerAddress: cfg.MaxConnectionsPerAddress, Proxies: cfg.TrustedProxies.Networks, OnRefused: refused}
	if files := maxFiles(); files > 0 && limits.All > files-otherFiles-cfg.MySQLMaxConns {
		limits.All = max(1, files-otherFiles-cfg.MySQLMaxConns)
		log.Warn("fewer connections are served than --max-connections says: the process may have so many files open", "connections", limits.All, "files", files)
	}
	return limits
}

// maxFiles returns how many files the process may have open, 0 when that is not known.
func maxFiles() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(limit.Cur, math.MaxInt32))
}
