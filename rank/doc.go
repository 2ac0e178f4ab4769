// Package rank is the arithmetic of ranks: the sort key, the numbering of ties, and the index that finds any rank at
// any depth. It is pure: no I/O, no clock, no locks.
//
// # The sort key
//
// A Key is an order-preserving code of an entry (promise B1). Plain byte comparison of two keys of one period
// is the order of the period, the best entry first:
//
//	bytes  0– 8  score         big endian, oriented so that better is smaller
//	bytes  8–16  tiebreak      the same, in its own direction
//	bytes 16–24  created_time  µs since 1970, big endian, sign bit flipped: earlier is smaller
//	bytes 24–    member        unchanged
//
// So that, for all entries a, b of a period:
//
//	key(a) < key(b)        ⇔  a is ranked before b (strict)
//	key(a)[:16] < key(b)[:16]  ⇔  a has a better (score, tiebreak)
//	decode(key(a)) = a
//
// So the one structure "set of keys ordered by bytes" gives the strict rank of an entry (keys before its key) and its
// tied rank (keys before its 16-byte prefix). A key is the member of the Redis zset, the cursor of a page and the
// boundary of a bucket. The technique comes from rsc.io/ordered; golden bytes in the tests fix the layout.
//
// # The numbering of ties
//
// Number gives a run of consecutive entries their strict, tied or dense ranks, from the ranks of the first entry.
//
// # Several periods as one
//
// Combined ranks the entries of several periods as if they were one period's. A place that is counted in all of them
// bounds the number of entries ahead of any other place in each period, because the entries between two places are as
// many as their sums differ by. Places are counted until little more than the page is left to read.
//
// # The bucket index
//
// Counting the entries ahead of an entry costs the database time in proportion to their number: seconds at a rank of
// ten
// million. An Index cuts the order of a period into buckets of roughly equal numbers of entries and keeps one count for
// each (promise B1). Bucket i holds the keys with
//
//	boundary(i) <= key < boundary(i+1)
//
// the first is open below, the last above. Boundaries are sort keys, which are all different, so that any number of
// entries with one score split evenly. The number of entries in the buckets ahead of a key is a prefix sum of the
// counts, kept in a Fenwick tree (P. M. Fenwick, "A New Data Structure for Cumulative Frequency Tables",
// Software: Practice and Experience 24(3), 1994): prefix sum, update and search by rank in O(log buckets). The database
// only counts one bounded range inside one bucket:
//
//	rank of key k   span := x.Find(k); 1 + span.Before + entries in the database with span.From <= key < k
//	tied rank       the same with the 16-byte prefix of k
//	nth entry       span := x.Nth(n); skip n - span.Before entries from span.From on
//
// An index stores no entries and does no I/O. It is exact at the one state that At names. Fold takes it from there to
// the next, commit by commit; a caller that counts inside a bucket at another state corrects with Shift. A Builder
// makes an index out of counts taken at different states while the period changes. Overgrown lists the buckets that
// grew beyond twice the target, and Split cuts them; Compact merges small neighbours.
//
// An inconsistency (a count below zero, a total that differs from the log's, a wrong checksum) is ErrDamaged: the index
// must be built from scratch, since a missing rank is better than a wrong rank.
//
// # Files
//
// They read in layers; each uses only files above it and on its own line.
//
//	key.go, merge.go                    sort keys; runs of them, merged
//	number.go, histogram.go, passed.go  ranks of consecutive entries, a histogram, who was passed
//	index.go, fold.go, split.go         the bucket index, kept current and in shape
//	combined.go                         several periods as one
//	builder.go, image.go                an index out of counts, and its encoded form
package rank
