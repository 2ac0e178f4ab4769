package read

import (
	"context"
	"fmt"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Distribution implements leaderboard.Rankings: four entries give the quantiles, and each edge of the histogram
// takes one count inside a bucket of the rank index.
func (s *Reader) Distribution(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.DistributionQuery) (*leaderboard.Distribution, error) {
	var out *leaderboard.Distribution
	err := s.read(ctx, ref, func(v *view) error {
		if _, err := v.look(ctx, nil); err != nil {
			return err
		}
		if v.state.Seq < q.MinSeq {
			return seqAhead(v.state.Seq, q.MinSeq)
		}
		out = &leaderboard.Distribution{State: v.state}
		if v.state.Total == 0 {
			return nil
		}
		scores, err := v.scores(ctx, rank.HistogramPlaces(v.state.Total))
		if err != nil {
			return err
		}
		h := rank.NewHistogram(v.codec, scores, q.Buckets)
		c, err := v.count(ctx, h.Edges(), true)
		if err != nil {
			return err
		}
		out.Buckets = h.Buckets(c.ahead, v.state.Total)
		return nil
	})
	if err != nil {
		return nil, mysql.Translate(ctx, "distribution", err)
	}
	return out, nil
}

// scores returns the scores of the entries at places from 0.
func (v *view) scores(ctx context.Context, places [4]int64) (scores [4]int64, err error) {
	stretches := make([]*stretch, len(places))
	for i, place := range places {
		stretches[i] = &stretch{view: v, start: place, limit: 1}
	}
	if err := fill(ctx, stretches, false); err != nil {
		return scores, err
	}
	for i, s := range stretches {
		if len(s.keys) == 0 {
			return scores, fmt.Errorf("%w: no entry number %d, there are %d", rank.ErrDamaged, s.start, v.state.Total)
		}
		e, err := v.codec.Entry(s.keys[0])
		if err != nil {
			return scores, err
		}
		scores[i] = e.Score
	}
	return scores, nil
}
