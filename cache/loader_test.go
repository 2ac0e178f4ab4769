package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
)

// book is a database that has a value for every member whose name does not begin with x.
type book struct {
	mu      sync.Mutex
	edition int
	failure error
	asked   [][]string
	during  func() // called while a query is under way
}

func (b *book) fetch(_ context.Context, members []string, _ map[string]string) (map[string]string, error) {
	b.mu.Lock()
	b.asked = append(b.asked, slices.Clone(members))
	out := map[string]string{}
	for _, m := range members {
		if m[0] != 'x' {
			out[m] = fmt.Sprint(m, b.edition)
		}
	}
	during, failure := b.during, b.failure
	b.mu.Unlock()
	if during != nil {
		during()
	}
	return out, failure
}

func (b *book) kept(o LoaderOptions) *Loader[string] {
	return NewLoader(b.fetch, func(s string) int { return len(s) }, o)
}

func (b *book) edit(change func(*book)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(b)
}

func wantOf(t *testing.T, k *Loader[string], members []string, want ...string) {
	t.Helper()
	got, err := k.Of(t.Context(), members)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("got %q, %v, want %q", got, err, want)
	}
}

// TestLoader: one query costs one look-up; then the value, or its absence, is cached until it is old or forgotten.
func TestLoader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		k := b.kept(LoaderOptions{})
		ask := []string{"a", "x", "b"}
		wantOf(t, k, ask, "a0", "", "b0")
		b.edit(func(b *book) { b.edition = 1 })
		wantOf(t, k, ask, "a0", "", "b0")
		if len(b.asked) != 1 || !slices.Equal(b.asked[0], ask) {
			t.Fatalf("the truth was asked %q", b.asked)
		}
		time.Sleep(time.Second)
		k.Forget("b")
		time.Sleep(time.Nanosecond) // a query at the very moment of a change may have come before it
		wantOf(t, k, ask, "a0", "", "b1")
		if len(b.asked) != 2 || !slices.Equal(b.asked[1], []string{"b"}) {
			t.Fatalf("the truth was asked %q", b.asked)
		}
		time.Sleep(29*time.Second + time.Millisecond)
		wantOf(t, k, ask, "a1", "", "b1")
		if len(b.asked) != 3 || !slices.Equal(b.asked[2], []string{"a", "x"}) {
			t.Fatalf("the truth was asked %q", b.asked)
		}
	})
}

// TestLoaderForgetDuringALookUp: the result of a look-up that began before a change is not kept.
func TestLoaderForgetDuringALookUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		k := b.kept(LoaderOptions{})
		b.during = func() {
			time.Sleep(time.Millisecond)
			b.edition++
			k.Forget("a")
			b.during = nil
		}
		wantOf(t, k, []string{"a"}, "a0")
		wantOf(t, k, []string{"a"}, "a1")
	})
}

// TestLoaderBurst: many callers that ask for the same at once cost two look-ups at a time.
func TestLoaderBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		b.during = func() { time.Sleep(time.Millisecond) }
		k := b.kept(LoaderOptions{})
		var asking sync.WaitGroup
		for range 100 {
			asking.Go(func() { wantOf(t, k, []string{"a", "b"}, "a0", "b0") })
		}
		asking.Wait()
		if len(b.asked) > 1+loadsAtOnce {
			t.Errorf("%d look-ups for one burst", len(b.asked))
		}
	})
}

// TestLoaderAway: while the database is away old values are returned, with the error, and it is not asked all the time.
func TestLoaderAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &book{}
		k := b.kept(LoaderOptions{TTL: time.Second})
		wantOf(t, k, []string{"a"}, "a0")
		time.Sleep(2 * time.Second)
		b.edit(func(b *book) { b.edition, b.failure = 1, leaderboard.ErrUnavailable })
		for range 10 {
			got, err := k.Of(t.Context(), []string{"b", "a"})
			if !errors.Is(err, leaderboard.ErrUnavailable) || !slices.Equal(got, []string{"", "a0"}) {
				t.Fatalf("got %q, %v", got, err)
			}
		}
		if n := len(b.asked); n != 1+topn.BreakerFailures {
			t.Errorf("a truth that is away was asked %d times", n-1)
		}
		b.edit(func(b *book) { b.failure = nil })
		time.Sleep(2 * topn.BreakerPause)
		wantOf(t, k, []string{"b", "a"}, "b1", "a1")
	})
}
