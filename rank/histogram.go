package rank

import (
	"slices"

	"leaderboard/leaderboard"
)

// Histogram cuts the scores of a period into buckets of one width, as many as fit; the last may be narrower. The count
// of a bucket is the number of entries ahead of its end less those ahead of its beginning, so it takes one rank at each
// edge between two. Outliers would leave one bucket for all other entries, so they share one bucket at their end,
// however wide, if some of them are far out.
//
// Widths are unsigned: the greatest and the least int64 lie further apart than an int64 can hold.
type Histogram struct {
	codec   Codec
	buckets []leaderboard.Bucket // in ascending order of score
}

const (
	// minCut is the least number of buckets at which outliers get their own.
	minCut = 4
	// farOut is how far out the furthest outlier must be, in multiples of the spread of the other entries.
	farOut = 4
)

// HistogramPlaces returns the places, from 0, best first, of the entries whose scores NewHistogram takes: the first,
// the last, and the two that bound the possible outliers.
func HistogramPlaces(total int64) [4]int64 {
	beyond := max(total/100, min(total/4, 3))
	return [4]int64{0, beyond, total - 1 - beyond, total - 1}
}

// NewHistogram cuts the scores of a period into at most n buckets. scores are the scores of the entries at
// HistogramPlaces.
func NewHistogram(codec Codec, scores [4]int64, n int) *Histogram {
	h := &Histogram{codec: codec}
	slices.Sort(scores[:])
	least, most := scores[0], scores[3]
	n = min(max(n, 1), leaderboard.MaxBuckets)
	low, high, others := least, most, distance(scores[1], scores[2])
	if n >= minCut && distance(least, most) >= uint64(n) {
		if distance(least, scores[1])/farOut > others {
			low = int64(uint64(scores[1]) - others)
			h.buckets = append(h.buckets, leaderboard.Bucket{From: least, To: low - 1})
		}
		if distance(scores[2], most)/farOut > others {
			high = int64(uint64(scores[2]) + others)
			n--
		}
	}
	h.cut(low, high, n-len(h.buckets))
	if high < most {
		h.buckets = append(h.buckets, leaderboard.Bucket{From: high + 1, To: most})
	}
	return h
}

// cut adds at most n buckets of one width.
func (h *Histogram) cut(least, most int64, n int) {
	if n == 1 {
		h.buckets = append(h.buckets, leaderboard.Bucket{From: least, To: most})
		return
	}
	span := distance(least, most)
	width := span/uint64(n) + 1
	for i := range span/width + 1 {
		from := uint64(least) + i*width
		h.buckets = append(h.buckets, leaderboard.Bucket{From: int64(from), To: int64(from + width - 1)})
	}
	h.buckets[len(h.buckets)-1].To = most
}

// distance returns how much greater b is than a.
func distance(a, b int64) uint64 { return uint64(b) - uint64(a) }

// best returns the bucket with the best scores for 0, and so on.
func (h *Histogram) best(i int) *leaderboard.Bucket {
	if h.codec.score != 0 { // less is better
		return &h.buckets[i]
	}
	return &h.buckets[len(h.buckets)-1-i]
}

// Edges returns the beginnings of the keys at the edges between two buckets, best first: the best score of each bucket
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

// Buckets returns the buckets, given the number of entries ahead of each edge and the total.
func (h *Histogram) Buckets(ahead []int64, total int64) []leaderboard.Bucket {
	last := int64(0)
	for i, n := range ahead {
		h.best(i).Count, last = n-last, n
	}
	h.best(len(ahead)).Count = total - last
	return h.buckets
}
