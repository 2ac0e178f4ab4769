package cache

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
)

// The servers of stagedCluster. The slot of period 1 is 9842, of period 2 5649.
const (
	ofPeriod1 = "first:1"
	ofPeriod2 = "second:1"
)

// stagedCluster is staged with a Redis Cluster of two servers; look describes the cluster at first.
func stagedCluster(t *testing.T, look func(context.Context) error, answer func(ctx context.Context, server string, cmd *redis.Cmd) error) *rig {
	t.Helper()
	client := cachetest.StagedCluster(func(ctx context.Context) ([]redis.ClusterSlot, error) {
		return cachetest.Slots(map[int]string{0: ofPeriod2, 8000: ofPeriod1}), look(ctx)
	}, func(ctx context.Context, server string, cmd redis.Cmder) error {
		return answer(ctx, server, cmd.(*redis.Cmd))
	})
	t.Cleanup(func() { _ = client.Close() })
	w := cachetest.NewWorld(1, cachetest.Rules(func(*leaderboard.Rules) {}))
	return &rig{client, w, topn.New(client, w, topn.Options{}), w.Ref}
}

// TestHungServerOfACluster: one server of a Redis Cluster never answers. Readers of a period whose copy it has wait for the
// deadline at most, and soon not at all; readers of the other server's periods do not wait, and their server is asked as before.
func TestHungServerOfACluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var hung, fine atomic.Int64
		b := stagedCluster(t, func(context.Context) error { return nil }, func(ctx context.Context, server string, cmd *redis.Cmd) error {
			if server == ofPeriod2 {
				fine.Add(1)
				cmd.SetVal([]any{"missing"})
				return nil
			}
			hung.Add(1)
			<-ctx.Done()
			return ctx.Err()
		})
		b.world.Fill(500)
		r := NewReader(b.copies, &worldDatabase{World: b.world}, ReaderOptions{FreshFor: time.Nanosecond})
		start := time.Now()
		const readers, reads = 8, 60
		if took := hungReads(t, r, b.ref, readers, reads); took != 150*time.Millisecond {
			t.Errorf("the slowest read of what the hung server has took %s, want 150 ms", took)
		}
		if n, most := hung.Load(), mostQueries(readers, start); n > most {
			t.Errorf("it was asked %d times by %d reads, want %d at most", n, readers*reads, most)
		}
		other := b.ref
		other.ID = 2
		if took := hungReads(t, r, other, readers, reads); took != 0 || fine.Load() < reads {
			t.Errorf("the slowest read of what another server has took %s, and that was asked %d times by %d reads", took, fine.Load(), readers*reads)
		}
		time.Sleep(time.Second) // the last batch has its own deadline
	})
}

// TestHungCluster: when no server of a cluster ever answers, no reader waits longer than the deadline.
func TestHungCluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		b := stagedCluster(t, hang, func(ctx context.Context, _ string, _ *redis.Cmd) error { return hang(ctx) })
		b.world.Fill(500)
		r := NewReader(b.copies, &worldDatabase{World: b.world}, ReaderOptions{FreshFor: time.Nanosecond})
		if took := hungReads(t, r, b.ref, 8, 60); took != 150*time.Millisecond {
			t.Errorf("the slowest read took %s, want 150 ms", took)
		}
		time.Sleep(time.Second)
	})
}
