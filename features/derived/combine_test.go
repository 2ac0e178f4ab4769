package derived

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// TestCombine holds the aggregates against arithmetic without bounds.
func TestCombine(t *testing.T) {
	t.Parallel()
	score := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	weight := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64Range(-leaderboard.MaxWeight, leaderboard.MaxWeight),
		rapid.SampledFrom([]int64{-leaderboard.MaxWeight, leaderboard.MaxWeight}))
	one := rapid.Custom(func(t *rapid.T) share {
		return share{
			weight: weight.Draw(t, "weight"), score: score.Draw(t, "score"),
			created: leaderboard.Micros(rapid.Int64Range(0, 9).Draw(t, "created")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		d := leaderboard.Derive{
			Op:        rapid.SampledFrom([]leaderboard.DeriveOp{leaderboard.DeriveOpUnion, leaderboard.DeriveOpIntersect}).Draw(t, "op"),
			Aggregate: rapid.SampledFrom([]leaderboard.Aggregate{leaderboard.AggregateSum, leaderboard.AggregateMin, leaderboard.AggregateMax}).Draw(t, "aggregate"),
		}
		shares := rapid.SliceOfN(one, 0, leaderboard.MaxSources).Draw(t, "shares")
		sources := len(shares) + rapid.IntRange(0, 1).Draw(t, "missing")
		got, ok := combine(&d, "m", shares, sources)
		if want := len(shares) > 0 && (d.Op == leaderboard.DeriveOpUnion || len(shares) == sources); ok != want {
			t.Fatalf("a member of %d of %d sources is in: %t, %s", len(shares), sources, ok, d.Op)
		}
		if !ok {
			return
		}
		if want := naive(d.Aggregate, shares); got != want {
			t.Fatalf("%s of %+v is %+v, want %+v", d.Aggregate, shares, got, want)
		}
		slices.Reverse(shares)
		if again, _ := combine(&d, "m", shares, sources); again != got {
			t.Fatalf("another order of the shares gives %+v, not %+v", again, got)
		}
	})
}

// naive is combine for a member that is in.
func naive(aggregate leaderboard.Aggregate, shares []share) leaderboard.Entry {
	e := leaderboard.Entry{Member: "m"}
	value := func(p share) *big.Int { return new(big.Int).Mul(big.NewInt(p.weight), big.NewInt(p.score)) }
	total := new(big.Int)
	if aggregate == leaderboard.AggregateSum {
		allWeightless := !slices.ContainsFunc(shares, func(p share) bool { return p.weight != 0 })
		for _, p := range shares {
			total.Add(total, value(p))
			if p.weight != 0 || allWeightless {
				e.CreatedTime = max(e.CreatedTime, p.created)
			}
		}
	} else {
		sign := map[leaderboard.Aggregate]int{leaderboard.AggregateMin: 1, leaderboard.AggregateMax: -1}[aggregate]
		first := slices.MinFunc(shares, func(a, b share) int {
			if c := sign * value(a).Cmp(value(b)); c != 0 {
				return c
			}
			return int(a.created - b.created)
		})
		total, e.CreatedTime = value(first), first.created
	}
	switch {
	case total.IsInt64():
		e.Score = total.Int64()
	case total.Sign() < 0:
		e.Score = math.MinInt64
	default:
		e.Score = math.MaxInt64
	}
	return e
}
