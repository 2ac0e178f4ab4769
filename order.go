package leaderboard

import (
	"math/bits"
)

// Order is a direction: which end of the int64 range is better.
type Order string

// OrderDesc: higher is better. OrderAsc: lower is better.
const (
	OrderDesc Order = "desc"
	OrderAsc  Order = "asc"
)

// Mode is the way in which ties are numbered.
type Mode string

const (
	// ModeStrict numbers 1,2,3,4: whoever got there first is ranked first.
	ModeStrict Mode = "strict"
	// ModeTied numbers 1,2,2,4: 1 + the number of entries with a better (score, tiebreak).
	ModeTied Mode = "tied"
	// ModeDense numbers 1,2,2,3: 1 + the number of better distinct (score, tiebreak).
	ModeDense Mode = "dense"
	// ModeAll is one of queries only, not of boards: the answer tells the ranks in all modes, dense ones where they are
	// known.
	ModeAll Mode = "all"
)

// WithDense says whether answers in this mode tell dense ranks.
func (m Mode) WithDense() bool { return m == ModeDense || m == ModeAll }

// Ranks are the ranks of one entry, each counted from 1.
type Ranks struct {
	Strict int64 // 1 + entries ordered before it
	Tied   int64 // 1 + entries with a better (score, tiebreak)
	Dense  int64 // 1 + better distinct (score, tiebreak); 0: not known
}

// Next returns the ranks of the entry right after the one that has r, with the same (score, tiebreak) or not.
func (r Ranks) Next(same bool) Ranks {
	r.Strict++
	if same {
		return r
	}
	r.Tied = r.Strict
	if r.Dense != 0 {
		r.Dense++
	}
	return r
}

// In returns the rank in the mode of a board.
func (r Ranks) In(mode Mode) int64 {
	switch mode {
	case ModeTied:
		return r.Tied
	case ModeDense:
		return r.Dense
	default:
		return r.Strict
	}
}

func compareIn(o Order, a, b int64) int {
	switch {
	case a == b:
		return 0
	case (a > b) == (o == OrderDesc):
		return -1
	default:
		return 1
	}
}

// Percentile returns the share of a period's entries, in per cent, that an entry with this tied rank is at least as
// good as, itself included: 100 for the best, 100/total for a single worst. Rounded down to four decimals.
func Percentile(tied, total int64) float64 {
	if total <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(total-tied+1), 1_000_000)
	q, _ := bits.Div64(hi, lo, uint64(total))
	return float64(q) / 10_000
}
