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
)

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
