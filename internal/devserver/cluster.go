package devserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clusterSlots is how many hash slots a Redis Cluster has.
const clusterSlots = 16384

// ClusterConfig is the shape of a Redis Cluster; the zero value is three primaries with a replica each.
type ClusterConfig struct {
	Primaries   int           // 3
	Replicas    int           // of each primary; 1, none when below 0
	NodeTimeout time.Duration // after which a node that does not answer has failed; 1 s
}

func (c ClusterConfig) withDefaults() ClusterConfig {
	if c.Primaries == 0 {
		c.Primaries = 3
	}
	if c.Replicas == 0 {
		c.Replicas = 1
	}
	if c.NodeTimeout == 0 {
		c.NodeTimeout = time.Second
	}
	c.Replicas = max(0, c.Replicas)
	return c
}

// Cluster is a Redis Cluster of private servers.
type Cluster struct {
	// Nodes are the primaries, in the order of their slots, then their replicas in the same order, at the start.
	Nodes []*Server
	// URL names all nodes, as --redis-url takes it.
	URL string

	config ClusterConfig
	ids    []string // of the nodes
}

// StartRedisCluster returns a Redis Cluster in which all slots are served and all replicas are in step. It refuses slots
// that it does not cover, and serves the rest.
func StartRedisCluster(ctx context.Context, cfg Config, of ClusterConfig) (*Cluster, error) {
	of = of.withDefaults()
	c := &Cluster{config: of}
	for i := range of.Primaries * (1 + of.Replicas) {
		node, err := startNode(ctx, cfg, "node"+strconv.Itoa(i), of.NodeTimeout)
		if err != nil {
			return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
		}
		c.Nodes = append(c.Nodes, node)
	}
	c.URL = "redis://" + addresses(c.Nodes) + "?cluster=true"
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := c.assemble(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("assemble a Redis Cluster: %w", err), c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// startNode starts a server that will join a cluster. The port for the nodes' traffic is found like the other port, because
// the usual one, 10,000 higher, may be in use.
func startNode(ctx context.Context, cfg Config, name string, timeout time.Duration) (s *Server, err error) {
	cfg.Dir, cfg.Databases = filepath.Join(cfg.Dir, name), 0
	for range portAttempts {
		var bus int
		if bus, err = freePort(); err != nil {
			return nil, err
		}
		cfg.redisArgs = []string{
			"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(bus), "--cluster-require-full-coverage", "no",
			"--cluster-node-timeout", strconv.FormatInt(timeout.Milliseconds(), 10), "--repl-diskless-sync-delay", "0",
		}
		if s, err = StartRedis(ctx, cfg); !errors.Is(err, errForeign) {
			return s, err
		}
	}
	return nil, err
}

func addresses(servers []*Server) string {
	all := make([]string, len(servers))
	for i, s := range servers {
		all[i] = s.Addr
	}
	return strings.Join(all, ",")
}

// addressOfAll makes a database on the first server, and returns its DSN with all servers as its hosts.
func addressOfAll(ctx context.Context, servers []*Server, database string) (dsn string, err error) {
	dsn, err = servers[0].CreateDatabase(ctx, database)
	return strings.Replace(dsn, servers[0].Addr, addresses(servers), 1), err
}

// freeAddresses returns addresses at which nobody listens.
func freeAddresses(n int) (free []string, err error) {
	for range n {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		free = append(free, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	return free, nil
}

// thawAndStop stops servers, the first one last. A frozen one could not stop.
func thawAndStop(ctx context.Context, servers []*Server) error {
	for _, s := range servers {
		_ = s.Resume()
	}
	last := slices.Clone(servers)
	slices.Reverse(last)
	return stopAll(ctx, last)
}

// assemble makes a cluster of nodes that do not know each other.
func (c *Cluster) assemble(ctx context.Context) error {
	for i, node := range c.Nodes {
		id, err := redisCommand(ctx, node, "CLUSTER", "MYID")
		if err != nil {
			return err
		}
		c.ids = append(c.ids, id)
		if _, err := redisCommand(ctx, node, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)); err != nil {
			return err
		}
		if i >= c.config.Primaries {
			continue
		}
		first, next := i*clusterSlots/c.config.Primaries, (i+1)*clusterSlots/c.config.Primaries
		if _, err := redisCommand(ctx, node, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(first), strconv.Itoa(next-1)); err != nil {
			return err
		}
	}
	if err := c.introduce(ctx); err != nil {
		return err
	}
	for i := c.config.Primaries; i < len(c.Nodes); i++ {
		if _, err := redisCommand(ctx, c.Nodes[i], "CLUSTER", "REPLICATE", c.ids[i%c.config.Primaries]); err != nil {
			return err
		}
	}
	return c.AwaitReady(ctx)
}

// introduce makes each node know all others.
func (c *Cluster) introduce(ctx context.Context) error {
	for i, node := range c.Nodes {
		for _, other := range c.Nodes[:i] {
			bus := other.run.cfg.busPort()
			host, port, _ := strings.Cut(other.Addr, ":")
			if _, err := redisCommand(ctx, node, "CLUSTER", "MEET", host, port, bus); err != nil {
				return err
			}
		}
	}
	for _, node := range c.Nodes {
		if err := awaitWords(ctx, node, []any{"CLUSTER", "NODES"}, c.ids...); err != nil {
			return err
		}
	}
	return nil
}

// busPort returns the port on which a node of a cluster talks to others.
func (c *Config) busPort() string {
	for i := 1; i < len(c.redisArgs); i++ {
		if c.redisArgs[i-1] == "--cluster-port" {
			return c.redisArgs[i]
		}
	}
	return ""
}

// AwaitReady waits until every node says that all slots are served, and every replica is in step with its primary.
func (c *Cluster) AwaitReady(ctx context.Context) error {
	for _, node := range c.Nodes {
		if err := awaitWords(ctx, node, []any{"CLUSTER", "INFO"}, "cluster_state:ok", "cluster_slots_ok:"+strconv.Itoa(clusterSlots)); err != nil {
			return err
		}
		if err := awaitInStep(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// awaitInStep waits until a server is a primary, or a replica that follows one.
func awaitInStep(ctx context.Context, s *Server) error {
	return poll(ctx, func() error {
		said, err := redisCommand(ctx, s, "INFO", "replication")
		if err == nil && !strings.Contains(said, "role:master") && !strings.Contains(said, "master_link_status:up") {
			err = fmt.Errorf("the replica at %s does not follow its primary yet", s.Addr)
		}
		return err
	})
}

// awaitWords waits until the answer to a question has all of some words.
func awaitWords(ctx context.Context, s *Server, question []any, words ...string) error {
	return poll(ctx, func() error {
		said, err := redisCommand(ctx, s, question...)
		if err != nil {
			return err
		}
		for _, word := range words {
			if !strings.Contains(said, word) {
				return fmt.Errorf("the server at %s does not say %q", s.Addr, word)
			}
		}
		return nil
	})
}

func poll(ctx context.Context, check func() error) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		case <-tick.C:
		}
	}
}

func redisCommand(ctx context.Context, s *Server, words ...any) (string, error) {
	said, err := sendRedis(ctx, s.Addr, nil, words...)
	if err != nil {
		return "", fmt.Errorf("%v at %s: %w", words, s.Addr, err)
	}
	return said, nil
}

// Stop ends all nodes for good.
func (c *Cluster) Stop(ctx context.Context) error { return stopAll(ctx, c.Nodes) }

func stopAll(ctx context.Context, servers []*Server) error {
	errs := make([]error, len(servers))
	for i, s := range servers {
		errs[i] = s.Stop(ctx)
	}
	return errors.Join(errs...)
}
