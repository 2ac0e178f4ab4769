package quotas

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

func newClient(t testing.TB, change ...func(*redis.Options)) redis.UniversalClient {
	o, err := redis.ParseURL(testenv.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	o.ContextTimeoutEnabled, o.MaxRetries = true, 1
	for _, c := range change {
		c(o)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// server is one of several processes that share quotas.
type server struct {
	*Quotas
	leases chan error
}

func newServer(t testing.TB, client redis.UniversalClient, change ...func(*Options)) *server {
	s := &server{leases: make(chan error, 10_000)}
	o := Options{Redis: client, Prefix: t.Name() + ":", Observer: observed(func(err error) {
		select {
		case s.leases <- err:
		default:
		}
	})}
	for _, c := range change {
		c(&o)
	}
	s.Quotas = New(o)
	t.Cleanup(s.Close)
	return s
}

// leased waits for the end of a lease that was asked for.
func (s *server) leased(t testing.TB) error {
	t.Helper()
	select {
	case err := <-s.leases:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("no lease")
		return nil
	}
}

// idle waits until no lease of an account is under way.
func idle(t testing.TB, a *account) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		a.mu.Lock()
		busy := false
		for i := range a.buckets {
			busy = busy || a.buckets[i].leasing != nil
		}
		a.mu.Unlock()
		if !busy {
			return
		}
		if time.Now().After(end) {
			t.Fatal("a lease does not end")
		}
		time.Sleep(time.Millisecond)
	}
}

// TestTwoServersOneQuota: two servers with requests for many times a quota let through together as much as it allows: no
// more than a twentieth above it, and not much less (promise E4). While leases take long because the processor is busy,
// servers lend themselves more, and pay later; so the best of three rounds counts.
func TestTwoServersOneQuota(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for _, rate := range []float64{20, 400, 20_000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			t.Parallel()
			const rounds = 3
			for round := range rounds {
				got, took := noisyKey(t, client, fmt.Sprint("k", round), rate)
				allowed := rate * (leaderboard.QuotaWindow + took).Seconds()
				if got <= 1.05*allowed+lendLeast && got >= 0.9*allowed-2 {
					return
				}
				t.Logf("%v were let through in %s, want %.0f", got, took, allowed)
			}
			t.Errorf("in none of %d rounds was it what the quota allows", rounds)
		})
	}
}

// noisyKey asks two servers for as much of a quota as they let through, and returns how much that was.
func noisyKey(t *testing.T, client redis.UniversalClient, key string, rate float64) (n float64, took time.Duration) {
	t.Helper()
	servers := []*server{newServer(t, client), newServer(t, client)}
	rates := Rates{Requests: rate}
	var through atomic.Int64
	var all sync.WaitGroup
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	for _, s := range servers {
		for range 2 {
			all.Go(func() {
				for ctx.Err() == nil {
					if !s.Key(key, rates, requests(1)).Refused {
						through.Add(1)
					} else {
						time.Sleep(100 * time.Microsecond) // others are to get some of the processor
					}
				}
			})
		}
	}
	all.Wait()
	return float64(through.Load()), time.Since(begin)
}

// TestOneServerGetsAll: a caller that comes to one server of several has the whole quota there.
func TestOneServerGetsAll(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	s := newServer(t, client, func(o *Options) { o.Servers = 5 })
	rates := Rates{Requests: 10}
	s.Key("k", rates, requests(1))
	if err := s.leased(t); err != nil {
		t.Fatal(err)
	}
	idle(t, accountOf(s.keys, "k", nil))
	a := s.Key("k", rates, requests(20))
	if idle(t, accountOf(s.keys, "k", nil)); a.Refused {
		t.Errorf("%+v", a)
	}
	if a = s.Key("k", rates, requests(10)); a.Refused {
		t.Errorf("%+v", a)
	}
}

// TestDebtIsShared: tokens that one server used before Redis knew of it are missing at the others (promise E4).
func TestDebtIsShared(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	one, other := newServer(t, client), newServer(t, client)
	rates := Rates{Requests: 0.01} // which does not come back during the test
	if a := one.Key("k", rates, requests(30)); a.Refused {
		t.Fatalf("of a full bucket: %+v", a)
	}
	if err := one.leased(t); err != nil {
		t.Fatal(err)
	}
	other.Key("k", rates, requests(1))
	if err := other.leased(t); err != nil {
		t.Fatal(err)
	}
	idle(t, accountOf(other.keys, "k", nil))
	if a := other.Key("k", rates, requests(1)); !a.Refused || a.Wait < 2900*time.Second {
		t.Errorf("at the other: %+v", a)
	}
}

