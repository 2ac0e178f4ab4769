package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
)

// keptKey is a key of Redis as a backup has it.
type keptKey struct {
	name, value string
	ttl         time.Duration
}

// TestOldRedisBackup: Redis dies and comes back with its data of a hundred writes before, without scripts. No server shows the old
// data in an answer that is not stale; the copies are brought up to date (promise B7).
func TestOldRedisBackup(t *testing.T) {
	t.Parallel()
	server := testenv.PrivateRedis(t)
	_, servers := pair(t, server.URL)
	client := redis.NewClient(redisOptions(t, server.URL))
	defer client.Close()
	names, err := client.Keys(t.Context(), "*").Result()
	if err != nil || len(names) < 4 {
		t.Fatalf("keys %v, %v", names, err)
	}
	var backup []keptKey
	for _, name := range names {
		value, err := client.Dump(t.Context(), name).Result()
		if err != nil {
			t.Fatal(err)
		}
		backup = append(backup, keptKey{name, value, max(0, client.PTTL(t.Context(), name).Val())})
	}
	const writes = 100
	for n := range writes {
		submit(servers[n%2], fmt.Sprint("m", n), 100+n)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, k := range backup {
		if err := client.RestoreReplace(t.Context(), k.name, k.ttl, k.value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	<-time.After(maxAge) // until then an answer may be of the time before the last write
	for range 100 {
		for i, a := range servers {
			if wrong := differs(a, fmt.Sprint("m", writes-1), 100+writes-1, 1); wrong != "" {
				t.Fatalf("server %d: %s", i, wrong)
			}
		}
		<-time.After(5 * time.Millisecond)
	}
	p := period(t, servers[0], "b")
	apptest.Eventually(t, func() string {
		if info, err := servers[0].copies.Info(t.Context(), p); err != nil || info.Seq != writes+2 {
			return fmt.Sprintf("the copy is at seq %d, not %d, %v", info.Seq, writes+2, err)
		}
		return ""
	})
}
