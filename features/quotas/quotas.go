package quotas

import (
	"cmp"
	"crypto/rand"
	"net/netip"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"leaderboard/internal/bounded"
	"leaderboard/leaderboard"
)

// Options adjust Quotas.
type Options struct {
	Redis    redis.Cmdable    // nil: no Redis
	Prefix   string           // of every key, "lb:" when empty
	Servers  int              // that share the quotas when Redis does not answer, 1 when 0
	Process  string           // name of this process in Redis, random when empty
	Callers  int              // remembered at least, of each sort, 10,000 when 0
	Observer Observer         // hears of leases; nil: nobody does
	Now      func() time.Time // time.Now when nil
}

// attemptRate is how many requests with a bad key one address may make in a second. They are saved up for
// leaderboard.AttemptWindow.
const attemptRate = 1

// Quotas know what callers have left. All methods may be called concurrently. They do not block, except for a charge
// that is too large to be lent: that waits for Redis, a quarter of a second at most.
type Quotas struct {
	opts   Options
	leaser *leaser

	keys      *bounded.Map[string, *account]
	players   *bounded.Map[string, *account]
	addresses *bounded.Map[netip.Addr, *account]
	attempts  *bounded.Map[netip.Addr, *account]
}

// account is the quotas of one caller.
type account struct {
	name string // in Redis

	mu      sync.Mutex
	buckets [leaderboard.QuotaKinds]bucket
}

// New returns Quotas. It does no I/O.
func New(o Options) *Quotas {
	o.Prefix, o.Servers, o.Callers = cmp.Or(o.Prefix, "lb:"), max(1, o.Servers), cmp.Or(o.Callers, 10_000)
	o.Process = cmp.Or(o.Process, rand.Text())
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	callers := 2 * o.Callers // some come in greater numbers than others where they are kept
	return &Quotas{
		opts: o, leaser: newLeaser(&o),
		keys: bounded.New[string, *account](callers, 0), players: bounded.New[string, *account](callers, 0), addresses: bounded.New[netip.Addr, *account](callers, 0), attempts: bounded.New[netip.Addr, *account](callers, 0),
	}
}

// Key charges the holder of a key, by its id: all of the charge, or nothing.
func (q *Quotas) Key(id string, rates Rates, c leaderboard.Charge) leaderboard.Allowance {
	if rates == (Rates{}) {
		return leaderboard.Allowance{}
	}
	return q.charge(accountOf(q.keys, id, keyAccount), rates, leaderboard.QuotaWindow.Seconds(), &c)
}

// Player charges a player, by a unique name: all of the charge, or nothing.
func (q *Quotas) Player(name string, rates Rates, c leaderboard.Charge) leaderboard.Allowance {
	if rates == (Rates{}) {
		return leaderboard.Allowance{}
	}
	return q.charge(accountOf(q.players, name, playerAccount), rates, leaderboard.QuotaWindow.Seconds(), &c)
}

// Address charges a caller without a key, by its address: all of the charge, or nothing.
func (q *Quotas) Address(from netip.Addr, rates Rates, c leaderboard.Charge) leaderboard.Allowance {
	if rates == (Rates{}) {
		return leaderboard.Allowance{}
	}
	return q.charge(accountOf(q.addresses, from, addressAccount), rates, leaderboard.QuotaWindow.Seconds(), &c)
}

// Attempt charges an address for a request with a bad key.
func (q *Quotas) Attempt(from netip.Addr) leaderboard.Allowance {
	a, charge := accountOf(q.attempts, from, attemptsAccount), leaderboard.Charge{leaderboard.QuotaKindRequests: 1}
	return q.charge(a, Rates{Requests: attemptRate}, leaderboard.AttemptWindow.Seconds(), &charge)
}

