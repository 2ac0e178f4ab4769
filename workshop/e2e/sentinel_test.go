//go:build failover

package e2e

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

// TestRedisSentinelFailover: see failOver. The old primary comes back empty, and gets no writes before the sentinels have made it
// a replica.
func TestRedisSentinelFailover(t *testing.T) {
	old := failOver(t, (*devserver.Server).Kill, func(primary *devserver.Server) error { return primary.Restart(t.Context()) })
	said, err := old.Info(t.Context(), "commandstats").Result()
	if err != nil || strings.Contains(said, "cmdstat_eval") {
		t.Errorf("the old primary was asked to run scripts: %s, %v", said, err)
	}
}

// TestRedisSentinelFrozen: see failOver. The connections of the old primary stay open, and it comes back with its old copies, as a
// primary that does not know of the failover.
func TestRedisSentinelFrozen(t *testing.T) {
	failOver(t, (*devserver.Server).Pause, (*devserver.Server).Resume)
}

// failOver takes the primary that sentinels watch away under readers and writers, and returns it. Within failoverLimit the copy on
// the former replica gets the writes and is read. No answer is older than it says, also when the old primary comes back.
func failOver(t *testing.T, away, back func(*devserver.Server) error) (old *redis.Client) {
	t.Helper()
	s := testenv.PrivateRedisSentinel(t)
	w := worldOn(t, testenv.MySQL(t), "")
	w.redisURL = s.URL
	writing, reading := w.serve(t, "server a", "--resident-memory=0"), w.serve(t, "server b", "--resident-memory=0")
	b := &clusterBoard{ages: &ages{board: "race", base: 1_000_000}}
	writing.fill(t, b.board, 500, leaderboard.Rules{Policy: leaderboard.PolicyLatest, TopN: 100})
	writing.mustRebuild(t, b.board)
	b.period = w.periodOf(t, b.board)
	boards := []*clusterBoard{b}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	all.Go(func() { b.commit(ctx, writing, 20*time.Millisecond) })
	for range agePollers {
		all.Go(func() { b.poll(ctx, reading, 10*time.Millisecond) })
	}
	began := time.Now()
	awaitRedisAgain(t, boards, began)

	replica := redis.NewClient(&redis.Options{Addr: s.Nodes[1].Addr})
	defer replica.Close()
	left := time.Now()
	if err := away(s.Nodes[0]); err != nil {
		t.Fatal(err)
	}
	awaitRole(t, replica, "role:master")
	promoted := time.Since(left)
	at := b.copyOn(t, w, replica)
	eventually(t, "the copy on the replica gets what is written", func() error {
		if now := b.copyOn(t, w, replica); now <= at+5 {
			return fmt.Errorf("it is at seq %d, when it took over it was at %d", now, at)
		}
		return nil
	})
	written := time.Since(left)
	read := awaitRedisAgain(t, boards, left)
	t.Logf("after it left: promoted %s, written to %s, read %s", promoted.Round(time.Millisecond), written.Round(time.Millisecond), read.Round(time.Millisecond))
	t.Logf("meanwhile %s", measure(boards, left))
	if max(written, read) > failoverLimit {
		t.Errorf("written to %s and read %s after it left, want %s at most", written, read, failoverLimit)
	}

	if err := back(s.Nodes[0]); err != nil {
		t.Fatal(err)
	}
	old = redis.NewClient(&redis.Options{Addr: s.Nodes[0].Addr})
	t.Cleanup(func() { _ = old.Close() })
	awaitRole(t, old, "role:slave")
	awaitPolls(t, boards, time.Now(), 100)
	cancel()
	all.Wait()
	b.check(t)
	eventually(t, "the copy is right", func() error { _, err := writing.verify(t.Context(), b.board); return err })
	return old
}

func awaitRole(t *testing.T, client *redis.Client, role string) {
	t.Helper()
	eventually(t, role, func() error {
		if said, err := client.Info(t.Context(), "replication").Result(); err != nil || !strings.Contains(said, role) {
			return fmt.Errorf("it says %q, %w", said, err)
		}
		return nil
	})
}

// copyOn returns the seq of the board's copy at a server of Redis.
func (b *clusterBoard) copyOn(t *testing.T, w *world, client *redis.Client) int64 {
	t.Helper()
	base, err := w.base(t.Context(), b.period)
	if err != nil {
		t.Fatal(err)
	}
	seq, err := client.HGet(t.Context(), base+"meta", "seq").Int64()
	if err != nil {
		t.Fatal(err)
	}
	return seq
}
