package topn

import (
	"context"
	"testing"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

func TestLeaseIsExclusive(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	a, b := New(client, nil, Options{}), New(client, nil, Options{})
	const term = 6 * time.Second // a heartbeat may be late by two thirds of it
	start := time.Now()
	first, err := a.Lease(cachetest.Within(t), cachetest.Ref(7), term)
	if err != nil || first == nil {
		t.Fatalf("first lease: %v, %v", first, err)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for time.Since(start) < term+term/4 { // longer than the term: the heartbeat holds it
		if l, err := b.Lease(cachetest.Within(t), cachetest.Ref(7), time.Second); l != nil || err != nil {
			t.Fatalf("second lease while the first is held: %v, %v", l, err)
		}
		<-tick.C
	}
	other, err := b.Lease(cachetest.Within(t), cachetest.Ref(8), time.Second)
	if err != nil || other == nil {
		t.Fatalf("lease of another period: %v, %v", other, err)
	}
	if err := other.Release(cachetest.Within(t)); err != nil {
		t.Error(err)
	}
	if err := first.Release(cachetest.Within(t)); err != nil {
		t.Error(err)
	}
	select {
	case <-first.Lost():
		t.Error("a released lease counts as lost")
	default:
	}
	second, err := b.Lease(cachetest.Within(t), cachetest.Ref(7), time.Minute)
	if err != nil || second == nil {
		t.Fatalf("lease after the release: %v, %v", second, err)
	}
	if err := first.Release(cachetest.Within(t)); err != nil { // again, though it no longer has it
		t.Error(err)
	}
	if l, _ := a.Lease(cachetest.Within(t), cachetest.Ref(7), time.Second); l != nil {
		t.Error("a late release took the lease away from its holder")
	}
	if err := second.Release(cachetest.Within(t)); err != nil {
		t.Error(err)
	}
}

// TestReleaseComparesToken: a release by someone whose lease has gone to another in the meantime.
func TestReleaseComparesToken(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	c := New(client, nil, Options{})
	l, err := c.Lease(cachetest.Within(t), cachetest.Ref(7), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Set(cachetest.Within(t), "lb:{7}:5eed:lease", "another", time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if err := l.Release(cachetest.Within(t)); err != nil {
		t.Fatal(err)
	}
	if got := client.Get(cachetest.Within(t), "lb:{7}:5eed:lease").Val(); got != "another" {
		t.Errorf("after the release the lease is %q", got)
	}
}

func TestLeaseIsLost(t *testing.T) {
	t.Parallel()
	lost := func(t *testing.T, l leaderboard.Lease, limit time.Duration) {
		t.Helper()
		select {
		case <-l.Lost():
		case <-time.After(limit):
			t.Errorf("not counted as lost within %s", limit)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_ = l.Release(ctx)
	}
	t.Run("flushed", func(t *testing.T) {
		t.Parallel()
		client := newClient(t)
		l, err := New(client, nil, Options{}).Lease(cachetest.Within(t), cachetest.Ref(7), 300*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if held, err := l.Held(cachetest.Within(t)); err != nil || !held {
			t.Errorf("held %t, %v", held, err)
		}
		if err := client.FlushDB(cachetest.Within(t)).Err(); err != nil {
			t.Fatal(err)
		}
		if held, err := l.Held(cachetest.Within(t)); err != nil || held {
			t.Errorf("after the flush: held %t, %v", held, err)
		}
		lost(t, l, cachetest.MaxWait)
	})
	t.Run("Redis hangs", func(t *testing.T) {
		t.Parallel()
		server := testenv.PrivateRedis(t)
		// The lease must not rely on the client's own short timeouts.
		client := openClient(t, cachetest.Unhurried(server.URL))
		const term = 9 * time.Second // counted as lost after two thirds of it
		l, err := New(client, nil, Options{}).Lease(cachetest.Within(t), cachetest.Ref(7), term)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Pause(); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = server.Resume() }()
		// Before the term is over in Redis: while that hangs, no other process can get the lease.
		lost(t, l, term-200*time.Millisecond)
	})
}

// TestLeaseOfAnotherEra: a lease that has longer to go than any term, because the clock of Redis went back after it was
// taken, does not keep others waiting.
func TestLeaseOfAnotherEra(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	c := New(client, nil, Options{})
	for ttl, free := range map[time.Duration]bool{time.Hour: true, 30 * time.Second: false} {
		if err := client.Set(t.Context(), c.base(cachetest.Ref(7))+"lease", "of the dead", ttl).Err(); err != nil {
			t.Fatal(err)
		}
		l, err := c.Lease(cachetest.Within(t), cachetest.Ref(7), 5*time.Second)
		if err != nil || (l != nil) != free {
			t.Fatalf("another's lease ends in %s: %v, %v; want it %t", ttl, l, err, free)
		}
		if l != nil {
			if err := l.Release(cachetest.Within(t)); err != nil {
				t.Error(err)
			}
		}
	}
}
