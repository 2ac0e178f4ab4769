package cache

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"leaderboard/cache/batch"
	"leaderboard/cache/topn"
	"leaderboard/internal/bounded"
	"leaderboard/leaderboard"
)

// LoaderOptions adjust the cache of members' values; the zero value is fit for production.
type LoaderOptions struct {
	TTL     time.Duration // how old an answer may be, so how long a change by another process may go unseen; 30 s
	Entries int           // members kept, 65,536
	Bytes   int           // and their approximate size, 16 MiB
	Batch   int           // members that are looked up together, over all queries, 1,000
	Timeout time.Duration // for one look-up, 1 s
	Now     func() time.Time
}

// Loader caches the database's values of members (a profile, a list of friends) in the process, including absent
// values. Missing values are looked up in one statement for all members of a query, together with the members of other
// queries at the same time: so a burst of readers costs MySQL two look-ups at a time. While MySQL does not answer,
// cached values are served no matter how old they are. All methods may be called concurrently.
type Loader[V any] struct {
	fetch Fetch[V]
	size  func(V) int
	ttl   time.Duration
	now   func() time.Time

	values   *bounded.Map[string, loaded[V]]
	lookUps  *batch.Batcher[struct{}, lookUp, map[string]V]
	database *topn.Breaker
}

// loaded is the cached value of one member.
type loaded[V any] struct {
	value V
	at    time.Time // when the query was put to the database
	known bool      // false: it changed at that time, earlier answers are of no use
}

// lookUp is a query for the values that were not cached.
type lookUp struct {
	members []string
	since   time.Time
}

// loadsAtOnce is the number of look-ups under way at once, so that a slow one does not delay all others.
const loadsAtOnce = 2

// loadedBytes is the size of a cached member without its value, roughly.
const loadedBytes = 200

// Fetch reads the values of members from the database, without members that have no value. old are the cached values of any
// age, for a database that can cheaply check that a value still holds.
type Fetch[V any] func(ctx context.Context, members []string, old map[string]V) (map[string]V, error)

// NewLoader returns a Loader of the values that fetch returns. size is the size of a value in bytes, roughly.
func NewLoader[V any](fetch Fetch[V], size func(V) int, o LoaderOptions) *Loader[V] {
	k := &Loader[V]{
		fetch: fetch, size: size, ttl: cmp.Or(o.TTL, 30*time.Second), now: o.Now,
		values: bounded.New[string, loaded[V]](cmp.Or(o.Entries, 65_536), cmp.Or(o.Bytes, 16<<20)),
	}
	many := batch.Options{Slots: loadsAtOnce, Size: cmp.Or(o.Batch, leaderboard.MaxLimit), Timeout: cmp.Or(o.Timeout, time.Second)}
	k.lookUps = batch.New(many, func(l lookUp) int { return len(l.members) }, k.answer)
	if k.now == nil {
		k.now = time.Now
	}
	k.database = topn.NewBreaker(k.now, func(bool) {})
	return k
}

// Of returns the values of members, in their order, the zero value for members without a value. When the database does
// not answer, it returns an error and the cached values, of any age.
func (k *Loader[V]) Of(ctx context.Context, members []string) ([]V, error) {
	out := make([]V, len(members))
	now := k.now()
	var missing []int
	for i, m := range members {
		v, ok := k.values.Get(m)
		if out[i] = v.value; !ok || !v.known || now.Sub(v.at) > k.ttl {
			missing = append(missing, i)
		}
	}
	if missing == nil {
		return out, nil
	}
	l := lookUp{since: now}
	for _, i := range missing {
		l.members = append(l.members, members[i])
	}
	values, err := k.lookUps.Do(ctx, struct{}{}, l)
	if err != nil {
		return out, fmt.Errorf("cache: look up members: %w", err)
	}
	for _, i := range missing {
		out[i] = values[members[i]]
	}
	return out, nil
}

// Forget makes the next query about a member go to the database. Answers that are under way are not kept.
func (k *Loader[V]) Forget(member string) {
	now := k.now()
	k.values.Update(member, loadedBytes, func(loaded[V], bool) loaded[V] { return loaded[V]{at: now} })
}

// answer looks up the members of a batch that no batch has looked up since.
func (k *Loader[V]) answer(ctx context.Context, _ struct{}, lookUps []lookUp, answers []batch.Answer[map[string]V]) error {
	values := map[string]V{}
	var missing []string
	for _, l := range lookUps {
		for _, m := range l.members {
			if _, twice := values[m]; twice {
				continue
			}
			v, ok := k.values.Get(m)
			if values[m] = v.value; !ok || !v.known || v.at.Before(l.since) {
				missing = append(missing, m)
			}
		}
	}
	for i := range answers {
		answers[i].Value = values
	}
	if missing == nil {
		return nil
	}
	return k.refresh(ctx, missing, values)
}

// refresh replaces the cached values of the members by the database's values, and caches these.
func (k *Loader[V]) refresh(ctx context.Context, members []string, values map[string]V) error {
	if !k.database.Allow() {
		return leaderboard.ErrUnavailable
	}
	start := k.now()
	found, err := k.fetch(ctx, members, values)
	k.database.Done(err == nil)
	if err != nil {
		return err
	}
	for _, m := range members {
		next := loaded[V]{value: found[m], at: start, known: true}
		values[m] = next.value
		k.values.Update(m, loadedBytes+len(m)+k.size(next.value), func(old loaded[V], ok bool) loaded[V] {
			if ok && !old.at.Before(start) {
				return old
			}
			return next
		})
	}
	return nil
}
