package read

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// Distribution implements leaderboard.Rankings: buckets of one width, as many as fit. The ends are the first and the last
// entry, and a bucket has the entries ahead of its end less those ahead of its beginning: each takes one count inside a
// bucket of the rank index.
//
// Widths are unsigned: the greatest and the least int64 lie further apart than an int64 can say.
func (s *Reader) Distribution(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	var out *leaderboard.Distribution
	err := s.read(ctx, ref, q.MinSeq, func(v *view) error {
		r, err := v.query(ctx, entries.Query{Scans: []entries.Scan{
			{Range: entries.Everything(), Limit: 1}, {Range: entries.Everything(), Limit: 1, Last: true},
		}})
		if err != nil {
			return err
		}
		out = &leaderboard.Distribution{State: v.state}
		if len(r.Keys[0]) == 0 {
			return nil // an empty period
		}
		best, err := v.codec.Entry(r.Keys[0][0])
		if err != nil {
			return err
		}
		worst, err := v.codec.Entry(r.Keys[1][0])
		if err != nil {
			return err
		}
		n := min(max(q.Buckets, 1), leaderboard.MaxBuckets)
		out.Buckets = emptyBuckets(min(best.Score, worst.Score), max(best.Score, worst.Score), n)
		return v.fill(ctx, out.Buckets)
	})
	if err != nil {
		return nil, db.Translate(ctx, "distribution", err)
	}
	return out, nil
}

// emptyBuckets cuts the scores from least to most into at most n buckets of one width; the last may be narrower.
func emptyBuckets(least, most int64, n int) []leaderboard.Bucket {
	span := uint64(most) - uint64(least)
	if n <= 1 {
		return []leaderboard.Bucket{{From: least, To: most}}
	}
	width := span/uint64(n) + 1
	buckets := make([]leaderboard.Bucket, span/width+1)
	for i := range buckets {
		from := uint64(least) + uint64(i)*width
		buckets[i] = leaderboard.Bucket{From: int64(from), To: int64(from + width - 1)}
	}
	buckets[len(buckets)-1].To = most
	return buckets
}

// fill counts the entries of each bucket.
func (v *view) fill(ctx context.Context, buckets []leaderboard.Bucket) error {
	asc := v.ref.Rules.Order == leaderboard.OrderAsc
	best := func(i int) *leaderboard.Bucket { // the bucket with the best scores is number 0
		if asc {
			return &buckets[i]
		}
		return &buckets[len(buckets)-1-i]
	}
	edges := make([]rank.Key, len(buckets)-1) // the best score of each bucket but the first
	for i := range edges {
		b := best(i + 1)
		score := b.To
		if asc {
			score = b.From
		}
		edges[i] = v.codec.Prefix(score, 0)[:entries.ScoreLen]
	}
	ahead, err := v.before(ctx, edges)
	if err != nil {
		return err
	}
	last := int64(0)
	for i, n := range append(ahead, v.state.Total) {
		best(i).Count = n - last
		last = n
	}
	return nil
}
