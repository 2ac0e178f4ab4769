package rank

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"leaderboard/leaderboard"
)

// ErrCut means that a cut does not lie inside a bucket, or not after the cut before it: a mistake of the caller.
var ErrCut = errors.New("rank: not a cut through a bucket")

// maxBound is the length of the longest boundary, equal to the longest key.
const maxBound = HeadLen + leaderboard.MaxMember

// Cut divides a bucket in two.
type Cut struct {
	At   Key   // where the second one starts
	Left int64 // entries of the bucket ahead of At, and after the previous cut when that divides the same bucket
}

// Overgrown returns the buckets with more than twice the target of entries, in order. The owner of the index should
// split them soon, every target entries: ranks stay exact meanwhile, but take longer to count.
func (x *Index) Overgrown() []Span {
	starts := slices.Sorted(maps.Keys(x.over))
	spans := make([]Span, len(starts))
	for i, start := range starts {
		spans[i] = x.Find(start)
	}
	return spans
}

// Target returns the intended number of entries of a bucket.
func (x *Index) Target() int64 { return x.target }

// Split cuts buckets, any number of them, in O(buckets). cuts must be in ascending order and counted at the state of
// the index, which seq names. Errors: ErrGap when the index is at another state, ErrCut, ErrDamaged when a bucket turns
// out to have more entries than its count; none of them changes a bucket.
func (x *Index) Split(seq int64, cuts []Cut) error {
	if x.damaged {
		return ErrDamaged
	}
	if seq != x.at.Seq {
		return fmt.Errorf("%w: it is at seq %d, the cuts were counted at %d", ErrGap, x.at.Seq, seq)
	}
	bounds := make([]Key, 0, len(x.bounds)+len(cuts))
	counts := make([]int64, 0, len(x.bounds)+len(cuts))
	taken := 0 // buckets copied from x; the last of them is the one being cut
	for _, cut := range cuts {
		if end := 1 + search(x.bounds, cut.At); end > taken {
			bounds = append(bounds, x.bounds[taken:end]...)
			counts = append(counts, x.counts[taken:end]...)
			taken = end
		}
		last := len(bounds) - 1
		if cut.At <= bounds[last] || len(cut.At) > maxBound || cut.Left < 0 {
			return fmt.Errorf("%w: %x with %d entries", ErrCut, cut.At, cut.Left)
		}
		if cut.Left > counts[last] {
			x.damaged = true
			return fmt.Errorf("%w: %d entries counted ahead of a cut in a bucket of %d", ErrDamaged, cut.Left, counts[last])
		}
		bounds = append(bounds, cut.At)
		counts = append(counts, counts[last]-cut.Left)
		counts[last] = cut.Left
	}
	x.set(append(bounds, x.bounds[taken:]...), append(counts, x.counts[taken:]...))
	return nil
}

// Compact merges neighbours whose sum is at most the target, and returns how many buckets that saved. It does nothing
// while there are about as many buckets as the entries need, and takes O(buckets) otherwise, so it may be called after
// every Fold.
func (x *Index) Compact() int {
	// Once neighbours have more than the target together there are at most 2*Total/target+1 buckets. Waiting for half
	// as many again spreads the cost over the changes that made them sparse.
	const always = 16
	if x.damaged || int64(len(x.bounds)) <= always+3*(x.at.Total/x.target) {
		return 0
	}
	bounds, counts := x.bounds[:1:1], []int64{x.counts[0]}
	for i, n := range x.counts[1:] {
		if last := len(counts) - 1; counts[last]+n <= x.target {
			counts[last] += n
			continue
		}
		bounds = append(bounds, x.bounds[i+1])
		counts = append(counts, n)
	}
	saved := len(x.bounds) - len(bounds)
	x.set(bounds, counts)
	return saved
}
