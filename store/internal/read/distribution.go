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
	err := s.read(ctx, ref, func(v *view) error {
		if _, err := v.look(ctx, nil); err != nil {
			return err
		}
		if v.state.Seq < q.MinSeq {
			return seqAhead(v.state.Seq, q.MinSeq)
		}
		ends, err := entries.ReadParts(ctx, v.reader.db, v.q, []entries.Part{
			{Scan: entries.Scan{Range: entries.Everything(), Limit: 1}, PeriodID: ref.ID},
			{Scan: entries.Scan{Range: entries.Everything(), Limit: 1, Last: true}, PeriodID: ref.ID},
		}, func() {})
		if err != nil {
			return err
		}
		out = &leaderboard.Distribution{State: v.state}
		if len(ends[0]) == 0 {
			return nil // an empty period
		}
		best, err := v.codec.Entry(ends[0][0])
		if err != nil {
			return err
		}
		worst, err := v.codec.Entry(ends[1][0])
		if err != nil {
			return err
		}
		h := rank.NewHistogram(v.codec, best.Score, worst.Score, q.Buckets)
		c, err := v.count(ctx, h.Edges(), true)
		if err != nil {
			return err
		}
		out.Buckets = h.Buckets(c.ahead, v.state.Total)
		return nil
	})
	if err != nil {
		return nil, db.Translate(ctx, "distribution", err)
	}
	return out, nil
}
