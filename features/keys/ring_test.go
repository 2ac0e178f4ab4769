package keys

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// database is the source of a ring and of its feed.
type database struct {
	mu       sync.Mutex
	keys     map[string]leaderboard.HashedKey
	revision leaderboard.Revision
	away     bool
	failing  bool // statements about keys fail, statements of the feed do not
	asked    int  // statements about keys
	rounds   int
	used     map[string]leaderboard.Micros
	takes    time.Duration // a statement about keys
	shows    time.Duration // a statement of the feed
}

var errAway = fmt.Errorf("%w: the test says so", leaderboard.ErrUnavailable)

func (d *database) HashedKeys(_ context.Context, after string, limit int) ([]leaderboard.HashedKey, error) {
	d.mu.Lock()
	d.asked++
	var found []leaderboard.HashedKey
	for _, id := range slices.Sorted(maps.Keys(d.keys)) {
		if id > after && len(found) < limit {
			found = append(found, d.keys[id])
		}
	}
	away, takes := d.away || d.failing, d.takes
	d.mu.Unlock()
	time.Sleep(takes)
	if away {
		return nil, errAway
	}
	return found, nil
}

func (d *database) KeysUsed(_ context.Context, at leaderboard.Micros, ids []string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return errAway
	}
	for _, id := range ids {
		d.used[id] = at
	}
	return nil
}

// Revisions implements feed.Source.
func (d *database) Revisions(context.Context, []int64) (map[int64]leaderboard.Revision, error) {
	d.mu.Lock()
	d.rounds++
	r, away, shows := d.revision, d.away, d.shows
	d.mu.Unlock()
	time.Sleep(shows)
	if away {
		return nil, errAway
	}
	return map[int64]leaderboard.Revision{leaderboard.KeysPeriod: r}, nil
}

// set changes the table.
func (d *database) set(change func(map[string]leaderboard.HashedKey)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d.keys)
	d.revision.Seq++
	d.revision.AsOf = leaderboard.MicrosOf(time.Now())
}

// change changes a key of the table.
func (d *database) change(id string, change func(*leaderboard.HashedKey)) {
	d.set(func(keys map[string]leaderboard.HashedKey) {
		k := keys[id]
		change(&k)
		keys[id] = k
	})
}

func (d *database) setAway(away bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.away = away
}

// watched returns how often the feed asked.
func (d *database) watched() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rounds
}

// statements returns how many there were about keys.
func (d *database) statements() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

// start runs a ring on a database in a bubble, where time passes when all wait.
func start(t *testing.T) (*Ring, *database) {
	t.Helper()
	d := &database{keys: map[string]leaderboard.HashedKey{}, used: map[string]leaderboard.Micros{}, takes: time.Millisecond, shows: time.Millisecond}
	return d.run(t), d
}

// run runs a ring and its feed.
func (d *database) run(t testing.TB) *Ring {
	t.Helper()
	f := feed.New(d, feed.Options{})
	r := NewRing(d, f, RingOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx) })
	running.Go(func() { r.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return r
}

// add puts a key into the table and returns its hash.
func (d *database) add(id string, change func(*leaderboard.HashedKey)) leaderboard.KeyHash {
	k := leaderboard.HashedKey{Key: leaderboard.Key{ID: id, Scope: leaderboard.ScopeWrite}, Hash: leaderboard.HashKey("secret of " + id)}
	if change != nil {
		change(&k)
	}
	d.set(func(keys map[string]leaderboard.HashedKey) { keys[id] = k })
	return k.Hash
}

func (r *Ring) lookUp(t *testing.T, id string, hash leaderboard.KeyHash, want error) *leaderboard.Key {
	t.Helper()
	k, err := r.Find(t.Context(), id, hash, time.Now())
	if !errors.Is(err, want) || err == nil && k.ID != id {
		t.Fatalf("key %s: %+v, %v, want %v", id, k, err, want)
	}
	return k
}

// TestKnownKey: keys are read once; from then on a request with one sends no statement, and its secret decides.
func TestKnownKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		d.add("over", func(k *leaderboard.HashedKey) { k.ExpiresAt = leaderboard.MicrosOf(time.Now().Add(time.Second)) })
		r.lookUp(t, "k1", hash, nil)
		r.lookUp(t, "over", leaderboard.HashKey("secret of over"), nil)
		r.lookUp(t, "k1", leaderboard.HashKey("another"), leaderboard.ErrKeyNotFound)
		asked := d.statements()
		for _, apart := range []time.Duration{20 * time.Millisecond, 5 * time.Second} {
			for range 100 {
				began := time.Now()
				r.lookUp(t, "k1", hash, nil)
				if took := time.Since(began); took > 0 {
					t.Fatalf("a known key took %v", took)
				}
				time.Sleep(apart)
			}
		}
		if n := d.statements(); n != asked {
			t.Errorf("%d statements for a known key", n-asked)
		}
		r.lookUp(t, "over", leaderboard.HashKey("secret of over"), leaderboard.ErrKeyExpired)
	})
}

