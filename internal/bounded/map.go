// Package bounded is a bounded map, for caches in memory.
package bounded

import (
	"container/list"
	"hash/maphash"
	"sync"
)

// shards keeps readers on many cores from waiting for one lock. Each has an equal part of the bounds.
const shards = 8

// Map is bounded by the number of its entries and by their size in bytes: the entry that was not read for the longest time
// leaves first. The zero value is not usable. All methods may be called concurrently.
type Map[K comparable, V any] struct {
	seed   maphash.Seed
	shards [shards]shard[K, V]
}

type shard[K comparable, V any] struct {
	maxEntries int

	mu       sync.Mutex
	maxBytes int
	byKey    map[K]*list.Element // of *entry[K, V]
	order    *list.List          // most recently read first
	bytes    int
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int
}

// New returns an empty map. maxBytes has no effect if all entries have size 0.
func New[K comparable, V any](maxEntries, maxBytes int) *Map[K, V] {
	m := &Map[K, V]{seed: maphash.MakeSeed()}
	for i := range m.shards {
		s := &m.shards[i]
		s.maxEntries, s.maxBytes = max(1, maxEntries/shards), maxBytes/shards
		s.byKey, s.order = map[K]*list.Element{}, list.New()
	}
	return m
}

func (m *Map[K, V]) shard(key K) *shard[K, V] {
	return &m.shards[maphash.Comparable(m.seed, key)%shards]
}

// Get returns the value of a key, or false.
func (m *Map[K, V]) Get(key K) (V, bool) {
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		var none V
		return none, false
	}
	s.order.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// All returns all values.
func (m *Map[K, V]) All() (out []V) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		for e := s.order.Front(); e != nil; e = e.Next() {
			out = append(out, e.Value.(*entry[K, V]).value)
		}
		s.mu.Unlock()
	}
	return out
}

// Put sets the value of a key. A value larger than the bound of a shard is not kept.
func (m *Map[K, V]) Put(key K, bytes int, value V) {
	m.Update(key, bytes, func(V, bool) V { return value })
}

// Update sets the value of a key to the result of change, and returns it. change gets the present value; ok reports whether
// the key has a value. A value larger than the bound of a shard is not kept.
func (m *Map[K, V]) Update(key K, bytes int, change func(old V, ok bool) V) V {
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	var old V
	e, ok := s.byKey[key]
	if ok {
		old = e.Value.(*entry[K, V]).value
		s.remove(e)
	}
	value := change(old, ok)
	if bytes > s.maxBytes {
		return value
	}
	s.byKey[key] = s.order.PushFront(&entry[K, V]{key, value, bytes})
	s.bytes += bytes
	s.trim()
	return value
}

// trim holds the bounds.
func (s *shard[K, V]) trim() {
	for s.bytes > s.maxBytes || len(s.byKey) > s.maxEntries {
		s.remove(s.order.Back())
	}
}

// Bound sets the bound of the size in bytes.
func (m *Map[K, V]) Bound(maxBytes int) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		s.maxBytes = maxBytes / shards
		s.trim()
		s.mu.Unlock()
	}
}

// DeleteFunc removes the keys for which del is true.
func (m *Map[K, V]) DeleteFunc(del func(K) bool) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		for key, e := range s.byKey {
			if del(key) {
				s.remove(e)
			}
		}
		s.mu.Unlock()
	}
}

// Delete removes a key.
func (m *Map[K, V]) Delete(key K) {
	s := m.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.remove(e)
	}
}

func (s *shard[K, V]) remove(e *list.Element) {
	entry := s.order.Remove(e).(*entry[K, V])
	delete(s.byKey, entry.key)
	s.bytes -= entry.bytes
}

// Size returns the number of entries and their bytes.
func (m *Map[K, V]) Size() (entries, bytes int) {
	for i := range m.shards {
		s := &m.shards[i]
		s.mu.Lock()
		entries, bytes = entries+len(s.byKey), bytes+s.bytes
		s.mu.Unlock()
	}
	return entries, bytes
}
