package boards

import "sync"

// Recent is a map that forgets what was not asked for of late: when so many keys are new, those go that nobody asked for
// since that happened last. It has at most twice as many. The zero value is not usable. All methods may be called
// concurrently.
type Recent[K comparable, V any] struct {
	most int

	mu       sync.Mutex
	young    map[K]V
	previous map[K]V
}

// NewRecent returns an empty map for about so many keys.
func NewRecent[K comparable, V any](most int) *Recent[K, V] {
	return &Recent[K, V]{most: most, young: map[K]V{}}
}

// Get returns the value of a key, and false when there is none.
func (r *Recent[K, V]) Get(key K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.young[key]; ok {
		return v, true
	}
	v, ok := r.previous[key]
	if ok {
		r.put(key, v)
	}
	return v, ok
}

// Put sets the value of a key.
func (r *Recent[K, V]) Put(key K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(key, v)
}

func (r *Recent[K, V]) put(key K, v V) {
	if _, ok := r.young[key]; !ok && len(r.young) >= r.most {
		r.previous, r.young = r.young, map[K]V{}
	}
	r.young[key] = v
}

// Delete forgets a key.
func (r *Recent[K, V]) Delete(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.young, key)
	delete(r.previous, key)
}