// TestLeaseIsAbsolute: the same lease twice, as the client sends it when a reply was lost, counts once (promise E4).
func TestLeaseIsAbsolute(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	run := func(process string, number int) [2]string {
		got, err := redis.NewScript(leaseLua).Run(t.Context(), client, []string{"{b}", "{b}:" + process}, "0.000001", "100", "30", "5", number, 10_000, false).StringSlice()
		if err != nil {
			t.Fatal(err)
		}
		return [2]string{got[0], got[1][:4]}
	}
	for _, c := range []struct {
		process string
		number  int
		want    [2]string
	}{
		{"a", 1, [2]string{"5.000000", "65.0"}},
		{"a", 1, [2]string{"5.000000", "65.0"}}, // a repetition
		{"b", 1, [2]string{"5.000000", "30.0"}},
		{"a", 1, [2]string{"5.000000", "30.0"}}, // a late lease
		{"a", 2, [2]string{"0.000000", "0.00"}}, // used tokens are charged in any case
		{"a", 3, [2]string{"0.000000", "-30."}},
	} {
		got := run(c.process, c.number)
		if c.number == 2 {
			c.want[1] = got[1] // nought, plus or minus the tokens that came in meanwhile
		}
		if got != c.want {
			t.Errorf("lease %d of %s: %v, want %v", c.number, c.process, got, c.want)
		}
	}
	for _, key := range []string{"{b}", "{b}:a"} {
		if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 {
			t.Errorf("%s lives for %s", key, ttl)
		}
	}
}

// TestIdleCallersAreForgotten: a bucket leaves Redis when it would be full.
func TestIdleCallersAreForgotten(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	s := newServer(t, client)
	s.Address(netip.MustParseAddr("192.0.2.1"), Rates{Requests: 10}, requests(30))
	if err := s.leased(t); err != nil {
		t.Fatal(err)
	}
	keys, err := client.Keys(t.Context(), t.Name()+":*").Result()
	if err != nil || len(keys) != 2 {
		t.Fatalf("%v %v", keys, err)
	}
	for _, key := range keys {
		if ttl := client.PTTL(t.Context(), key).Val(); ttl <= 0 || ttl > answerKept {
			t.Errorf("%s lives for %s", key, ttl)
		}
	}
}

// TestQuietCallersAskNothing: a caller that does little causes no lease.
func TestQuietCallersAskNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t, newClient(t))
	for i := range 1000 {
		if a := s.Address(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), Rates{Requests: 1000}, requests(20)); a.Refused {
			t.Fatalf("%+v", a)
		}
	}
	if n := s.leaser.number.Load(); n != 0 {
		t.Errorf("%d leases", n)
	}
}

// fault is a Redis that can be made to refuse or to hang.
type fault struct {
	refuse, hang atomic.Bool
}

func (f *fault) options(o *redis.Options) {
	dial := net.Dialer{}
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if f.refuse.Load() {
			return nil, errors.New("refused")
		}
		c, err := dial.DialContext(ctx, network, addr)
		return &faultyConn{c, f}, err
	}
	o.DialerRetries, o.ReadTimeout, o.DialTimeout, o.PoolTimeout = 1, 250*time.Millisecond, 250*time.Millisecond, 100*time.Millisecond
}

type faultyConn struct {
	net.Conn
	fault *fault
}

