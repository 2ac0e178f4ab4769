package store

import (
	"context"
	"database/sql"
	"fmt"

	"leaderboard"
)

const signBit = 1 << 63

// Distribution implements leaderboard.Rankings: buckets of one width, as many as fit. The two ends come from the index;
// the counts take a scan of the whole period, O(entries), cut off by the limit of time of a statement.
//
// Widths are unsigned: the greatest and the least int64 lie further apart than an int64 can say.
func (s *Store) Distribution(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	var out *leaderboard.Distribution
	err := s.view(ctx, ref, q.MinSeq, func(v *view) error {
		out = &leaderboard.Distribution{State: v.state}
		var least, most sql.NullInt64
		t := (&text{}).str("SELECT MIN(score), MAX(score) FROM entries FORCE INDEX (entries_order) WHERE period_id = ").int(ref.ID)
		if err := v.q.QueryRowContext(ctx, s.limited(t.String())).Scan(&least, &most); err != nil {
			return err
		}
		if !least.Valid {
			return nil // an empty period
		}
		a, _ := v.codec.Stored(least.Int64, 0)
		b, _ := v.codec.Stored(most.Int64, 0)
		out.Buckets = emptyBuckets(min(a, b), max(a, b), min(max(q.Buckets, 1), leaderboard.MaxBuckets))
		return v.fill(ctx, out.Buckets)
	})
	if err != nil {
		return nil, translate(ctx, "distribution", err)
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

// fill counts the entries of each bucket. score ^ sign bit turns the order of int64 into that of unsigned numbers, so
// that differences never overflow.
func (v *view) fill(ctx context.Context, buckets []leaderboard.Bucket) error {
	least, most := buckets[0].From, buckets[len(buckets)-1].To
	if len(buckets) == 1 {
		buckets[0].Count = v.state.Total
		return nil
	}
	width := uint64(buckets[1].From) - uint64(buckets[0].From)
	lo, _ := v.codec.Stored(least, 0)
	t := (&text{}).str("SELECT ")
	if v.ref.Rules.Order == leaderboard.Asc { // what is stored runs the other way
		t.str("(").uint(uint64(lo) ^ signBit).str(" - (score ^ ").uint(signBit).str("))")
	} else {
		t.str("((score ^ ").uint(signBit).str(") - ").uint(uint64(lo) ^ signBit).str(")")
	}
	t.str(" DIV ").uint(width).str(" AS bucket, COUNT(*) FROM entries FORCE INDEX (entries_order) WHERE period_id = ").int(v.ref.ID)
	t.str(" GROUP BY bucket LIMIT ").int(int64(len(buckets)))
	rows, err := v.q.QueryContext(ctx, v.store.limited(t.String()))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var i uint64
		var n int64
		if err := rows.Scan(&i, &n); err != nil {
			return err
		}
		if i >= uint64(len(buckets)) {
			return fmt.Errorf("bucket %d of the scores from %d to %d", i, least, most)
		}
		buckets[i].Count = n
	}
	return rows.Err()
}
