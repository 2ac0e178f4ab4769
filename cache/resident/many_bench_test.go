package resident

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"leaderboard/leaderboard"
)

// BenchmarkMany asks for the best ten of some members of a million.
func BenchmarkMany(b *testing.B) {
	p, members := benchPeriod(b, 1_000_000)
	for name, n := range map[string]int{"10": 10, "500": 500} {
		b.Run(name, func(b *testing.B) {
			queries := make([]leaderboard.MembersQuery, 5000/n)
			for i := range queries {
				queries[i].Limit = 10
				for range n {
					queries[i].Members = append(queries[i].Members, strings.Clone(members[rand.IntN(len(members))]))
				}
				slices.Sort(queries[i].Members)
				queries[i].Members = slices.Compact(queries[i].Members)
			}
			for i := 0; b.Loop(); i++ {
				if _, err := p.Members(queries[i%len(queries)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
