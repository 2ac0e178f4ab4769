// Package devserver starts private MySQL, MariaDB and Redis servers for the
// dev command and for tests: on 127.0.0.1 only, with their data in a folder
// of the caller's, as children that die with this process however it ends.
//
// The programs are looked for in this order:
//
//  1. an address given in Config: nothing is started;
//  2. a program given in Config: no other is tried;
//  3. programs on PATH (and in the usual sbin folders);
//  4. on Debian and Ubuntu, the distribution's own packages, fetched once into
//     the user's cache folder. Nothing is installed system-wide and root is not
//     needed: the programs run through the C library in the same folder.
//
// When no way works the error says what to do; see ErrNoServer.
package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoServer means that no program was given, found or could be fetched. The
// error that wraps it lists every attempt and the ways to help.
var ErrNoServer = errors.New("no server program")

// StartMySQL returns a running MySQL whose DSN names root without a database. Unless cfg.MySQLOnly is set it may be a
// MariaDB found on PATH; see Server.Kind. It returns when the server answers, and fails with the end of the server's log
// when it does not.
func StartMySQL(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.MySQL != "" {
		return givenMySQL(ctx, KindMySQL, cfg.MySQL)
	}
	if !cfg.MySQLOnly && cfg.Program == "" {
		if _, err := lookPath(ctx, KindMySQL); err != nil {
			if _, err := lookPath(ctx, KindMariaDB); err == nil {
				return start(ctx, KindMariaDB, cfg)
			}
		}
	}
	return start(ctx, KindMySQL, cfg)
}

// StartMariaDB is StartMySQL for MariaDB alone. A given address is cfg.MySQL.
func StartMariaDB(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.MySQL != "" {
		return givenMySQL(ctx, KindMariaDB, cfg.MySQL)
	}
	return start(ctx, KindMariaDB, cfg)
}

// StartRedis returns a running Redis or Valkey that keeps nothing on disk.
func StartRedis(ctx context.Context, cfg Config) (*Server, error) {
	if cfg.Redis != "" {
		return givenRedis(ctx, cfg.Redis)
	}
	return start(ctx, KindRedis, cfg)
}

// start tries each program that may serve kind until one runs.
func start(ctx context.Context, kind Kind, cfg Config) (*Server, error) {
	if cfg.Log == nil {
		cfg.Log = func(string, ...any) {}
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("folder of the %s server: %w", kind, err)
	}
	cfg.Dir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder of the %s server: %w", kind, err)
	}
	store, err := openCache(cfg.Cache)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()

	if cfg.Program != "" {
		prog, err := programAt(ctx, kind, cfg.Program)
		if err != nil {
			return nil, fmt.Errorf("the program given for %s: %w", kind, err)
		}
		return launch(ctx, kind, prog, store, cfg)
	}
	var failed []error
	for _, find := range []func(context.Context, Kind) (program, error){lookPath, store.fetcher(cfg.Log)} {
		prog, err := find(ctx, kind)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		s, err := launch(ctx, kind, prog, store, cfg)
		if err == nil {
			return s, nil
		}
		if errors.Is(err, errInUse) || ctx.Err() != nil {
			return nil, err
		}
		// A program on PATH may be unusable for us (an AppArmor profile that
		// confines it to its own data folder); a fetched one is not.
		failed = append(failed, fmt.Errorf("%s: %w", prog.path, err))
	}
	return nil, noServer(kind, failed)
}

// noServer returns the error for people: the attempts, and the three ways out.
func noServer(kind Kind, failed []error) error {
	return fmt.Errorf("%w for %s. Any of these helps:\n"+
		"  - Docker: docker compose up -d --wait mysql redis, then the addresses of its servers as below\n"+
		"  - a program on PATH: %s\n"+
		"  - the address of a running server: %s\n"+
		"what was tried: %w", ErrNoServer, kind, programHint(kind), addressHint(kind), errors.Join(failed...))
}

func programHint(kind Kind) string {
	switch kind {
	case KindMySQL:
		return "mysqld (MySQL 8.0 or newer)"
	case KindMariaDB:
		return "mariadbd (MariaDB 10.11 or newer)"
	default:
		return "redis-server or valkey-server"
	}
}

func addressHint(kind Kind) string {
	switch kind {
	case KindMySQL:
		return "LEADERBOARD_MYSQL_DSN (in tests LEADERBOARD_TEST_MYSQL_DSN), as in root:leaderboard@tcp(127.0.0.1:3306)/"
	case KindMariaDB:
		return "LEADERBOARD_TEST_MARIADB_DSN, as in root@tcp(127.0.0.1:3306)/"
	default:
		return "LEADERBOARD_REDIS_URL (in tests LEADERBOARD_TEST_REDIS_URL), as in redis://127.0.0.1:6379/0"
	}
}
