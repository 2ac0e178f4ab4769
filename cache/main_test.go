package cache

import (
	"cmp"
	"context"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// unhurried returns the options of a reader for tests that do not test the limits of waiting: a moment of slowness of
// the machine changes no answer. Options that are set stay.
func unhurried(o ReaderOptions) ReaderOptions {
	o.RedisDeadline = cmp.Or(o.RedisDeadline, cachetest.MaxWait)
	o.StaleWait = cmp.Or(o.StaleWait, cachetest.MaxWait)
	o.ReadWait = cmp.Or(o.ReadWait, cachetest.MaxWait)
	o.CallTimeout = cmp.Or(o.CallTimeout, cachetest.MaxWait)
	return o
}

// newClient makes a client of an empty Redis database of the test's own.
func newClient(t testing.TB) redis.UniversalClient {
	t.Helper()
	return openClient(t, cachetest.Unhurried(testenv.Redis(t)))
}

func openClient(t testing.TB, address string) redis.UniversalClient {
	t.Helper()
	client, err := topn.Open(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = topn.Close(client) })
	return client.(redis.UniversalClient)
}

// rig is one period with a copy.
type rig struct {
	client redis.UniversalClient
	world  *cachetest.World
	copies *topn.Copies
	ref    leaderboard.PeriodRef
}

func newRig(t testing.TB, rules leaderboard.Rules, opts topn.Options) *rig {
	t.Helper()
	client, w := newClient(t), cachetest.NewWorld(7, rules)
	return &rig{client, w, topn.New(client, w, opts), w.Ref}
}

func (b *rig) build(t testing.TB) leaderboard.CopyOutcome {
	t.Helper()
	return cachetest.Must(b.copies.Build(cachetest.Within(t), b.ref))(t)
}

// buildNow returns a Demand without a refresher.
func buildNow(copies *topn.Copies) func(leaderboard.PeriodRef) func(context.Context) error {
	return func(p leaderboard.PeriodRef) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := copies.Build(ctx, p)
			return err
		}
	}
}
