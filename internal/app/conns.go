package app

import (
	"math"
	"syscall"

	"leaderboard/cache/topn"
	"leaderboard/httpapi"
)

const (
	// opsConns is how many connections whoever watches the server may have.
	opsConns = 64
	// ownFiles is how many files the program needs for itself: listeners, the log, what the runtime opens, the few
	// connections to MySQL that bring the schema up to date.
	ownFiles = 32
	// ownConns are for the probes of this machine when all other connections are taken.
	ownConns = 16
)

// connLimits returns how many connections are served at once, when the process may have so many files open; 0: nobody
// knows.
func (a *App) connLimits(files int) httpapi.ConnLimits {
	limits := httpapi.ConnLimits{
		All: a.cfg.MaxConnections, Own: ownConns, PerAddress: a.cfg.MaxConnectionsPerAddress, Proxies: a.cfg.TrustedProxies.Networks,
		OnRefused: a.metrics.refusedConns.Inc,
	}
	if most := files - a.otherFiles(); files > 0 && limits.All > most {
		limits.All = max(1, most)
		a.log.Warn("fewer connections are served than --max-connections says: the process may have so many files open", "connections", limits.All, "files", files)
	}
	return limits
}

// otherFiles returns how many files may be open besides the connections that are served.
func (a *App) otherFiles() int {
	n := ownFiles + ownConns + httpapi.MaxLingering + a.cfg.MySQLMaxConns
	if a.cfg.OpsListen != "" {
		n += opsConns + httpapi.MaxLingering
	}
	if a.redis != nil {
		n += topn.MaxConns(a.redis) + topn.MaxConns(a.behind)
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
