package topn

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/internal/serverfault"
	"leaderboard/internal/testenv"
)

// TestFaultsOfInfo: the faults found in answers to INFO.
func TestFaultsOfInfo(t *testing.T) {
	t.Parallel()
	good := map[string]string{"redis_version": "7.0.15", "maxmemory_policy": "noeviction", "role": "master"}
	for _, c := range []struct {
		change map[string]string
		check  serverfault.Check
		warns  bool
	}{
		{change: map[string]string{}},
		{change: map[string]string{"redis_version": "8.0.6"}},
		{change: map[string]string{"redis_version": "7.2.4", "server_name": "valkey", "valkey_version": "9.1.2"}},
		{map[string]string{"redis_version": "6.2.18"}, serverfault.CheckVersion, false},
		{map[string]string{"redis_version": "5.0.14"}, serverfault.CheckVersion, false},
		{map[string]string{"redis_version": "255.255.255"}, "", false},
		{map[string]string{"redis_version": ""}, serverfault.CheckVersion, true},
		{map[string]string{"maxmemory_policy": "allkeys-lru"}, serverfault.CheckEviction, false},
		{map[string]string{"maxmemory_policy": "volatile-ttl"}, serverfault.CheckEviction, false},
		{map[string]string{"maxmemory_policy": ""}, serverfault.CheckEviction, true},
		{map[string]string{"role": "slave"}, serverfault.CheckReplica, true},
	} {
		info := maps.Clone(good)
		maps.Copy(info, c.change)
		var got []serverfault.Check
		for _, f := range redisFaults(info) {
			if got = append(got, f.Check); f.Doubtful != c.warns || f.Remedy == "" {
				t.Errorf("%v: %+v", c.change, f)
			}
		}
		var want []serverfault.Check
		if c.check != "" {
			want = append(want, c.check)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", c.change, got, want)
		}
	}
}

// TestFaultsOfCluster: of a cluster it is said which server has which fault, in the same words and order each time.
func TestFaultsOfCluster(t *testing.T) {
	t.Parallel()
	const good, evicts = "redis_version:7.4.1\r\nmaxmemory_policy:noeviction\r\nrole:master\r\n", "redis_version:7.4.1\r\nmaxmemory_policy:allkeys-lru\r\nrole:master\r\n"
	infos := map[string]string{"a:1": evicts, "b:1": good, "c:1": evicts}
	client := cachetest.StagedCluster(func(context.Context) ([]redis.ClusterSlot, error) {
		return cachetest.Slots(map[int]string{0: "c:1", 1: "b:1", 2: "a:1"}), nil
	}, func(_ context.Context, server string, cmd redis.Cmder) error {
		if info, ok := cmd.(*redis.StringCmd); ok {
			info.SetVal(infos[server])
		}
		return nil
	})
	defer client.Close()
	for range 20 {
		server, faults, err := Faults(t.Context(), client)
		const with = ": Redis 7.4.1 with maxmemory-policy "
		if err != nil || server != "a:1"+with+"allkeys-lru, b:1"+with+"noeviction, c:1"+with+"allkeys-lru" || len(faults) != 2 || !strings.HasPrefix(faults[0].Wrong, "a:1: the maxmemory-policy") || !strings.HasPrefix(faults[1].Wrong, "c:1: the maxmemory-policy") {
			t.Fatalf("%s, %+v, %v", server, faults, err)
		}
	}
}

// TestFaultsOfRedis checks a real server that is made worse step by step, that acts like a server whose owner denies
// CONFIG, and that is away at last (promise H2).
func TestFaultsOfRedis(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	admin := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer admin.Close()
	checks := func(url string) (got string) {
		client, err := Open(url)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = Close(client) }()
		_, faults, err := Faults(t.Context(), client)
		if err != nil {
			return "error"
		}
		for _, f := range faults {
			if got += string(f.Check); f.Doubtful {
				got += "?"
			}
			got += " "
		}
		return strings.TrimSpace(got)
	}
	limited := "redis://limited:x@" + server.Addr + "/0"
	for _, step := range []struct{ command, url, want string }{
		{"PING", server.URL, ""},
		{"CONFIG SET maxmemory-policy allkeys-lru", server.URL, "maxmemory-policy"},
		{"CONFIG SET maxmemory-policy volatile-lfu", server.URL, "maxmemory-policy"},
		{"ACL SETUSER limited on >x ~* +@all -config", limited, "maxmemory-policy"},
		{"CONFIG SET maxmemory-policy noeviction", limited, ""},
		{"CONFIG SET maxmemory 1", server.URL, "writes?"},
		{"CONFIG SET maxmemory 0", server.URL, ""},
		{"CONFIG SET min-replicas-to-write 1", server.URL, "writes?"},
		{"ACL SETUSER limited -eval", limited, ""},
		{"CONFIG SET min-replicas-to-write 0", server.URL, ""},
		{"ACL SETUSER limited -info", limited, "answers?"},
		{"REPLICAOF 127.0.0.1 1", server.URL, "replica?"},
	} {
		var words []any
		for w := range strings.FieldsSeq(step.command) {
			words = append(words, w)
		}
		if err := admin.Do(t.Context(), words...).Err(); err != nil {
			t.Fatalf("%s: %s", step.command, err)
		}
		if got := checks(step.url); got != step.want {
			t.Errorf("after %s: %q, want %q", step.command, got, step.want)
		}
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := checks(server.URL); got != "error" {
		t.Errorf("of one that is away: %q", got)
	}
}
