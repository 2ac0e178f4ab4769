package rank

import "leaderboard"

// Histogram cuts the scores of a period into buckets of one width, as many as fit; the last may be narrower. A bucket
// has the entries ahead of its end less those ahead of its beginning, so it takes one rank at each edge between two.
//
// Widths are unsigned: the greatest and the least int64 lie further apart than an int64 can say.
type Histogram struct {
	codec   Codec
	buckets []leaderboard.Bucket // in ascending order of score
}

// NewHistogram cuts the scores between those of the first and the last entry into at most n buckets.
func NewHistogram(codec Codec, first, last int64, n int) *Histogram {
	h := &Histogram{codec: codec}
	least, most := min(first, last), max(first, last)
	n = min(max(n, 1), leaderboard.MaxBuckets)
	if n == 1 {
		h.buckets = []leaderboard.Bucket{{From: least, To: most}}
		return h
	}
	span := uint64(most) - uint64(least)
	width := span/uint64(n) + 1
	h.buckets = make([]leaderboard.Bucket, span/width+1)
	for i := range h.buckets {
		from := uint64(least) + uint64(i)*width
		h.buckets[i] = leaderboard.Bucket{From: int64(from), To: int64(from + width - 1)}
	}
	h.buckets[len(h.buckets)-1].To = most
	return h
}

// best returns the bucket with the best scores for 0, and so on.
func (h *Histogram) best(i int) *leaderboard.Bucket {
	if h.codec.score != 0 { // less is better
		return &h.buckets[i]
	}
	return &h.buckets[len(h.buckets)-1-i]
}

// Edges returns what the keys at the edges between two buckets begin with, best first: the best score of each bucket
// but the first.
func (h *Histogram) Edges() []Key {
	edges := make([]Key, len(h.buckets)-1)
	for i := range edges {
		b := h.best(i + 1)
		score := b.To
		if h.codec.score != 0 {
			score = b.From
		}
		edges[i] = h.codec.Prefix(score, 0)[:ScoreLen]
	}
	return edges
}

// Buckets returns the buckets, given the number of entries ahead of each edge and of all.
func (h *Histogram) Buckets(ahead []int64, total int64) []leaderboard.Bucket {
	last := int64(0)
	for i, n := range ahead {
		h.best(i).Count, last = n-last, n
	}
	h.best(len(ahead)).Count = total - last
	return h.buckets
}
