package rank

import "leaderboard"

// Top returns the ranks of the best entry of a period.
func Top() leaderboard.Ranks { return leaderboard.Ranks{Strict: 1, Tied: 1, Dense: 1} }

// Number gives the entries of a run their ranks. keys are the keys of consecutive entries of a period, best first;
// first are the ranks of keys[0]. The result has the ranks of each key, dense ones only when first has one.
func Number(first leaderboard.Ranks, keys []Key) []leaderboard.Ranks {
	out := make([]leaderboard.Ranks, len(keys))
	for i := range keys {
		if i > 0 {
			first = first.Next(Tied(keys[i-1], keys[i]))
		}
		out[i] = first
	}
	return out
}

// StartAround returns the number of entries ahead of the page around an entry that has so many ahead of it, out of
// total.
func StartAround(q leaderboard.PageQuery, ahead, total int64) int64 {
	return max(0, min(ahead-int64(max(q.Before, 0)), total-int64(q.Limit)))
}