// TestChangeCounts: a revoked key stops within a second, whether it was used all the while or after a pause; a new secret
// is valid, and the old one until its overlap is over.
func TestChangeCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
		second := leaderboard.HashKey("second")
		d.change("k1", func(k *leaderboard.HashedKey) {
			k.Hash, k.Previous, k.PreviousUntil = second, k.Hash, leaderboard.MicrosOf(time.Now().Add(time.Minute))
		})
		time.Sleep(time.Second)
		r.lookUp(t, "k1", second, nil)
		r.lookUp(t, "k1", hash, nil)
		time.Sleep(time.Minute)
		r.lookUp(t, "k1", second, nil)
		r.lookUp(t, "k1", hash, leaderboard.ErrKeyExpired)

		revoke := func(id string) {
			d.change(id, func(k *leaderboard.HashedKey) {
				k.RevokedAt = 1
			})
		}
		revoke("k1")
		revoked := time.Now()
		for {
			if _, err := r.Find(t.Context(), "k1", second, time.Now()); errors.Is(err, leaderboard.ErrKeyRevoked) {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if took := time.Since(revoked); took > 100*time.Millisecond {
			t.Errorf("a revoked key went on for %v", took)
		}

		other := d.add("k2", nil)
		time.Sleep(time.Second)
		r.lookUp(t, "k2", other, nil)
		time.Sleep(time.Hour) // no key is used, so nothing is watched
		revoke("k2")
		r.lookUp(t, "k2", other, leaderboard.ErrKeyRevoked)
	})
}

// TestReadBesideAChange: keys read before a change do not stay after it, in whichever order the two arrive.
func TestReadBesideAChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		d.takes = 200 * time.Millisecond
		go func() {
			time.Sleep(100 * time.Millisecond) // the keys were read, and the statement has not answered
			d.set(func(keys map[string]leaderboard.HashedKey) { delete(keys, "k1") })
		}()
		_, _ = r.Find(t.Context(), "k1", hash, time.Now())
		time.Sleep(time.Second)
		r.lookUp(t, "k1", hash, leaderboard.ErrKeyNotFound)
	})
}

// TestUnknownKeys: however many requests come with ids of no key, no statement is sent for them, to the table or by the
// watch; a key that is made with such an id counts for the very next request.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		r.lookUp(t, "none", leaderboard.KeyHash{}, leaderboard.ErrKeyNotFound)
		began, asked, watched := time.Now(), d.statements(), d.watched()
		var all sync.WaitGroup
		for i := range 3000 {
			all.Go(func() { r.lookUp(t, fmt.Sprint("none", i%300), leaderboard.KeyHash{}, leaderboard.ErrKeyNotFound) })
		}
		all.Wait()
		for i := range 30 {
			r.lookUp(t, fmt.Sprint("none", i), leaderboard.KeyHash{}, leaderboard.ErrKeyNotFound)
		}
		if n := d.statements(); n != asked {
			t.Errorf("%d statements for ids of no key", n-asked)
		}
		if n, ticks := d.watched()-watched, int(time.Since(began)/(50*time.Millisecond)); n > ticks+1 {
			t.Errorf("the feed asked %d times in %d intervals", n, ticks)
		}
		r.lookUp(t, "none7", d.add("none7", nil), nil)
	})
}

