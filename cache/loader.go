package cache

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"leaderboard"
	"leaderboard/cache/topn"
)

// LoaderOptions adjust what is kept of members; the zero value is fit for production.
type LoaderOptions struct {
	TTL     time.Duration // how old an answer may be, so how long another process's change may go unseen; 30 s
	Entries int           // members kept, 65,536
	Bytes   int           // and their approximate size, 16 MiB
	Batch   int           // members asked for together with those of other queries, 1,000
	Timeout time.Duration // for one look-up, 1 s
	Now     func() time.Time
}

// Loader keeps what the database says of members (a profile, a list of friends), also that it says nothing, in the
// process. What is missing is looked up in one statement for all members of a query, together with whoever asks at
// the same time: so a burst of readers costs MySQL one look-up at a time. While MySQL does not answer, what is cached
// is served, however old it is. All methods may be called concurrently.
type Loader[V any] struct {
	fetch   Fetch[V]
	size    func(V) int
	ttl     time.Duration
	timeout time.Duration
	now     func() time.Time

	values   *lru[string, loaded[V]]
	lookUps  batcher[struct{}, lookUp[V]]
	database *topn.Breaker
}

// loaded is what is known of one member.
type loaded[V any] struct {
	value V
	at    time.Time // when the query was put to the database
	known bool      // false: it changed at that time, earlier answers are of no use
}

// lookUp is a query that waits for what was not cached.
type lookUp[V any] struct {
	members []string
	since   time.Time
	done    chan found[V] // buffered
}

// found answers a batch of queries; who has no value is there with the zero value.
type found[V any] struct {
	values map[string]V
	err    error
}

// loadMaxWait is how long a look-up waits behind another.
const loadMaxWait = 100 * time.Millisecond

// loadedBytes is the size of what is kept of a member besides its value, roughly.
const loadedBytes = 200

// Fetch asks the database for the values of members; who has none is left out. old are the cached values, whatever
// their age, for a database that can tell cheaply that one still holds.
type Fetch[V any] func(ctx context.Context, members []string, old map[string]V) (map[string]V, error)

// NewLoader keeps what fetch says. size is that of a value in bytes, roughly.
func NewLoader[V any](fetch Fetch[V], size func(V) int, o LoaderOptions) *Loader[V] {
	k := &Loader[V]{
		fetch: fetch, size: size, ttl: cmp.Or(o.TTL, 30*time.Second), timeout: cmp.Or(o.Timeout, time.Second), now: o.Now,
		values: newLRU[string, loaded[V]](cmp.Or(o.Entries, 65_536), cmp.Or(o.Bytes, 16<<20)),
	}
	k.lookUps.most, k.lookUps.maxWait, k.lookUps.run = cmp.Or(o.Batch, leaderboard.MaxLimit), loadMaxWait, k.answer
	k.lookUps.size = func(l lookUp[V]) int { return len(l.members) }
	k.lookUps.fail = func(l lookUp[V], err error) { l.done <- found[V]{err: err} }
	if k.now == nil {
		k.now = time.Now
	}
	k.database = topn.NewBreaker(k.now, func(bool) {})
	return k
}

// Of returns the values of members, in their order, the zero value for those that have none. When the database does not
// answer there is an error, and the values are the cached ones, however old.
func (k *Loader[V]) Of(ctx context.Context, members []string) ([]V, error) {
	out := make([]V, len(members))
	now := k.now()
	var missing []int
	for i, m := range members {
		v, ok := k.values.get(m)
		if out[i] = v.value; !ok || !v.known || now.Sub(v.at) > k.ttl {
			missing = append(missing, i)
		}
	}
	if missing == nil {
		return out, nil
	}
	l := lookUp[V]{since: now, done: make(chan found[V], 1)}
	for _, i := range missing {
		l.members = append(l.members, members[i])
	}
	k.lookUps.add(struct{}{}, l)
	select {
	case f := <-l.done:
		if f.err != nil {
			return out, f.err
		}
		for _, i := range missing {
			out[i] = f.values[members[i]]
		}
		return out, nil
	case <-ctx.Done():
		return out, fmt.Errorf("cache: look up members: %w", ctx.Err())
	}
}

// Forget makes the next query about a member go to the database, and answers that are under way not be kept.
func (k *Loader[V]) Forget(member string) {
	now := k.now()
	k.values.update(member, loadedBytes, func(loaded[V], bool) loaded[V] { return loaded[V]{at: now} })
}

// answer looks up what a batch asks for and nobody has looked up since.
func (k *Loader[V]) answer(_ struct{}, batch []lookUp[V]) {
	values := map[string]V{}
	var missing []string
	for _, l := range batch {
		for _, m := range l.members {
			if _, twice := values[m]; twice {
				continue
			}
			v, ok := k.values.get(m)
			if values[m] = v.value; !ok || !v.known || v.at.Before(l.since) {
				missing = append(missing, m)
			}
		}
	}
	f := found[V]{values: values}
	if missing != nil {
		f.err = k.ask(missing, values)
	}
	for _, l := range batch {
		l.done <- f
	}
}

// ask puts what the database says of the members into values, where the cached ones are, and caches it.
func (k *Loader[V]) ask(members []string, values map[string]V) error {
	if !k.database.Allow() {
		return fmt.Errorf("cache: look up members: %w", leaderboard.ErrUnavailable)
	}
	start := k.now()
	ctx, cancel := context.WithTimeout(context.Background(), k.timeout)
	defer cancel()
	found, err := k.fetch(ctx, members, values)
	k.database.Done(err == nil)
	if err != nil {
		return err
	}
	for _, m := range members {
		next := loaded[V]{value: found[m], at: start, known: true}
		values[m] = next.value
		k.values.update(m, loadedBytes+len(m)+k.size(next.value), func(old loaded[V], ok bool) loaded[V] {
			if ok && !old.at.Before(start) {
				return old
			}
			return next
		})
	}
	return nil
}