// Attempts returns the result that Attempt would return, and charges nothing.
func (q *Quotas) Attempts(from netip.Addr) (out leaderboard.Allowance) {
	a, ok := q.attempts.Get(from)
	if !ok {
		return out
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	charge, asked := leaderboard.Charge{leaderboard.QuotaKindRequests: 1}, [leaderboard.QuotaKinds]*lease{}
	out, _ = q.weigh(a, Rates{Requests: attemptRate}, leaderboard.AttemptWindow.Seconds(), &charge, &asked, q.opts.Now())
	return out
}

// accountOf returns the account of a caller, or a new one.
func accountOf[K comparable](known *bounded.Map[K, *account], caller K, fresh func(K) *account) *account {
	if a, ok := known.Get(caller); ok {
		return a
	}
	return known.Update(caller, 0, func(a *account, ok bool) *account {
		if ok {
			return a
		}
		return fresh(caller)
	})
}

func keyAccount(id string) *account         { return &account{name: "key:" + id} }
func playerAccount(name string) *account    { return &account{name: "player:" + name} }
func addressAccount(a netip.Addr) *account  { return &account{name: "address:" + a.String()} }
func attemptsAccount(a netip.Addr) *account { return &account{name: "attempts:" + a.String()} }

// charge takes a charge out of the buckets of an account, unless one has too little. saved is the number of seconds for
// which unused tokens are saved.
func (q *Quotas) charge(a *account, rates Rates, saved float64, c *leaderboard.Charge) leaderboard.Allowance {
	var asked [leaderboard.QuotaKinds]*lease // of large charges
	began := q.opts.Now()
	for {
		now := q.opts.Now()
		a.mu.Lock()
		out, large := q.weigh(a, rates, saved, c, &asked, now)
		if large != none && now.Sub(began) >= leaseTimeout { // other requests of this caller used all that time
			out.Refused, out.Kind, out.Wait = true, large, leaseTimeout
		}
		if large == none || out.Refused {
			q.resolve(a, c, &out, now)
			a.mu.Unlock()
			return out
		}
		b := &a.buckets[large]
		under := b.leasing
		if under == nil {
			under = q.begin(a, b, large, now, max(0, -b.held), float64(c[large])-max(0, b.held), true)
			asked[large] = under
		}
		a.mu.Unlock()
		<-under.done
	}
}

// none stands for no kind.
const none = leaderboard.QuotaKinds

// weigh decides a charge by the local state, and returns the kinds for which Redis must be asked first; asked has the
// leases that were requested. The account must be locked.
func (q *Quotas) weigh(
	a *account, rates Rates, saved float64, c *leaderboard.Charge, asked *[leaderboard.QuotaKinds]*lease, now time.Time,
) (out leaderboard.Allowance, large leaderboard.QuotaKind) {
	large = none
	for i, rate := range rates.byKind() {
		kind, b, n := leaderboard.QuotaKind(i), &a.buckets[i], float64(c[i])
		b.set(rate, max(1, rate*saved), q.opts.Servers, now)
		s := cmp.Or(b.node, q.leaser.first)
		b.alone = q.leaser.isAway(s)
		if epoch := s.epoch.Load(); b.epoch != epoch {
			b.forget(epoch)
		}
		var wait time.Duration
		if unanswered := asked[kind] != nil && !asked[kind].answered; b.large(n) && !unanswered {
			var ask bool
			if wait, ask = b.lacksWhole(n, now); ask && asked[kind] == nil {
				large, wait = kind, 0
			}
		} else {
			wait = b.lacks(n, now)
		}
		if wait > out.Wait {
			out.Refused, out.Kind, out.Wait = true, kind, wait
		}
	}
	return out, large
}

// resolve takes an admitted charge, and returns the rest. The account must be locked.
func (q *Quotas) resolve(a *account, c *leaderboard.Charge, out *leaderboard.Allowance, now time.Time) {
	for kind := range a.buckets {
		b := &a.buckets[kind]
		if b.rate == 0 {
			continue
		}
		if n := c[kind]; n > 0 {
			if !out.Refused {
				b.spend(float64(n))
			}
			if b.due(now, out.Refused) {
				used, ahead := b.wants()
				q.begin(a, b, leaderboard.QuotaKind(kind), now, used, ahead, false)
			}
		}
		b.refill(now)
		left, _ := b.available(now)
		out.Limits[kind] = leaderboard.QuotaLimit{Most: int64(b.burst), Left: int64(min(max(0, left), b.burst))}
	}
}

// begin begins a lease, see leaser.lease. When Redis may not be asked now the lease has ended without an answer. The
// account must be locked.
func (q *Quotas) begin(a *account, b *bucket, kind leaderboard.QuotaKind, now time.Time, used, ahead float64, whole bool) *lease {
	if b.node == nil && q.leaser.known.Load() {
		b.node = q.leaser.nodeOf(a.name + ":" + kind.String())
	}
	s := cmp.Or(b.node, q.leaser.first)
	this := &lease{done: make(chan struct{})}
	if !q.leaser.enter(s, now) {
		close(this.done)
		return this
	}
	name := a.name + ":" + kind.String()
	b.leasing = this
	rate, burst, epoch := b.rate, b.burst, b.epoch
	go func() {
		defer q.leaser.leave()
		granted, left, err := q.leaser.lease(s, name, rate, burst, used, ahead, whole)
		next := q.leaser.nodeOf(name)
		a.mu.Lock()
		defer a.mu.Unlock()
		b.leasing, b.node = nil, next
		if this.answered = err == nil && b.epoch == epoch; this.answered {
			b.leased(used, ahead, granted, left, q.opts.Now())
		}
		close(this.done)
	}()
	return this
}

// Close lets no other lease begin and waits for those under way, at most a quarter of a second. Later charges count in this
// process alone.
func (q *Quotas) Close() {
	for range leasesAtOnce {
		q.leaser.places <- struct{}{}
	}
}
