package devserver

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"github.com/go-sql-driver/mysql"
)

// givenMySQL wraps a server that runs already, if it answers.
func givenMySQL(ctx context.Context, kind Kind, dsn string) (*Server, error) {
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("address of %s: %w", kind, err)
	}
	version, err := sqlValue(ctx, cfg.Clone(), "SELECT VERSION()")
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", kind, cfg.Addr, err)
	}
	return &Server{Kind: sqlKind(version), Version: version, Addr: cfg.Addr, DSN: dsn}, nil
}

// givenRedis wraps a Redis that runs already, if it answers.
func givenRedis(ctx context.Context, address string) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		// The parser's error would quote the address, password included.
		return nil, fmt.Errorf("address of %s: not a redis:// URL", KindRedis)
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "6379")
	}
	// TLS is left to the real client.
	if u.Scheme == "redis" {
		if _, err := redisInfo(ctx, host, u.User); err != nil {
			return nil, fmt.Errorf("%s at %s: %w", KindRedis, host, err)
		}
	}
	return &Server{Kind: KindRedis, Addr: host, URL: address}, nil
}
