// Package fenwick keeps sums of counts that change (P. M. Fenwick, "A New Data Structure for Cumulative Frequency
// Tables", Software: Practice and Experience 24(3), 1994).
package fenwick

import "math/bits"

// Tree holds n counts so that prefix sums and updates take O(log n) steps. Element i is the sum of the counts from
// i&(i+1) to i.
type Tree []int64

// New makes a tree of counts in O(n).
func New(counts []int64) Tree {
	t := make(Tree, len(counts))
	copy(t, counts)
	for i := range t {
		if up := i | (i + 1); up < len(t) {
			t[up] += t[i]
		}
	}
	return t
}

// Add adds delta to count i.
func (t Tree) Add(i int, delta int64) {
	for ; i < len(t); i |= i + 1 {
		t[i] += delta
	}
}

// Sum returns the sum of the first n counts.
func (t Tree) Sum(n int) int64 {
	var s int64
	for ; n > 0; n &= n - 1 {
		s += t[n-1]
	}
	return s
}

// Search finds the count in which position n lies: the only i with Sum(i) <= n < Sum(i+1), and Sum(i). No count may be
// negative, and n lies between 0 and the sum of all.
func (t Tree) Search(n int64) (i int, before int64) {
	for step := 1 << bits.Len(uint(len(t))) >> 1; step > 0; step >>= 1 {
		if next := i + step; next <= len(t) && before+t[next-1] <= n {
			i = next
			before += t[next-1]
		}
	}
	return i, before
}
