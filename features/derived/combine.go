package derived

import (
	"math"
	"math/bits"

	"leaderboard/leaderboard"
)

// share is a member's entry in one source, with the weight of the source.
type share struct {
	weight, score int64
	created       leaderboard.Micros
}

// combine computes the entry of a derived board from the shares that a member has in its sources; sources is the number
// of sources. ok is false when the member is not on the board. It is pure and does not depend on the order of the shares,
// so the entries of a derived board are a function of the entries of its sources.
//
// The score is the aggregate of weight × score, exact: it is computed in 128 bits, which MaxSources times MaxWeight
// times any score cannot fill, and a result beyond int64 is the nearest int64. A share with weight 0 counts as 0, and
// still makes the member a member. The created_time is when this score was reached. For a sum it is the latest time
// among the shares with a weight (among all shares if no share has a weight); for a minimum or maximum, the earliest time
// among the shares with that score.
func combine(d *leaderboard.Derive, member string, shares []share, sources int) (e leaderboard.Entry, ok bool) {
	if len(shares) == 0 || (d.Op == leaderboard.DeriveOpIntersect && len(shares) < sources) {
		return leaderboard.Entry{}, false
	}
	if d.Aggregate == leaderboard.AggregateSum {
		score, created := sumOf(shares)
		return leaderboard.Entry{Member: member, Score: score, CreatedTime: created}, true
	}
	best, created := product(shares[0].weight, shares[0].score), shares[0].created
	for _, s := range shares[1:] {
		v := product(s.weight, s.score)
		switch c := v.compare(best); {
		case c == 0:
			created = min(created, s.created)
		case (c > 0) == (d.Aggregate == leaderboard.AggregateMax):
			best, created = v, s.created
		}
	}
	return leaderboard.Entry{Member: member, Score: best.clamped(), CreatedTime: created}, true
}

func sumOf(shares []share) (int64, leaderboard.Micros) {
	var (
		total               int128
		weighed, weightless leaderboard.Micros
		any                 bool
	)
	for _, s := range shares {
		weightless = max(weightless, s.created)
		if s.weight != 0 {
			weighed, any = max(weighed, s.created), true
			total = total.plus(product(s.weight, s.score))
		}
	}
	if !any {
		weighed = weightless
	}
	return total.clamped(), weighed
}

// int128 is a number in two's complement.
type int128 struct {
	hi int64
	lo uint64
}

func product(a, b int64) int128 {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// The product of the bit patterns counts a sign bit as 2^63 instead of -2^63, twice 2^63 too much.
	return int128{int64(hi) - (a>>63)&b - (b>>63)&a, lo}
}

func (x int128) plus(y int128) int128 {
	lo, carry := bits.Add64(x.lo, y.lo, 0)
	return int128{x.hi + y.hi + int64(carry), lo}
}

func (x int128) compare(y int128) int {
	switch {
	case x == y:
		return 0
	case x.hi < y.hi || (x.hi == y.hi && x.lo < y.lo):
		return -1
	default:
		return 1
	}
}

// clamped returns the nearest int64.
func (x int128) clamped() int64 {
	switch {
	case x.hi == upper(x.lo):
		return int64(x.lo)
	case x.hi < 0:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

// upper returns the upper half of a number whose lower half is lo, when it fits into an int64.
func upper(lo uint64) int64 { return int64(lo) >> 63 }
