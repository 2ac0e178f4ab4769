package bounded

import (
	"fmt"
	"testing"
)

// TestMap: entries that are read stay, however many others come, and both bounds hold.
func TestMap(t *testing.T) {
	t.Parallel()
	l := New[int, string](10*shards, 1000*shards)
	put := func(key, bytes int) {
		l.Put(key, bytes, fmt.Sprint(key))
	}
	for i := range 10_000 {
		put(i, 10)
		l.Get(0) // read all the time
	}
	if n, _ := l.Size(); n > 10*shards {
		t.Errorf("%d entries", n)
	}
	if v, ok := l.Get(0); !ok || v != "0" {
		t.Error("the entry that is read most is gone")
	}
	if _, ok := l.Get(9999); !ok {
		t.Error("the newest entry is gone")
	}
	for i := range 10_000 {
		put(i, 300)
	}
	if _, bytes := l.Size(); bytes > 1000*shards {
		t.Errorf("%d bytes", bytes)
	}
	put(5, 1001)
	if _, ok := l.Get(5); ok {
		t.Error("an entry larger than its shard is kept")
	}
	put(5, 10)
	put(5, 20)
	before, _ := l.Size()
	l.Delete(5)
	l.Delete(5)
	if after, _ := l.Size(); after != before-1 {
		t.Errorf("%d entries, %d after a delete", before, after)
	}
}
