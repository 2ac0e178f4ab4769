package quota

import "sync"

// recent is a map that forgets what was not asked for of late: when so many keys are new, those go that nobody asked for
// since that happened last. It has at most twice as many. All methods may be called concurrently.
type recent[K comparable, V any] struct {
	most int

	mu              sync.Mutex
	young, previous map[K]V
}

func newRecent[K comparable, V any](most int) *recent[K, V] {
	return &recent[K, V]{most: most, young: map[K]V{}}
}

// get returns the value of a key, a new one when there is none.
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
