package testenv

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"leaderboard/internal/devserver"
)

// Provided is a server for a test run.
type Provided struct {
	Kind    devserver.Kind
	Address string                      // DSN without a database, or redis:// URL
	Origin  string                      // "given", "container" or "process"
	Stop    func(context.Context) error // ends the started servers; never nil
}

// Provide gets a server of kind in the order that the package comment gives.
// Data and logs of a process go below dir. log may be nil.
func Provide(ctx context.Context, kind devserver.Kind, dir string, log func(string, ...any)) (Provided, error) {
	if address := os.Getenv(Variable(kind)); address != "" {
		return Provided{kind, address, "given", func(context.Context) error { return nil }}, nil
	}
	if os.Getenv(ClockVariable) != "" || os.Getenv(ProgramVariable(kind)) != "" || !dockerAnswers(ctx) {
		return provideProcess(ctx, kind, dir, log)
	}
	p, err := provideContainer(ctx, kind)
	if err == nil {
		return p, nil
	}
	// If the image cannot be fetched, the next way is tried.
	if log != nil {
		log("%s; trying a process instead", err)
	}
	p, err2 := provideProcess(ctx, kind, dir, log)
	if err2 != nil {
		return Provided{}, errors.Join(err, err2)
	}
	return p, nil
}

func provideProcess(ctx context.Context, kind devserver.Kind, dir string, log func(string, ...any)) (Provided, error) {
	env, err := clockEnv()
	if err != nil {
		return Provided{}, err
	}
	cfg := devserver.Config{
		Dir: dir, Log: log, Program: os.Getenv(ProgramVariable(kind)), Ephemeral: true, Fast: true, MySQLOnly: true,
		Databases: redisDatabases, Env: env,
	}
	if kind != devserver.KindRedis && os.Getenv(GaleraVariable) != "" {
		cfg.Dir = filepath.Join(dir, "galera-"+string(kind))
		g, err := devserver.StartGalera(ctx, cfg)
		if err != nil {
			return Provided{}, err
		}
		return Provided{kind, g.Nodes[0].DSN, "process", g.Stop}, nil
	}
	start := devserver.StartRedis
	switch kind {
	case devserver.KindMySQL:
		start = devserver.StartMySQL
	case devserver.KindMariaDB:
		start = devserver.StartMariaDB
	}
	s, err := start(ctx, cfg)
	if err != nil {
		return Provided{}, err
	}
	address := s.DSN
	if kind == devserver.KindRedis {
		address = s.URL
	}
	return Provided{kind, address, "process", s.Stop}, nil
}
