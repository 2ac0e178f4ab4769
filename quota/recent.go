package quota

import "sync"

// recent is a bounded map of two generations: when the new one is full, it replaces the old one, and keys that were not
// used since are forgotten. It has at most twice as many keys as asked for. All methods may be called concurrently.
type recent[K comparable, V any] struct {
	most int

	mu              sync.Mutex
	young, previous map[K]V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, young: map[K]V{}}
}

// get returns the value of a key, a new one when it has none.
func (r *recent[K, V]) get(key K, fresh func(K) V) V {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.young[key]
	if ok {
		return v
	}
	if v, ok = r.previous[key]; !ok {
		v = fresh(key)
	}
	if len(r.young) >= r.most {
		r.previous, r.young = r.young, map[K]V{}
	}
	r.young[key] = v
	return v
}
