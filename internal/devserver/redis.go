package devserver

import (
	"context"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

type redisService struct{}

func (redisService) prepare(_ context.Context, _ program, _ cache, dir string) error {
	return os.Mkdir(dir, 0o755)
}

func (redisService) args(_ program, cfg Config, dir string, port int) []string {
	args := []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(port), "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no",
	}
	if cfg.Databases > 0 {
		args = append(args, "--databases", strconv.Itoa(cfg.Databases))
	}
	return slices.Concat(cfg.redisArgs, args)
}

func (redisService) ready(ctx context.Context, addr, _ string, pid int) error {
	info, err := redisInfo(ctx, addr, nil)
	if err != nil {
		return err
	}
	if !strings.Contains(info, "process_id:"+strconv.Itoa(pid)+"\r") {
		return errForeign
	}
	return nil
}

// redisInfo returns the answer of the Redis at addr to INFO server. user may be nil.
func redisInfo(ctx context.Context, addr string, user *url.Userinfo) (string, error) {
	return sendRedis(ctx, addr, user, "INFO", "server")
}

// sendRedis sends one command to the Redis at addr and returns the answer, which must be a text or a number. user may be nil.
func sendRedis(ctx context.Context, addr string, user *url.Userinfo, words ...any) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	opts := &redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, ContextTimeoutEnabled: true, MaxRetries: -1, DialerRetries: 1, PoolSize: 1}
	if password, ok := user.Password(); ok {
		opts.Username, opts.Password = user.Username(), password
	}
	client := redis.NewClient(opts)
	defer client.Close()
	return client.Do(ctx, words...).Text()
}
