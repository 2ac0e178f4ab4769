package httpapi

import (
	"maps"
	"slices"
	"sync"
)

// table is the rows of a table by their keys. All methods may be called concurrently.
type table[R any] struct {
	mu      sync.Mutex
	rows    map[string]R
	missing error // for a key without a row
}

func newTable[R any](missing error) *table[R] {
	return &table[R]{rows: map[string]R{}, missing: missing}
}

// change returns a row as do leaves it; an error of do changes nothing.
func (t *table[R]) change(key string, do func(*R) error) (R, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	row, ok := t.rows[key]
	if !ok {
		return row, t.missing
	}
	err := do(&row)
	if err == nil {
		t.rows[key] = row
	}
	return row, err
}

func (t *table[R]) get(key string) (R, error) {
	return t.change(key, func(*R) error { return nil })
}

// put makes or replaces a row, and reports whether it made one.
func (t *table[R]) put(key string, row R) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.rows[key]
	t.rows[key] = row
	return !ok
}

func (t *table[R]) remove(key string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, ok := t.rows[key]; !ok {
		return t.missing
	}
	delete(t.rows, key)
	return nil
}

// list returns up to limit rows with keys after that one, in the order of their keys.
func (t *table[R]) list(after string, limit int) (out []R) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(t.rows)) {
		if key > after && len(out) < limit {
			out = append(out, t.rows[key])
		}
	}
	return out
}
