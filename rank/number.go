package rank

import "leaderboard"

// Ranks are the ranks of one entry in every mode, each counted from 1.
type Ranks struct {
	Strict int64 // 1 + entries ordered before it
	Tied   int64 // 1 + entries with a better (score, tiebreak)
	Dense  int64 // 1 + better distinct (score, tiebreak); may be left 0 by who numbers in another mode
}

// Top returns the ranks of the best entry of a period.
func Top() Ranks { return Ranks{Strict: 1, Tied: 1, Dense: 1} }

// Next returns the ranks of the entry with key next, given that r are those of the entry right before it, whose key is
// cur.
func (r Ranks) Next(cur, next Key) Ranks {
	r.Strict++
	if !Tied(cur, next) {
		r.Tied = r.Strict
		r.Dense++
	}
	return r
}

// In returns the rank in one mode.
func (r Ranks) In(mode leaderboard.Mode) int64 {
	switch mode {
	case leaderboard.ModeTied:
		return r.Tied
	case leaderboard.ModeDense:
		return r.Dense
	default:
		return r.Strict
	}
}

// Number gives the entries of a run their ranks in one mode. keys are the keys of consecutive entries of a period, best
// first; first are the ranks of keys[0], of which Strict and the one of the mode must be true. The result has one rank
// per key.
func Number(mode leaderboard.Mode, first Ranks, keys []Key) []int64 {
	out := make([]int64, len(keys))
	r := first
	for i, k := range keys {
		if i > 0 {
			r = r.Next(keys[i-1], k)
		}
		out[i] = r.In(mode)
	}
	return out
}

// StartAround returns the number of entries ahead of the page around an entry that has so many ahead of it, out of
// total.
func StartAround(q leaderboard.PageQuery, ahead, total int64) int64 {
	return max(0, min(ahead-int64(max(q.Before, 0)), total-int64(q.Limit)))
}
