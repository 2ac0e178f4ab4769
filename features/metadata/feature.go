package metadata

import (
	"context"

	"leaderboard/features"
	"leaderboard/store"
)

// Feature returns what the folder registers.
func Feature() features.Feature {
	return features.Feature{Name: "metadata", Part: Part{}, Open: func(e *features.Engine) features.Opened {
		s := NewStore(e.DB, e.Alone)
		return features.Opened{
			Sweep: []store.Job{{Name: "sweep metadata", Run: func(ctx context.Context, slice store.Slice) (bool, error) {
				return emptied(ctx, e.Sweeper, slice)
			}}},
			ForgetAfter: forget,
			Offers:      []any{s, Show{s, e.Rankings}},
		}
	}}
}