// TestRotatedKeyAtOnce: a new secret counts for the very next request on every server, as a new key does; however many wrong secrets of
// a key come, no statement is sent for them.
func TestRotatedKeyAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
		for _, overlap := range []time.Duration{time.Minute, 0} {
			secret := leaderboard.HashKey(fmt.Sprint("after ", overlap))
			d.change("k1", func(k *leaderboard.HashedKey) {
				k.Previous, k.PreviousUntil, k.Hash = leaderboard.KeyHash{}, 0, secret
				if overlap > 0 {
					k.Previous, k.PreviousUntil = hash, leaderboard.MicrosOf(time.Now().Add(overlap))
				}
			})
			r.lookUp(t, "k1", secret, nil)
		}
		asked := d.statements()
		for range 100 {
			r.lookUp(t, "k1", hash, leaderboard.ErrKeyNotFound)
		}
		if n := d.statements(); n != asked {
			t.Errorf("%d statements for wrong secrets", n-asked)
		}
	})
}

// TestManyKeys: keys are read in pages, all of them, and a change of any key is seen.
func TestManyKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hashes := map[string]leaderboard.KeyHash{}
		for i := range 2*500 + 1 {
			id := fmt.Sprintf("k%04d", i)
			hashes[id] = d.add(id, nil)
		}
		for id, hash := range hashes {
			r.lookUp(t, id, hash, nil)
		}
		if n := d.statements(); n != 3 {
			t.Errorf("%d statements for three pages", n)
		}
		for _, id := range []string{"k0000", "k0499", "k0500", "k0999", "k1000"} {
			d.set(func(keys map[string]leaderboard.HashedKey) { delete(keys, id) })
			time.Sleep(100 * time.Millisecond)
			r.lookUp(t, id, hashes[id], leaderboard.ErrKeyNotFound)
		}
	})
}

// TestDatabaseAway: keys stay valid for ten minutes and no longer, and others are not reported as unknown; when the
// database is back, it decides both.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash, unused := d.add("k1", nil), d.add("k0", nil)
		r.lookUp(t, "k1", hash, nil)
		d.setAway(true)
		other := d.add("k2", nil) // by a server that reaches the database
		for began := time.Now(); time.Since(began) < 590*time.Second; time.Sleep(time.Second) {
			r.lookUp(t, "k1", hash, nil)
			r.lookUp(t, "k0", unused, nil)
			r.lookUp(t, "k2", other, leaderboard.ErrUnavailable)
		}
		time.Sleep(15 * time.Second)
		r.lookUp(t, "k1", hash, leaderboard.ErrUnavailable)
		d.setAway(false)
		r.lookUp(t, "k1", hash, nil)
		r.lookUp(t, "k2", other, nil)
		r.lookUp(t, "k3", other, leaderboard.ErrKeyNotFound)
	})
}

// TestIdleServer: a server that was not used for hours knows its keys when the database goes away then, for nearly all of the
// ten minutes, and hardly asks for that.
func TestIdleServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
		time.Sleep(time.Minute)
		before := d.watched()
		time.Sleep(3 * time.Hour)
		if n := d.watched() - before; n > 3*120 {
			t.Errorf("asked %d times in three idle hours", n)
		}
		d.setAway(true)
		r.lookUp(t, "k1", hash, nil)
		time.Sleep(9 * time.Minute)
		r.lookUp(t, "k1", hash, nil)
		time.Sleep(2 * time.Minute)
		r.lookUp(t, "k1", hash, leaderboard.ErrUnavailable)
	})
}

// TestChangeThatCannotBeRead: when the feed shows a change that cannot be read, it is read as soon as it can be.
func TestChangeThatCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
		d.mu.Lock()
		d.failing = true
		d.mu.Unlock()
		d.set(func(keys map[string]leaderboard.HashedKey) { delete(keys, "k1") })
		time.Sleep(2 * time.Second)
		r.lookUp(t, "k1", hash, nil) // the database cannot be asked
		d.mu.Lock()
		d.failing = false
		d.mu.Unlock()
		time.Sleep(time.Second)
		r.lookUp(t, "k1", hash, leaderboard.ErrKeyNotFound)
	})
}

