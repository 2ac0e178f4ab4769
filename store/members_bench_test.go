package store_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest/dbtest"
)

// BenchmarkFriends reads the best ten of many members and the place of one, from MySQL alone.
func BenchmarkFriends(b *testing.B) {
	s := open(b, testenv.MySQL(b), nil)
	ref := dbtest.MakeBoard(b, s, "friends", leaderboard.Rules{})
	const members = 50_000
	for from := 0; from < members; from += 500 {
		r := leaderboard.SubmitRequest{Board: ref.Board}
		for i := range 500 {
			r.Entries = append(r.Entries, leaderboard.Submission{Member: fmt.Sprint("m", from+i), Score: rand.Int64N(members)})
		}
		if _, err := s.Writer.Submit(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	for _, friends := range []int{10, 500, leaderboard.MaxFriends} {
		b.Run(fmt.Sprint(friends), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q := leaderboard.MembersQuery{Limit: 10}
				seen := map[int]bool{}
				for len(q.Members) <= friends {
					if n := rand.IntN(members); !seen[n] {
						seen[n] = true
						q.Members = append(q.Members, fmt.Sprint("m", n))
					}
				}
				q.Self = q.Members[0]
				if out, err := s.Entries.Members(b.Context(), ref, q); err != nil || len(out.Entries) != 10 || out.Self == nil {
					b.Fatalf("%+v, %v", out, err)
				}
			}
		})
	}
}
