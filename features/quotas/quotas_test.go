package quotas

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"leaderboard/leaderboard"
)

// clock is a time that stands still until a test moves it.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func requests(n int) leaderboard.Charge {
	return leaderboard.Charge{leaderboard.QuotaKindRequests: n}
}

// admitted asks until it is refused, and returns how often it was not.
func admitted(ask func() leaderboard.Allowance) (n int) {
	for !ask().Refused {
		n++
	}
	return n
}

// TestWithoutRedis: each of several processes lets through its part of a quota, so that all of them let through the
// quota (promise E4).
func TestWithoutRedis(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(servers), func(t *testing.T) {
			t.Parallel()
			c, quota, total := newClock(), Rates{Requests: 100}, 0
			var all []*Quotas
			for range servers {
				all = append(all, New(Options{Servers: servers, Now: c.now}))
			}
			const seconds = 20
			for range seconds * 10 {
				for _, q := range all {
					total += admitted(func() leaderboard.Allowance { return q.Key("k", quota, requests(1)) })
				}
				c.pass(100 * time.Millisecond)
			}
			want := int(100 * (leaderboard.QuotaWindow.Seconds() + seconds - 0.1))
			if total > want || total < want-servers {
				t.Errorf("%d were let through, want %d", total, want)
			}
		})
	}
}

// TestChargesAreWhole: a charge on several quotas is made on all of them or on none, and the wait is for the quota that
// lacks most.
func TestChargesAreWhole(t *testing.T) {
	t.Parallel()
	c := newClock()
	q, quota := New(Options{Now: c.now}), Rates{Requests: 10, Rows: 2}
	ask := func(rows int) leaderboard.Allowance {
		return q.Key("k", quota, leaderboard.Charge{leaderboard.QuotaKindRequests: 1, leaderboard.QuotaKindRows: rows})
	}
	if a := ask(9); a.Refused || a.Limits[leaderboard.QuotaKindRequests] != (leaderboard.QuotaLimit{Most: 50, Left: 49}) || a.Limits[leaderboard.QuotaKindRows] != (leaderboard.QuotaLimit{Most: 10, Left: 1}) {
		t.Errorf("of what fits: %+v", a)
	}
	a := ask(5)
	if !a.Refused || a.Kind != leaderboard.QuotaKindRows || a.Wait != 2*time.Second || a.Limits[leaderboard.QuotaKindRequests].Left != 49 {
		t.Errorf("of what does not fit: %+v", a)
	}
	c.pass(a.Wait)
	if a := ask(5); a.Refused {
		t.Errorf("after the wait: %+v", a)
	}
}

// TestLargerThanTheBucket: a request for more than fits goes through a full bucket, and all of it counts.
func TestLargerThanTheBucket(t *testing.T) {
	t.Parallel()
	c := newClock()
	q, quota := New(Options{Now: c.now}), Rates{Requests: 1}
	if a := q.Key("k", quota, requests(20)); a.Refused {
		t.Errorf("of a full bucket: %+v", a)
	}
	a := q.Key("k", quota, requests(1))
	if !a.Refused || a.Wait != 16*time.Second || a.Limits[leaderboard.QuotaKindRequests].Left != 0 {
		t.Errorf("of one in debt: %+v", a)
	}
	c.pass(a.Wait - time.Millisecond)
	if !q.Key("k", quota, requests(1)).Refused {
		t.Error("the debt was not paid to its end")
	}
}

// TestNoQuota: without a quota no caller is counted.
func TestNoQuota(t *testing.T) {
	t.Parallel()
	q := New(Options{})
	if a := q.Key("k", Rates{}, requests(1_000_000)); a != (leaderboard.Allowance{}) {
		t.Errorf("%+v", a)
	}
	if a := q.Key("k", Rates{Rows: 1}, requests(1_000_000)); a.Refused || a.Limits[leaderboard.QuotaKindRequests].Most != 0 {
		t.Errorf("%+v", a)
	}
}

// TestAnotherQuota: a quota that changes holds from then on.
func TestAnotherQuota(t *testing.T) {
	t.Parallel()
	c := newClock()
	q := New(Options{Now: c.now})
	ask := func(quota Rates) func() leaderboard.Allowance {
		return func() leaderboard.Allowance { return q.Key("k", quota, requests(1)) }
	}
	if n := admitted(ask(Rates{Requests: 2})); n != 10 {
		t.Errorf("%d, want 10", n)
	}
	c.pass(time.Second)
	if n := admitted(ask(Rates{Requests: 20})); n != 20 {
		t.Errorf("%d, want 20", n)
	}
	c.pass(time.Hour)
	if n := admitted(ask(Rates{Requests: 1})); n != 5 {
		t.Errorf("%d, want 5", n)
	}
}

// TestCallersAreBounded: callers that were not seen for long are forgotten, but not callers that come again and again.
func TestCallersAreBounded(t *testing.T) {
	t.Parallel()
	c := newClock()
	q, quota := New(Options{Now: c.now, Callers: 100}), Rates{Requests: 1}
	greedy := netip.MustParseAddr("2001:db8::")
	for i := range 10_000 {
		if i%50 == 0 && q.Address(greedy, quota, requests(1)).Refused != (i >= 250) {
			t.Fatalf("at %d the caller that comes again and again is forgotten", i)
		}
		q.Address(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), quota, requests(1))
	}
	if n, _ := q.addresses.Size(); n > 200 {
		t.Errorf("%d callers are remembered", n)
	}
}

// TestAttempts: an address may fail a number of times, and then once a second.
func TestAttempts(t *testing.T) {
	t.Parallel()
	c := newClock()
	q, from := New(Options{Now: c.now}), netip.MustParseAddr("192.0.2.1")
	ask := func() leaderboard.Allowance { return q.Attempt(from) }
	most := int(attemptRate * leaderboard.AttemptWindow.Seconds())
	if n := admitted(ask); n != most {
		t.Errorf("%d", n)
	}
	if a := ask(); !a.Refused || a.Wait <= 0 || a.Wait > time.Second {
		t.Errorf("after all: %+v", a)
	}
	c.pass(3 * time.Second)
	if n := admitted(ask); n != 3*attemptRate {
		t.Errorf("%d", n)
	}
}

// TestChargeAllocates: a charge of a known caller allocates nothing.
func TestChargeAllocates(t *testing.T) {
	q, quota, from := New(Options{}), Rates{Requests: 1e9, Rows: 1e9}, netip.MustParseAddr("192.0.2.1")
	if n := testing.AllocsPerRun(1000, func() {
		q.Key("k", quota, requests(1))
		q.Address(from, quota, requests(1))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCharge(b *testing.B) {
	q, quota := New(Options{}), Rates{Requests: 1e9, Rows: 1e9, Heavy: 1e9}
	b.ReportAllocs()
	for b.Loop() {
		q.Key("k", quota, requests(1))
	}
}