// TestSlowFeed: while each statement of the feed takes longer than anyone waits for it, keys stay valid for longer than the
// ten minutes, and a revoked one still ends.
func TestSlowFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
		d.mu.Lock()
		d.shows = 600 * time.Millisecond
		d.mu.Unlock()
		for began := time.Now(); time.Since(began) < 15*time.Minute; time.Sleep(400 * time.Millisecond) {
			r.lookUp(t, "k1", hash, nil)
		}
		d.set(func(keys map[string]leaderboard.HashedKey) { delete(keys, "k1") })
		for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(100 * time.Millisecond) {
			_, _ = r.Find(t.Context(), "k1", hash, time.Now())
		}
		if _, err := r.Find(t.Context(), "k1", hash, time.Now()); err == nil {
			t.Error("a deleted key is good")
		}
	})
}

// TestSlowReading: while the keys are read after a change, which takes long, a request with a key waits briefly.
func TestSlowReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
		d.mu.Lock()
		d.takes = 300 * time.Millisecond
		d.mu.Unlock()
		other := d.add("k2", nil)
		for began := time.Now(); time.Since(began) < time.Second; time.Sleep(10 * time.Millisecond) {
			asked := time.Now()
			if r.lookUp(t, "k1", hash, nil); time.Since(asked) > 50*time.Millisecond {
				t.Fatalf("waited %v", time.Since(asked))
			}
		}
		r.lookUp(t, "k2", other, nil)
	})
}

// TestRestoredTable: a table that was restored from a backup has an earlier revision; the ring has its present content.
func TestRestoredTable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		d.add("k2", nil)
		r.lookUp(t, "k1", hash, nil)
		time.Sleep(time.Second)
		d.mu.Lock()
		d.keys = map[string]leaderboard.HashedKey{}
		d.revision.Seq--
		d.mu.Unlock()
		time.Sleep(time.Second)
		r.lookUp(t, "k1", hash, leaderboard.ErrKeyNotFound)
	})
}

// TestLastUse: the minute of the last use is written down in batches, also at the end, and not for each request.
func TestLastUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hashes := map[string]leaderboard.KeyHash{"k1": d.add("k1", nil), "k2": d.add("k2", nil), "k3": d.add("k3", nil)}
		for _, id := range []string{"k1", "k2"} {
			r.lookUp(t, id, hashes[id], nil)
		}
		minute := leaderboard.MicrosOf(time.Now().Truncate(time.Minute))
		time.Sleep(31 * time.Second)
		d.mu.Lock()
		used := maps.Clone(d.used)
		d.mu.Unlock()
		if ids := slices.Sorted(maps.Keys(used)); !slices.Equal(ids, []string{"k1", "k2"}) || used["k1"] != minute {
			t.Errorf("used: %v, want k1 and k2 at %s", used, minute)
		}
	})
}

// TestRenew: a caller that has changed a key here finds it changed at once.
func TestRenew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
		d.set(func(keys map[string]leaderboard.HashedKey) { delete(keys, "k1") })
		if err := r.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.lookUp(t, "k1", hash, leaderboard.ErrKeyNotFound)
	})
}

// alone runs a ring on a database that does not change, outside of any bubble, and returns the hash of its key.
func alone(t testing.TB) (*Ring, leaderboard.KeyHash) {
	t.Helper()
	d := &database{keys: map[string]leaderboard.HashedKey{}, used: map[string]leaderboard.Micros{}}
	hash := d.add("k1", nil)
	return d.run(t), hash
}

// TestFindAllocatesNothing holds the way of every request with a key.
func TestFindAllocatesNothing(t *testing.T) {
	ring, hash := alone(t)
	ring.lookUp(t, "k1", hash, nil)
	now, ctx := time.Now(), t.Context()
	if n := testing.AllocsPerRun(1000, func() { _, _ = ring.Find(ctx, "k1", hash, now) }); n != 0 {
		t.Errorf("%v allocations for a known key", n)
	}
}

func BenchmarkFind(b *testing.B) {
	ring, hash := alone(b)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ring.Find(b.Context(), "k1", hash, now); err != nil {
			b.Fatal(err)
		}
	}
}

// TestFirstKeyAfterAWhile: while no key is used the feed does not look at the table, so the first id after that asks, though
// the keys were confirmed a moment ago.
func TestFirstKeyAfterAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r, d := start(t)
		if err := r.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		r.lookUp(t, "nokey", leaderboard.KeyHash{}, leaderboard.ErrKeyNotFound)
		hash := d.add("k1", nil)
		r.lookUp(t, "k1", hash, nil)
	})
}
