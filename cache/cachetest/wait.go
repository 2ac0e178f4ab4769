package cachetest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/leaderboard"
)

// MaxWait is longer than anything takes on a machine that works, however busy it is.
const MaxWait = time.Minute

// Unhurried makes a client of Redis wait for as long as MaxWait.
func Unhurried(o *redis.UniversalOptions) {
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout, o.PoolTimeout = MaxWait, MaxWait, MaxWait, MaxWait
}

// Within returns a context with a deadline that no healthy test reaches.
func Within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), MaxWait)
	t.Cleanup(cancel)
	return ctx
}

// Eventually polls until ok says yes.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.After(MaxWait)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-deadline:
			t.Fatalf("not within %s: %s", MaxWait, what)
		case <-tick.C:
		}
	}
}

// Must ends the test on an error.
func Must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// Rules returns the default rules with a change.
func Rules(change func(*leaderboard.Rules)) leaderboard.Rules {
	r := leaderboard.Rules{}.WithDefaults()
	change(&r)
	return r
}
