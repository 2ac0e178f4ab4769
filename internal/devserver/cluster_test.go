package devserver

import (
	"context"
	"strings"
	"testing"
)

// TestStartRedisCluster: six nodes that serve all slots, three of them as replicas.
func TestStartRedisCluster(t *testing.T) {
	t.Parallel()
	c, err := StartRedisCluster(t.Context(), Config{Dir: t.TempDir(), Ephemeral: true}, ClusterConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if len(c.Nodes) != 6 || strings.Count(c.URL, ",") != 5 {
		t.Errorf("%d nodes at %s", len(c.Nodes), c.URL)
	}
	for i, node := range c.Nodes {
		role := "role:master"
		if i >= 3 {
			role = "role:slave"
		}
		if said, err := redisCommand(t.Context(), node, "INFO", "replication"); err != nil || !strings.Contains(said, role) {
			t.Errorf("node %d says %q, %v, want %s", i, said, err, role)
		}
		// The slot of this key is 16287, of the third primary.
		said, err := redisCommand(t.Context(), node, "SET", "x", "y")
		if i == 2 && (err != nil || said != "OK") || i != 2 && (err == nil || !strings.Contains(err.Error(), "MOVED")) {
			t.Errorf("node %d takes a key: %q, %v", i, said, err)
		}
	}
}

// TestStartRedisSentinel: three sentinels that know the primary.
func TestStartRedisSentinel(t *testing.T) {
	t.Parallel()
	s, err := StartRedisSentinel(t.Context(), Config{Dir: t.TempDir(), Ephemeral: true}, SentinelConfig{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if len(s.Nodes) != 2 || len(s.Sentinels) != 3 || !strings.HasSuffix(s.URL, "/0?master=main") {
		t.Errorf("%d servers and %d sentinels at %s", len(s.Nodes), len(s.Sentinels), s.URL)
	}
	for i, sentinel := range s.Sentinels {
		if said, err := redisCommand(t.Context(), sentinel, "SENTINEL", "CKQUORUM", sentinelMaster); err != nil || !strings.HasPrefix(said, "OK 3 ") {
			t.Errorf("sentinel %d: %q, %v", i, said, err)
		}
	}
}
