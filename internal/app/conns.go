package app

import (
	"errors"
	"fmt"
	"math"
	"net"
	"syscall"

	"leaderboard/cache/topn"
	"leaderboard/httpapi"
	"leaderboard/internal/serverfault"
)

const (
	// opsConns bounds the connections to --ops-listen.
	opsConns = 64
	// ownFiles is how many files the program needs in addition to connections: listeners, the log, files of the runtime, the few
	// connections to MySQL that bring the schema up to date.
	ownFiles = 32
	// ownConns are for the probes of this machine when all other connections are taken.
	ownConns = 16
)

// openFiles are the files that a process may have open.
type openFiles struct {
	all    int // 0: not known
	others int // files for other purposes than connections of clients
}

// connLimits returns how many connections are served at once.
func connLimits(cfg *Config, files openFiles, observer httpapi.Observer) httpapi.ConnLimits {
	limits := httpapi.ConnLimits{
		All: cfg.MaxConnections, Own: ownConns, PerAddress: cfg.MaxConnectionsPerAddress, Proxies: cfg.TrustedProxies.Networks, Observer: observer,
		Base: cfg.BasePath,
	}
	if files.all > 0 {
		limits.All = min(limits.All, max(1, files.all-files.others))
	}
	return limits
}

// filesFor looks whether the process may have as many files open as clients may need.
func filesFor(cfg *Config, files openFiles) look {
	served := connLimits(cfg, files, nil).All
	if served == cfg.MaxConnections {
		return look{found: fmt.Sprintf("enough for %d connections of clients", served)}
	}
	return look{faults: []serverfault.Fault{{
		Check: serverfault.CheckFiles, Doubtful: true,
		Wrong:  fmt.Sprintf("the process may have %d files open, so %d connections are served, fewer than --max-connections says", files.all, served),
		Remedy: fmt.Sprintf("let it have %d (ulimit -n, LimitNOFILE= of systemd), or lower --max-connections", cfg.MaxConnections+files.others),
	}}}
}

// otherFiles returns how many files may be open in addition to the connections that are served. clients are clients of Redis; each
// may be nil.
func otherFiles(cfg *Config, clients ...topn.Client) int {
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

// Listen opens the address of a setting. Its errors say what to do, for example when another program uses the address.
func Listen(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program, perhaps another leaderboard: stop it, or choose another address with --%s (port 0 takes a free one)", address, setting)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no right to listen on %s: ports below 1024 belong to root; choose another one with --%s", address, setting)
	default:
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
}
