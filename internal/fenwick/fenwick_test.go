package fenwick

import (
	"testing"

	"pgregory.net/rapid"
)

func TestPlainSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int64Range(0, 3), 1, 70).Draw(t, "counts")
		tree := New(counts)
		for range rapid.IntRange(0, 5).Draw(t, "updates") {
			i := rapid.IntRange(0, len(counts)-1).Draw(t, "i")
			delta := rapid.Int64Range(-counts[i], 5).Draw(t, "delta")
			counts[i] += delta
			tree.Add(i, delta)
		}
		var sum int64
		for i, n := range counts {
			if got := tree.Sum(i); got != sum {
				t.Fatalf("sum of the first %d of %v is %d, want %d", i, counts, got, sum)
			}
			for j := range n {
				if at, before := tree.Search(sum + j); at != i || before != sum {
					t.Fatalf("position %d of %v lies in %d after %d, want %d after %d", sum+j, counts, at, before, i, sum)
				}
			}
			sum += n
		}
		if got := tree.Sum(len(counts)); got != sum {
			t.Fatalf("sum of %v is %d, want %d", counts, got, sum)
		}
	})
}