// Write fails or drops its data during a fault.
func (c *faultyConn) Write(b []byte) (int, error) {
	switch {
	case c.fault.refuse.Load():
		return 0, net.ErrClosed
	case c.fault.hang.Load():
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// TestRedisIsLost: while Redis refuses or hangs, each of the servers lets through its part, no request waits, and earlier
// leases no longer count; afterwards the quota is shared again (promise E4).
func TestRedisIsLost(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(*fault) *atomic.Bool{
		"refuses": func(f *fault) *atomic.Bool { return &f.refuse },
		"hangs":   func(f *fault) *atomic.Bool { return &f.hang },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, c := &fault{}, newClock()
			client := newClient(t, f.options)
			two := func(o *Options) { o.Servers, o.Now = 2, c.now }
			servers := []*server{newServer(t, client, two), newServer(t, client, two)}
			rates := Rates{Requests: 100}
			ask := func(s *server) leaderboard.Allowance { return s.Key("k", rates, requests(1)) }
			for _, s := range servers { // both know the bucket
				for range 3 {
					ask(s)
				}
				if err := s.leased(t); err != nil {
					t.Fatal(err)
				}
				idle(t, accountOf(s.keys, "k", nil))
			}
			of(f).Store(true)
			lost := 0
			for _, s := range servers { // nothing is left in Redis
				for s.leaser.first.epoch.Load() == 0 {
					if lost++; lost > 10_000 {
						t.Fatal("it is not noticed")
					}
					c.pass(time.Millisecond)
					ask(s)
					idle(t, accountOf(s.keys, "k", nil))
				}
			}
			const seconds = 10
			total := 0
			for _, s := range servers {
				total += admitted(func() leaderboard.Allowance { return ask(s) })
				idle(t, accountOf(s.keys, "k", nil))
			}
			for range seconds * 20 {
				c.pass(50 * time.Millisecond)
				for _, s := range servers {
					total += admitted(func() leaderboard.Allowance { return ask(s) })
					idle(t, accountOf(s.keys, "k", nil))
				}
			}
			if most := int(100 * (seconds + leaderboard.QuotaWindow.Seconds())); total > most || total < 100*seconds {
				t.Errorf("%d were let through without Redis, want %d to %d", total, 100*seconds, most)
			}
			of(f).Store(false)
			for _, s := range servers {
				for s.account(t, "k").buckets[0].seen.IsZero() {
					c.pass(awayFor)
					ask(s)
					idle(t, accountOf(s.keys, "k", nil))
				}
			}
			c.pass(time.Second) // tokens used meanwhile are paid for
			for _, s := range servers {
				if a := ask(s); a.Refused {
					t.Errorf("Redis is back, and a caller that kept to the quota is refused: %+v", a)
				}
			}
		})
	}
}

// TestLargeAfterSmall: a large charge of a nearly idle caller goes through, at once or as soon as the shared
// bucket is known, also after a small one.
func TestLargeAfterSmall(t *testing.T) {
	t.Parallel()
	s := newServer(t, newClient(t))
	ask := func(n int) leaderboard.Allowance {
		return s.Key("k", Rates{Rows: 1000}, leaderboard.Charge{leaderboard.QuotaKindRows: n})
	}
	if a := ask(1); a.Refused {
		t.Fatalf("the first: %+v", a)
	}
	if a := ask(1000); a.Refused {
		if err := s.leased(t); err != nil {
			t.Fatal(err)
		}
		idle(t, s.account(t, "k"))
		if a := ask(1000); a.Refused {
			t.Errorf("once the bucket is known: %+v", a)
		}
	}
}

// TestLargeChargesAreShared: a large charge at one server is missing at the others at once, however large it is: at servers
// that do not know the bucket yet, and at servers that have seen it full (promise E4).
func TestLargeChargesAreShared(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	for name, known := range map[string]bool{"of an unknown bucket": false, "of one that was full": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := []*server{newServer(t, client), newServer(t, client), newServer(t, client)}
			for round := range 5 {
				key := fmt.Sprint("k", round)
				ask := func(s *server, n int) leaderboard.Allowance {
					return s.Key(key, Rates{Rows: 10}, leaderboard.Charge{leaderboard.QuotaKindRows: n})
				}
				if known {
					for _, s := range servers { // each pays with the block that it holds from then on
						if a := ask(s, 1); a.Refused {
							t.Fatalf("%+v", a)
						}
						if err := s.leased(t); err != nil {
							t.Fatal(err)
						}
						idle(t, s.account(t, key))
					}
				}
				begin := time.Now()
				through := make(chan bool, len(servers))
				var all sync.WaitGroup
				for _, s := range servers {
					all.Go(func() { through <- !ask(s, 40).Refused })
				}
				all.Wait()
				close(through)
				n := 0
				for passed := range through {
					if passed {
						n++
					}
				}
				if n != 1 && time.Since(begin) < 2*time.Second { // then there is enough for another one
					t.Errorf("%d of %d requests for four fifths of what there is went through", n, len(servers))
				}
			}
		})
	}
}

// TestLargeChargesWait: many large charges of one caller at once are answered soon, and as many pass as the quota has.
func TestLargeChargesWait(t *testing.T) {
	t.Parallel()
	s := newServer(t, newClient(t))
	var through atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if a := s.Key("k", Rates{Rows: 0.2 * 100}, leaderboard.Charge{leaderboard.QuotaKindRows: 20}); !a.Refused {
				through.Add(1)
			} else if a.Kind != leaderboard.QuotaKindRows || a.Wait <= 0 {
				t.Errorf("%+v", a)
			}
		})
	}
	all.Wait()
	if n := through.Load(); n < 1 || n > 5 {
		t.Errorf("%d large charges went through, want 5 at most", n)
	}
}

// account returns the account of a key.
func (s *server) account(t testing.TB, id string) *account {
	t.Helper()
	return accountOf(s.keys, id, nil)
}
