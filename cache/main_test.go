package cache

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard"
	"leaderboard/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Main(m)) }

// patience is longer than anything takes on a machine that works, however busy it is.
const patience = time.Minute

// unhurried are the options of a reader where the limits of waiting are not what is tested: that the machine is slow for
// a moment changes no answer then. What is set stays.
func unhurried(o ReaderOptions) ReaderOptions {
	o.RedisDeadline = orDefault(o.RedisDeadline, patience)
	o.StaleWait = orDefault(o.StaleWait, patience)
	o.FallbackWait = orDefault(o.FallbackWait, patience)
	o.FlightTimeout = orDefault(o.FlightTimeout, patience)
	return o
}

// unhurriedRedis does the same for a client.
func unhurriedRedis(o *redis.UniversalOptions) {
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = patience, patience, patience, patience
}

// newClient is a client of an empty Redis database of the test's own.
func newClient(t testing.TB) redis.UniversalClient {
	t.Helper()
	return openClient(t, testenv.Redis(t), unhurriedRedis)
}

func openClient(t testing.TB, address string, options ...func(*redis.UniversalOptions)) redis.UniversalClient {
	t.Helper()
	client, err := OpenRedis(address, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// within is a context with a deadline that no healthy test reaches.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually polls until ok says yes.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not within %s: %s", patience, what)
		case <-tick.C:
		}
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func rulesWith(change func(*leaderboard.Rules)) leaderboard.Rules {
	r := leaderboard.Rules{}.WithDefaults()
	change(&r)
	return r
}
