package read

import (
	"context"

	"leaderboard"
	"leaderboard/rank"
)

// probesOf returns the places to count for the ranks of entries, whose keys are in order: of each group of tied entries
// the prefix, and the entries.
func probesOf(keys []rank.Key) []rank.Key {
	probes := make([]rank.Key, 0, 2*len(keys))
	for i, k := range keys {
		if i == 0 || !rank.Tied(keys[i-1], k) {
			probes = append(probes, k.Prefix())
		}
		probes = append(probes, k)
	}
	return probes
}

// ranks returns the ranks of entries in order.
func (v *view) ranks(ctx context.Context, keys []rank.Key, mode leaderboard.Mode, c *counted) ([]leaderboard.Ranks, error) {
	ranks := make([]leaderboard.Ranks, len(keys))
	var groups []rank.Key
	var better []int64 // than each group
	for i, k := range keys {
		if i == 0 || !rank.Tied(keys[i-1], k) {
			groups, better = append(groups, k.Prefix()), append(better, c.before(k.Prefix()))
		}
		ranks[i] = leaderboard.Ranks{Strict: c.before(k) + 1, Tied: better[len(better)-1] + 1}
	}
	if !mode.WithDense() || len(groups) == 0 {
		return ranks, nil
	}
	dense, err := v.dense(ctx, mode, groups, better)
	if err != nil {
		return nil, err
	}
	group := 0
	for i := range ranks {
		if i > 0 && !rank.Tied(keys[i-1], keys[i]) {
			group++
		}
		ranks[i].Dense = dense[group]
	}
	return ranks, nil
}
