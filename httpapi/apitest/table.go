package apitest

import (
	"maps"
	"slices"
	"sync"
)

// Table is the rows of a table by their keys. All methods may be called concurrently.
type Table[R any] struct {
	Mu      sync.Mutex
	Rows    map[string]R
	Missing error // for a key without a row
}

// NewTable returns an empty table. missing is the error for a key without a row.
func NewTable[R any](missing error) *Table[R] {
	return &Table[R]{Rows: map[string]R{}, Missing: missing}
}

// Change returns a row after do has changed it; an error of do changes nothing.
func (t *Table[R]) Change(key string, do func(*R) error) (R, error) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	row, ok := t.Rows[key]
	if !ok {
		return row, t.Missing
	}
	err := do(&row)
	if err == nil {
		t.Rows[key] = row
	}
	return row, err
}

// Get returns a row.
func (t *Table[R]) Get(key string) (R, error) {
	return t.Change(key, func(*R) error { return nil })
}

// Put makes or replaces a row, and reports whether it made one.
func (t *Table[R]) Put(key string, row R) bool {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	_, ok := t.Rows[key]
	t.Rows[key] = row
	return !ok
}

// Remove deletes a row.
func (t *Table[R]) Remove(key string) error {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	if _, ok := t.Rows[key]; !ok {
		return t.Missing
	}
	delete(t.Rows, key)
	return nil
}

// List returns up to limit rows with keys above after, in the order of their keys.
func (t *Table[R]) List(after string, limit int) (out []R) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(t.Rows)) {
		if key > after && len(out) < limit {
			out = append(out, t.Rows[key])
		}
	}
	return out
}
