package rank

import (
	"errors"
	"iter"

	"leaderboard/internal/fenwick"
	"leaderboard/leaderboard"
)

// Errors of the index. After ErrDiverged and ErrDamaged only a new build helps; after ErrGap the missing commits do, or
// a new build when the log no longer has them.
var (
	// ErrGap means that a commit, a count or a cut does not fit the state of the index.
	ErrGap = errors.New("rank: the index is at another state")
	// ErrDiverged means that a commit belongs to another incarnation: the database was restored from a backup.
	ErrDiverged = errors.New("rank: the log has another history than the index")
	// ErrDamaged means that an index, in memory or encoded, contradicts itself or the log.
	ErrDamaged = errors.New("rank: the index is damaged")
)

// maxTarget keeps arithmetic with targets far from overflow.
const maxTarget = 1 << 32

// State is a revision of a period and the number of entries that the period has at it.
type State struct {
	leaderboard.Revision
	Total int64
}

// Span is a bucket: the entries with From <= key < To.
type Span struct {
	From   Key   // "" in the first bucket, which is open below
	To     Key   // "" in the last bucket, which is open above
	Before int64 // entries in all buckets ahead of it
	Count  int64 // entries in it
}

// Index counts the entries of a period by buckets, see the package comment. Builder and Decode make one. Find, Nth,
// Spans, Overgrown, At, Len and AppendBinary may be called concurrently; Fold, Split and Compact must be called alone.
type Index struct {
	at      State
	target  int64
	bounds  []Key // where each bucket starts, ascending; bounds[0] is ""
	counts  []int64
	tree    fenwick.Tree     // over counts
	over    map[Key]struct{} // starts of the buckets with more than twice target
	damaged bool
}

// newIndex takes ownership of the slices. They must not be empty, bounds must ascend from "" and no count may be
// negative.
func newIndex(at State, target int64, bounds []Key, counts []int64) *Index {
	x := &Index{at: at, target: target}
	x.set(bounds, counts)
	return x
}

func (x *Index) set(bounds []Key, counts []int64) {
	x.bounds, x.counts, x.tree, x.over = bounds, counts, fenwick.New(counts), map[Key]struct{}{}
	for i, n := range counts {
		if n > x.limit() {
			x.over[bounds[i]] = struct{}{}
		}
	}
}

// limit returns the number of entries at which a bucket is overgrown.
func (x *Index) limit() int64 { return 2 * x.target }

// At returns the state that the index is exact at.
func (x *Index) At() State { return x.at }

// Len returns the number of buckets, at least 1.
func (x *Index) Len() int { return len(x.bounds) }

// Find returns the bucket that key belongs to. The entries ahead of key are the entries of the buckets ahead,
// Span.Before, and the entries in the bucket with From <= k < key, which the caller counts. key may be any string of
// bytes, such as the prefix of a sort key; no entry need have it.
func (x *Index) Find(key Key) Span {
	i := search(x.bounds, key)
	return x.span(i, x.tree.Sum(i))
}

// Nth returns the bucket of the entry at place n, from 0; it is at place n-Span.Before of its bucket. It returns false
// unless 0 <= n < At().Total.
func (x *Index) Nth(n int64) (Span, bool) {
	if n < 0 || n >= x.at.Total {
		return Span{}, false
	}
	i, before := x.tree.Search(n)
	return x.span(i, before), true
}

// Spans returns all buckets in order.
func (x *Index) Spans() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		var before int64
		for i, n := range x.counts {
			if !yield(x.span(i, before)) {
				return
			}
			before += n
		}
	}
}

func (x *Index) span(i int, before int64) Span {
	s := Span{From: x.bounds[i], Before: before, Count: x.counts[i]}
	if i+1 < len(x.bounds) {
		s.To = x.bounds[i+1]
	}
	return s
}

// search returns the index of the last of the ascending bounds that is not greater than key; bounds[0] is "".
func search(bounds []Key, key Key) int {
	lo, hi := 0, len(bounds)
	for hi-lo > 1 {
		if mid := int(uint(lo+hi) >> 1); bounds[mid] <= key {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}
