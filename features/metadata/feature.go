package metadata

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"leaderboard/features"
	"leaderboard/store"
)

// Feature returns the feature of the folder.
func Feature() features.Feature {
	known := newKnown()
	part := Part{known}
	return features.Feature{Name: "metadata", Part: part, Open: func(e *features.Engine) features.Opened {
		s := NewStore(e.DB, e.Alone)
		s.known = known
		return features.Opened{
			Sweep: []store.Job{{Name: "sweep metadata", Run: func(ctx context.Context, slice store.Slice) (bool, error) {
				return emptied(ctx, e.Sweeper, slice)
			}}},
			ForgetAfter: forget,
			Metrics:     []prometheus.Collector{s.asked.all, s.known.metric()},
			Offers:      []any{s, Show{s, e.Rankings}, part},
		}
	}}
}
