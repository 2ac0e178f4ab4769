package read

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// Distribution implements leaderboard.Rankings: the ends are the first and the last entry, and each edge of the
// histogram takes one count inside a bucket of the rank index.
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
		h := rank.NewHistogram(v.codec, best.Score, worst.Score, q.Buckets)
		ahead, err := v.before(ctx, h.Edges())
		if err != nil {
			return err
		}
		out.Buckets = h.Buckets(ahead, v.state.Total)
		return nil
	})
	if err != nil {
		return nil, db.Translate(ctx, "distribution", err)
	}
	return out, nil
}
