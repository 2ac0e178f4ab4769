package topn

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
)

// slotBetween lies between the slots of period 1, 9842, and period 2, 5649.
const slotBetween = 8000

// TestServers: in a cluster a server that does not answer is left alone, and no other; its replacement is tried at once,
// with a closed breaker.
func TestServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var second atomic.Pointer[string]
		first, old, promoted := "first:1", "old:1", "promoted:1"
		second.Store(&old)
		client := cachetest.StagedCluster(func(context.Context) ([]redis.ClusterSlot, error) {
			return cachetest.Slots(map[int]string{0: first, slotBetween: *second.Load()}), nil
		}, nil)
		defer client.Close()
		var changes []string
		servers := NewServers(client, time.Now, func(server string, open bool) { changes = append(changes, fmt.Sprint(server, open)) }, func() int { return 0 })
		try := func(period int64, ok bool) bool {
			s := servers.Of(t.Context(), leaderboard.PeriodRef{ID: period})
			if !s.Allow() {
				return false
			}
			s.Done(ok)
			return true
		}
		for range BreakerFailures {
			try(1, false)
			try(2, true)
		}
		if try(1, false) || !try(2, true) {
			t.Error("want the server of period 1 left alone, and that of period 2 asked")
		}
		second.Store(&promoted)
		time.Sleep(cachetest.StagedReload + time.Millisecond)
		servers.Of(t.Context(), leaderboard.PeriodRef{ID: 2}) // makes the client look again
		synctest.Wait()
		if !try(1, true) {
			t.Error("what has taken the place of the server is left alone")
		}
		time.Sleep(restAfter)
		try(1, true)
		if want := []string{old + "true", old + "false"}; !slices.Equal(changes, want) {
			t.Errorf("changes %v, want %v", changes, want)
		}
		time.Sleep(cachetest.StagedReload) // the client looks for the last time
	})
}

// TestServersOfNothing: a cluster that has never answered is not asked more often than one server would be.
func TestServersOfNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks, away := 0, true
		client := cachetest.StagedCluster(func(context.Context) ([]redis.ClusterSlot, error) {
			if looks++; away {
				return nil, redis.ErrClosed
			}
			return cachetest.Slots(map[int]string{0: "first:1"}), nil
		}, nil)
		defer client.Close()
		servers := NewServers(client, time.Now, func(string, bool) {}, func() int { return 0 })
		of := func() *Server[int] { return servers.Of(t.Context(), leaderboard.PeriodRef{ID: 1}) }
		for range 100 {
			if of() != servers.first {
				t.Error("the server of a period is known")
			}
		}
		if looks != BreakerFailures || of().Allow() {
			t.Errorf("%d looks, want %d and no more", looks, BreakerFailures)
		}
		away = false
		time.Sleep(BreakerPause)
		if of() == servers.first || !of().Allow() {
			t.Error("the cluster that answers is not asked")
		}
		time.Sleep(time.Second)
	})
}

// TestServersLearnedMeanwhile: a failed look at a cluster leaves no breaker open when another look succeeds meanwhile.
func TestServersLearnedMeanwhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks, open atomic.Int64
		client := cachetest.StagedCluster(func(ctx context.Context) ([]redis.ClusterSlot, error) {
			if looks.Add(1) <= BreakerFailures {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return cachetest.Slots(map[int]string{0: "first:1"}), nil
		}, nil)
		defer client.Close()
		servers := NewServers(client, time.Now, func(_ string, opens bool) {
			if opens {
				open.Add(1)
			} else {
				open.Add(-1)
			}
		}, func() int { return 0 })
		ask := func() { servers.Of(t.Context(), leaderboard.PeriodRef{ID: 1}) }
		for range BreakerFailures {
			go ask()
		}
		synctest.Wait()
		ask()
		time.Sleep(ioTimeout)
		synctest.Wait()
		if open.Load() != 1 {
			t.Errorf("%d breakers are open, want that of the cluster: the test tests nothing", open.Load())
		}
		time.Sleep(restAfter + time.Second)
		ask()
		if open.Load() != 0 {
			t.Error("the breaker of the cluster stays open though the cluster is known")
		}
		time.Sleep(time.Second)
	})
}

// TestServersOfOne: without a cluster there is one breaker.
func TestServersOfOne(t *testing.T) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{})
	defer client.Close()
	servers := NewServers(client, time.Now, func(string, bool) {}, func() int { return 0 })
	if servers.Of(t.Context(), leaderboard.PeriodRef{ID: 1}) != servers.Of(t.Context(), leaderboard.PeriodRef{ID: 2}) {
		t.Error("two periods of one Redis have servers of their own")
	}
}
