package store

import (
	"slices"
	"testing"
)

// TestSettlementsShareNoLargeBatch: of requests that name many past periods few go in one batch, and a submission behind
// them is not kept waiting by all of them.
func TestSettlementsShareNoLargeBatch(t *testing.T) {
	t.Parallel()
	s := &Store{cfg: Config{}.withDefaults(), queues: map[string]*queue{}}
	q := &queue{}
	for range 6 {
		q.waiting = append(q.waiting, &request{settle: "m", periodIDs: make([]int64, 20)})
	}
	q.waiting = append(q.waiting, &request{settle: "m", periodIDs: make([]int64, settleLocks)}, &request{remove: "m"})
	q.rows = len(q.waiting)
	var sizes []int
	for reqs := s.take(q); reqs != nil; reqs = s.take(q) {
		sizes = append(sizes, len(reqs))
	}
	if want := []int{2, 2, 2, 1, 1}; !slices.Equal(sizes, want) || q.rows != 0 {
		t.Errorf("batches of %v requests, want %v; %d entries wait", sizes, want, q.rows)
	}
}
