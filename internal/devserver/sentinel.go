package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sentinelMaster is the sentinels' name for the Redis that they watch.
const sentinelMaster = "main"

// SentinelConfig is the shape of a set of sentinels; the zero value is three that watch a primary with a replica.
type SentinelConfig struct {
	Sentinels int           // 3
	Replicas  int           // 1
	DownAfter time.Duration // after which a server that does not answer is down; 1 s
}

func (c SentinelConfig) withDefaults() SentinelConfig {
	if c.Sentinels == 0 {
		c.Sentinels = 3
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.DownAfter == 0 {
		c.DownAfter = time.Second
	}
	return c
}

// Sentinel is a Redis with replicas that sentinels watch, all of them private servers.
type Sentinel struct {
	Nodes     []*Server // the primary, then its replicas, at the start
	Sentinels []*Server
	// URL names the sentinels, as --redis-url takes it.
	URL string
}

// StartRedisSentinel returns a primary with replicas in step, and sentinels that know them and each other.
func StartRedisSentinel(ctx context.Context, cfg Config, of SentinelConfig) (*Sentinel, error) {
	of = of.withDefaults()
	s := &Sentinel{}
	if err := s.start(ctx, cfg, of); err != nil {
		return nil, errors.Join(fmt.Errorf("start a Redis with sentinels: %w", err), s.Stop(context.WithoutCancel(ctx)))
	}
	return s, nil
}

func (s *Sentinel) start(ctx context.Context, cfg Config, of SentinelConfig) error {
	dir := cfg.Dir
	for i := range 1 + of.Replicas {
		cfg.Dir, cfg.redisArgs = filepath.Join(dir, "redis"+strconv.Itoa(i)), []string{"--repl-diskless-sync-delay", "0"}
		if i > 0 {
			host, port, _ := net.SplitHostPort(s.Nodes[0].Addr)
			cfg.redisArgs = append(cfg.redisArgs, "--replicaof", host+" "+port)
		}
		node, err := StartRedis(ctx, cfg)
		if err != nil {
			return err
		}
		s.Nodes = append(s.Nodes, node)
	}
	for i := range of.Sentinels {
		cfg.Dir, cfg.Databases = filepath.Join(dir, "sentinel"+strconv.Itoa(i)), 0
		sentinel, err := startSentinel(ctx, cfg, of, s.Nodes[0].Addr)
		if err != nil {
			return err
		}
		s.Sentinels = append(s.Sentinels, sentinel)
	}
	s.URL = "redis://" + addresses(s.Sentinels) + "/0?master=" + sentinelMaster
	return s.awaitReady(ctx, of)
}

// startSentinel starts a sentinel, which writes its findings into its configuration.
func startSentinel(ctx context.Context, cfg Config, of SentinelConfig, primary string) (*Server, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder of a sentinel: %w", err)
	}
	host, port, _ := net.SplitHostPort(primary)
	lines := []string{
		fmt.Sprintf("sentinel monitor %s %s %s %d", sentinelMaster, host, port, of.Sentinels/2+1),
		fmt.Sprintf("sentinel down-after-milliseconds %s %d", sentinelMaster, of.DownAfter.Milliseconds()),
		fmt.Sprintf("sentinel failover-timeout %s %d", sentinelMaster, 3*of.DownAfter.Milliseconds()),
	}
	file := filepath.Join(cfg.Dir, "sentinel.conf")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		return nil, fmt.Errorf("configuration of a sentinel: %w", err)
	}
	cfg.redisArgs = []string{file, "--sentinel"}
	return StartRedis(ctx, cfg)
}

// awaitReady waits until the replicas are in step, and each sentinel knows them and the other sentinels.
func (s *Sentinel) awaitReady(ctx context.Context, of SentinelConfig) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for _, node := range s.Nodes {
		if err := awaitInStep(ctx, node); err != nil {
			return err
		}
	}
	for _, sentinel := range s.Sentinels {
		err := awaitWords(ctx, sentinel, []any{"INFO", "sentinel"},
			fmt.Sprintf("status=ok,address=%s,slaves=%d,sentinels=%d", s.Nodes[0].Addr, of.Replicas, of.Sentinels))
		if err != nil {
			return err
		}
	}
	return nil
}

// Stop ends all servers for good, the sentinels first.
func (s *Sentinel) Stop(ctx context.Context) error {
	return stopAll(ctx, slices.Concat(s.Sentinels, s.Nodes))
}
