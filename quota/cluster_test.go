package quota

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard"
)

// clusterHook plays the servers of a cluster: it answers leases, but for those at the address that is away.
type clusterHook struct {
	redis.Hook
	addr  string
	away  *atomic.Pointer[string]
	asked *atomic.Int64 // those who are away
}

// ProcessHook implements redis.Hook.
func (h clusterHook) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(_ context.Context, cmd redis.Cmder) error {
		if *h.away.Load() == h.addr {
			h.asked.Add(1)
			return errors.New("it does not answer")
		}
		cmd.(*redis.Cmd).SetVal([]any{"5", "50"})
		return nil
	}
}

// DialHook implements redis.Hook.
func (clusterHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (clusterHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// TestOneServerOfACluster: when one server of a cluster does not answer, the quotas that another keeps are leased from it as before;
// the first is asked once in awayFor. The bucket of key "2" for requests is in slot 2830, that of key "1" in slot 15041.
func TestOneServerOfACluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Pointer[string]
		var asked atomic.Int64
		nobody, first, second := "", "first:1", "second:1"
		away.Store(&nobody)
		client := redis.NewClusterClient(&redis.ClusterOptions{
			DisableRoutingPolicies: true,
			ClusterSlots: func(context.Context) ([]redis.ClusterSlot, error) {
				return []redis.ClusterSlot{
					{Start: 0, End: 8000, Nodes: []redis.ClusterNode{{Addr: first}}},
					{Start: 8001, End: 16383, Nodes: []redis.ClusterNode{{Addr: second}}},
				}, nil
			},
			NewClient: func(o *redis.Options) *redis.Client {
				c := redis.NewClient(o)
				c.AddHook(clusterHook{addr: o.Addr, away: &away, asked: &asked})
				return c
			},
		})
		defer client.Close()
		var ok, failed atomic.Int64
		q := New(Options{Redis: client, OnLease: func(err error) {
			if err == nil {
				ok.Add(1)
			} else {
				failed.Add(1)
			}
		}})
		rates := leaderboard.Rates{Requests: 100}
		use := func(key string) {
			for range 200 {
				q.Key(key, rates, leaderboard.Charge{leaderboard.QuotaKindRequests: 1})
				time.Sleep(10 * time.Millisecond)
			}
			synctest.Wait()
		}
		use("2")
		use("1")
		if ok.Load() == 0 || failed.Load() != 0 {
			t.Fatalf("%d leases, %d failed", ok.Load(), failed.Load())
		}
		away.Store(&first)
		use("2")
		if n := asked.Load(); n == 0 || n > 4 {
			t.Errorf("the server that is away was asked %d times in two seconds", n)
		}
		before, lost := ok.Load(), failed.Load()
		use("1")
		if ok.Load() < before+10 || failed.Load() != lost {
			t.Errorf("%d leases of the other server, %d failed", ok.Load()-before, failed.Load()-lost)
		}
		q.Close()
	})
}
