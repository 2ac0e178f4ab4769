package quotas

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
)

// TestOneServerOfACluster: when one server of a cluster does not answer, quotas on another server are leased as before; the
// first is tried once in awayFor. The bucket of key "2" for requests is in slot 2830, of key "1" in slot 15041.
func TestOneServerOfACluster(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var away atomic.Pointer[string]
		var asked atomic.Int64
		nobody, first, second := "", "first:1", "second:1"
		away.Store(&nobody)
		client := cachetest.StagedCluster(func(context.Context) ([]redis.ClusterSlot, error) {
			return cachetest.Slots(map[int]string{0: first, 8000: second}), nil
		}, func(_ context.Context, server string, cmd redis.Cmder) error {
			if *away.Load() == server {
				asked.Add(1)
				return errors.New("it does not answer")
			}
			cmd.(*redis.Cmd).SetVal([]any{"5", "50"})
			return nil
		})
		defer client.Close()
		var ok, failed atomic.Int64
		q := New(Options{Redis: client, Observer: observed(func(err error) {
			if err == nil {
				ok.Add(1)
			} else {
				failed.Add(1)
			}
		})})
		rates := Rates{Requests: 100}
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
		time.Sleep(cachetest.StagedReload) // the client looks for the last time
	})
}
