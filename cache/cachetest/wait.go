package cachetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// MaxWait is longer than anything takes on a machine that works, however busy it is.
const MaxWait = time.Minute

// Unhurried returns an address of Redis whose client waits for as long as MaxWait.
func Unhurried(address string) string {
	join := "?"
	if strings.Contains(address, "?") {
		join = "&"
	}
	limit := MaxWait.String()
	return address + join + "dial_timeout=" + limit + "&read_timeout=" + limit + "&write_timeout=" + limit + "&pool_timeout=" + limit
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
