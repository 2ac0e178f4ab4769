package cache

import (
	"cmp"
	"slices"

	"leaderboard"
	"leaderboard/rank"
)

// place is where one member stands.
type place struct {
	key   rank.Key
	ranks rank.Ranks
}

// standings are the places, best first.
func standings(codec rank.Codec, mode leaderboard.Mode, places []place) ([]leaderboard.Standing, error) {
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.key, b.key) })
	out := make([]leaderboard.Standing, len(places))
	for i, p := range places {
		e, err := codec.Entry(p.key)
		if err != nil {
			return nil, err
		}
		out[i] = leaderboard.Standing{Ranked: leaderboard.Ranked{Rank: p.ranks.In(mode), Entry: e}, Tied: p.ranks.Tied}
	}
	return out, nil
}
