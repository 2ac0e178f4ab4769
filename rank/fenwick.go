package rank

import "math/bits"

// fenwick holds n counts so that prefix sums and updates take O(log n) steps (Fenwick 1994, here with indexes from 0):
// t[i] is the sum of the counts from i&(i+1) to i.
type fenwick []int64

// newFenwick takes O(n).
func newFenwick(counts []int64) fenwick {
	t := make(fenwick, len(counts))
	copy(t, counts)
	for i := range t {
		if up := i | (i + 1); up < len(t) {
			t[up] += t[i]
		}
	}
	return t
}

// add adds delta to count i.
func (t fenwick) add(i int, delta int64) {
	for ; i < len(t); i |= i + 1 {
		t[i] += delta
	}
}

// sum is the sum of the first n counts.
func (t fenwick) sum(n int) int64 {
	var s int64
	for ; n > 0; n &= n - 1 {
		s += t[n-1]
	}
	return s
}

// search finds the count in which position n lies: the only i with sum(i) <= n < sum(i+1), and sum(i). No count may be
// negative and n lies between 0 and the sum of all.
func (t fenwick) search(n int64) (i int, before int64) {
	for step := 1 << bits.Len(uint(len(t))) >> 1; step > 0; step >>= 1 {
		if next := i + step; next <= len(t) && before+t[next-1] <= n {
			i = next
			before += t[next-1]
		}
	}
	return i, before
}
