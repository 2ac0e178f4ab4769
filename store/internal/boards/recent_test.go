package boards

import "testing"

// TestRecentIsBounded: what is asked for stays, however many others come, and there are never many more than wanted.
func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	r := NewRecent[int, int](10)
	for i := range 1000 {
		r.Put(i, -i)
		if v, ok := r.Get(7); i >= 7 && (!ok || v != -7) {
			t.Fatalf("after %d others: %d, %t", i, v, ok)
		}
		if v, ok := r.Get(i); !ok || v != -i {
			t.Fatalf("%d was just put: %d, %t", i, v, ok)
		}
		if n := len(r.young) + len(r.previous); n > 20 {
			t.Fatalf("%d values are kept", n)
		}
	}
	if _, ok := r.Get(500); ok {
		t.Error("nobody asked for 500")
	}
	r.Delete(7)
	if _, ok := r.Get(7); ok {
		t.Error("7 was deleted")
	}
}
