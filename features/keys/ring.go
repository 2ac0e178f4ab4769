package keys

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"leaderboard/cache"
	"leaderboard/cache/feed"
	"leaderboard/leaderboard"
)

// Source is the table of keys.
type Source interface {
	// HashedKeys returns up to limit keys with an id after the given one, in the order of their ids.
	HashedKeys(ctx context.Context, after string, limit int) ([]leaderboard.HashedKey, error)
	// KeysUsed notes when at most 500 keys were last used.
	KeysUsed(ctx context.Context, at leaderboard.Micros, ids []string) error
}

// RingOptions adjust a Ring; the zero value is fit for production.
type RingOptions struct {
	cache.TableOptions
	Note time.Duration // how often it is written down when keys were last used, 30 s
}

// noteRows is how many keys one statement notes.
const noteRows = 500

// Ring holds all API keys in memory, as a cache.Table, so that a request with one costs no round trip, and writes down when keys
// were last used. All methods may be called concurrently; nothing is read unless the feed runs.
type Ring struct {
	*cache.Table[map[string]*entry]
	source Source
	opts   RingOptions
}

// entry is a key. Its uses are kept when it is read again.
type entry struct {
	leaderboard.HashedKey
	uses *uses
}

type uses struct {
	last  atomic.Int64 // minute, since 1970
	noted int64        // the last one written down; belongs to Run
}

// NewRing returns a Ring that has read no keys yet. The feed asks for their revision under leaderboard.KeysPeriod.
func NewRing(source Source, f *feed.Feed, opts RingOptions) *Ring {
	opts.Note = cmp.Or(opts.Note, 30*time.Second)
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	r := &Ring{source: source, opts: opts}
	r.Table = cache.NewTable("API keys", leaderboard.KeysPeriod, r.all, f, opts.TableOptions)
	return r
}

// Find returns the key with an id whose secret, or old secret within the overlap, has a hash. An existing key is answered
// from memory, unless no key was used recently: then Find waits for the feed. An unknown id, or another secret, waits for the
// next statement of the feed: the key may just have been made or rotated. Errors: ErrKeyNotFound, also for another secret;
// ErrKeyRevoked, ErrKeyExpired, ErrUnavailable.
func (r *Ring) Find(ctx context.Context, id string, hash leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	keys, err := r.Get(ctx, now, func(keys map[string]*entry) bool { return keys[id].is(&hash) })
	if err != nil {
		return nil, err
	}
	return keys[id].check(&hash, now)
}

// Valid returns why a key, whatever its secret, is not good: ErrKeyNotFound, ErrKeyRevoked, ErrKeyExpired, ErrUnavailable.
// It is answered as Find is.
func (r *Ring) Valid(ctx context.Context, id string, now time.Time) error {
	keys, err := r.Get(ctx, now, func(keys map[string]*entry) bool { return keys[id] != nil })
	switch e := keys[id]; {
	case err != nil:
		return err
	case e == nil:
		return leaderboard.ErrKeyNotFound
	case e.RevokedAt != 0:
		return leaderboard.ErrKeyRevoked
	case e.ExpiresAt != 0 && leaderboard.MicrosOf(now) >= e.ExpiresAt:
		return leaderboard.ErrKeyExpired
	}
	return nil
}

// is reports whether a key is there and has a secret with a hash, in constant time for the keys that are there.
func (e *entry) is(hash *leaderboard.KeyHash) bool {
	return e != nil && (hash.Is(&e.Hash) || e.PreviousUntil != 0 && hash.Is(&e.Previous))
}

// check returns the key if it has a secret with a hash and may be used.
func (e *entry) check(hash *leaderboard.KeyHash, now time.Time) (*leaderboard.Key, error) {
	at := leaderboard.MicrosOf(now)
	switch {
	case !e.is(hash):
		return nil, leaderboard.ErrKeyNotFound
	case e.RevokedAt != 0:
		return nil, leaderboard.ErrKeyRevoked
	case e.ExpiresAt != 0 && at >= e.ExpiresAt, !hash.Is(&e.Hash) && at >= e.PreviousUntil:
		return nil, leaderboard.ErrKeyExpired
	}
	if minute := int64(at) / microsPerMinute; e.uses.last.Load() < minute {
		e.uses.last.Store(minute)
	}
	return &e.Key, nil
}

const microsPerMinute = int64(time.Minute / time.Microsecond)

// Run has the keys confirmed now and then, and writes down when they were used, until ctx ends.
func (r *Ring) Run(ctx context.Context) {
	var following sync.WaitGroup
	following.Go(func() { r.Table.Run(ctx) })
	defer following.Wait()
	ticker := time.NewTicker(r.opts.Note)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), cache.TableWait)
			r.note(ending)
			cancel()
			return
		case <-ticker.C:
			r.note(ctx)
		}
	}
}

// all reads all keys.
func (r *Ring) all(ctx context.Context) (map[string]*entry, error) {
	keys, before := map[string]*entry{}, r.Value()
	err := cache.ReadPages(ctx, cache.PageRows, r.source.HashedKeys, func(k *leaderboard.HashedKey) string {
		e := &entry{*k, &uses{}}
		if old := before[e.ID]; old != nil {
			e.uses = old.uses
		}
		keys[e.ID] = e
		return e.ID
	})
	return keys, err
}

// note writes down the minutes in which keys were last used. Failed writes are repeated the next time.
func (r *Ring) note(ctx context.Context) {
	byMinute := map[int64][]*entry{}
	for _, e := range r.Value() {
		if last := e.uses.last.Load(); last > e.uses.noted {
			byMinute[last] = append(byMinute[last], e)
		}
	}
	for minute, entries := range byMinute {
		for chunk := range slices.Chunk(entries, noteRows) {
			ids := make([]string, len(chunk))
			for i, e := range chunk {
				ids[i] = e.ID
			}
			ctx, cancel := context.WithTimeout(ctx, cache.TableWait)
			err := r.source.KeysUsed(ctx, leaderboard.Micros(minute*microsPerMinute), ids)
			cancel()
			if err != nil {
				r.opts.Log.Debug("when keys were used is not written down yet", "error", err)
				return
			}
			for _, e := range chunk {
				e.uses.noted = minute
			}
		}
	}
}
