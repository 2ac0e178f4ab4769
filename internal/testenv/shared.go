package testenv

import (
	"context"
	"os"
	"sync"
	"testing"

	"leaderboard/internal/devserver"
)

// The servers of this process, each started at its first use. They need no
// stopping: the kernel kills them with the process, and the next run sweeps
// their folders.
var (
	sharedMySQL   = sync.OnceValues(func() (string, error) { return startShared(devserver.MySQL) })
	sharedMariaDB = sync.OnceValues(func() (string, error) { return startShared(devserver.MariaDB) })
	sharedRedis   = sync.OnceValues(func() (string, error) { return startShared(devserver.Redis) })
)

// shared returns the address of the server of kind that this run shares.
func shared(t testing.TB, kind devserver.Kind) string {
	t.Helper()
	if address := os.Getenv(Variable(kind)); address != "" {
		return address
	}
	once := sharedRedis
	switch kind {
	case devserver.MySQL:
		once = sharedMySQL
	case devserver.MariaDB:
		once = sharedMariaDB
	}
	address, err := once()
	if err != nil {
		t.Fatalf("this test needs a %s server. %s", kind, err)
	}
	return address
}

func startShared(kind devserver.Kind) (string, error) {
	dir, err := runDir()
	if err != nil {
		return "", err
	}
	p, err := Provide(context.Background(), kind, dir, nil)
	if err != nil {
		return "", err
	}
	return p.Address, nil
}

// Variable is the environment variable that names a server of kind.
func Variable(kind devserver.Kind) string {
	switch kind {
	case devserver.MySQL:
		return MySQLVariable
	case devserver.MariaDB:
		return MariaDBVariable
	default:
		return RedisVariable
	}
}

// Provided is a server for a test run.
type Provided struct {
	Kind    devserver.Kind
	Address string // DSN without a database, or redis:// URL
	Origin  string // "given", "container" or "process"
	Stop    func(context.Context) error
}

// Provide gets a server of kind by the order that the package comment gives.
// Data and logs of one that is started go below dir. log may be nil.
func Provide(ctx context.Context, kind devserver.Kind, dir string, log func(string, ...any)) (Provided, error) {
	if address := os.Getenv(Variable(kind)); address != "" {
		return Provided{kind, address, "given", func(context.Context) error { return nil }}, nil
	}
	cfg := devserver.Config{
		Dir: dir, Log: log, Ephemeral: true, Fast: true, MySQLOnly: true, Databases: redisDatabases,
	}
	start := devserver.StartRedis
	switch kind {
	case devserver.MySQL:
		start = devserver.StartMySQL
	case devserver.MariaDB:
		start = devserver.StartMariaDB
	}
	s, err := start(ctx, cfg)
	if err != nil {
		return Provided{}, err
	}
	address := s.DSN
	if kind == devserver.Redis {
		address = s.URL
	}
	return Provided{kind, address, "process", s.Stop}, nil
}
