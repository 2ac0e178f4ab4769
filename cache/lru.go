package cache

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// lruShards keeps readers on many cores from waiting for one lock.
const lruShards = 8

// lru is a map bounded by the number of its entries and by their size in bytes; who was not read for the longest goes.
type lru[K comparable, V any] struct {
	seed   maphash.Seed
	shards [lruShards]lruShard[K, V]
}

type lruShard[K comparable, V any] struct {
	maxEntries, maxBytes int

	mu    sync.Mutex
	byKey map[K]*list.Element // of *lruEntry[K, V]
	order *list.List          // most recently read first
	bytes int
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	bytes int
}

func newLRU[K comparable, V any](maxEntries, maxBytes int) *lru[K, V] {
	l := &lru[K, V]{seed: maphash.MakeSeed()}
	for i := range l.shards {
		s := &l.shards[i]
		s.maxEntries, s.maxBytes = max(1, maxEntries/lruShards), maxBytes/lruShards
		s.byKey, s.order = map[K]*list.Element{}, list.New()
	}
	return l
}

func (l *lru[K, V]) shard(key K) *lruShard[K, V] {
	return &l.shards[maphash.Comparable(l.seed, key)%lruShards]
}

func (l *lru[K, V]) get(key K) (V, bool) {
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*lruEntry[K, V]).value, true
}

// all returns all values.
func (l *lru[K, V]) all() (out []V) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		for e := s.order.Front(); e != nil; e = e.Next() {
			out = append(out, e.Value.(*lruEntry[K, V]).value)
		}
		s.mu.Unlock()
	}
	return out
}

// update sets the value of key to what change makes of the present one; ok says whether there is one. A value larger
// than the whole bound is not kept.
func (l *lru[K, V]) update(key K, bytes int, change func(old V, ok bool) V) {
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	var old V
	e, ok := s.byKey[key]
	if ok {
		old = e.Value.(*lruEntry[K, V]).value
		s.remove(e)
	}
	value := change(old, ok)
	if bytes > s.maxBytes {
		return
	}
	s.byKey[key] = s.order.PushFront(&lruEntry[K, V]{key, value, bytes})
	s.bytes += bytes
	for s.bytes > s.maxBytes || len(s.byKey) > s.maxEntries {
		s.remove(s.order.Back())
	}
}

func (l *lru[K, V]) delete(key K) {
	s := l.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.remove(e)
	}
}

func (s *lruShard[K, V]) remove(e *list.Element) {
	entry := s.order.Remove(e).(*lruEntry[K, V])
	delete(s.byKey, entry.key)
	s.bytes -= entry.bytes
}

// size returns the number of entries and their bytes.
func (l *lru[K, V]) size() (entries, bytes int) {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		entries, bytes = entries+len(s.byKey), bytes+s.bytes
		s.mu.Unlock()
	}
	return entries, bytes
}
