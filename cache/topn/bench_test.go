package topn

import (
	"fmt"
	"testing"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
)

// benchRig returns a period of n members with a copy.
func benchRig(b *testing.B, n, topN int) *rig {
	b.Helper()
	r := newRig(b, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = topN }), Options{})
	r.world.Fill(n)
	r.build(b)
	return r
}

// BenchmarkCopy: straight from the copy in Redis, one round trip each.
func BenchmarkCopy(b *testing.B) {
	r := benchRig(b, 20_000, 20_000)
	for _, limit := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint("page/", limit), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, _, err := r.copies.Page(b.Context(), r.ref, leaderboard.PageQuery{Limit: limit}); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
	for _, mode := range []leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied} {
		b.Run(fmt.Sprint("member/", mode), func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				i := 0
				for pb.Next() {
					i = i%20_000 + 1
					q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: mode}, Members: []string{fmt.Sprint("m", i)}}
					if _, err := r.member(b.Context(), q); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
	for _, at := range []int{100, 1000, 10_000} { // counted through in Redis
		b.Run(fmt.Sprint("member/dense/", at), func(b *testing.B) {
			q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeDense}, Members: []string{fmt.Sprint("m", at)}}
			for b.Loop() {
				if _, err := r.member(b.Context(), q); err != nil {
					b.Error(err)
				}
			}
		})
	}
}

// BenchmarkApply: a commit written through: one change, and a batch.
func BenchmarkApply(b *testing.B) {
	for _, changes := range []int{1, 500} {
		b.Run(fmt.Sprint(changes), func(b *testing.B) {
			r := benchRig(b, 2000, 1000)
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				var sets []cachetest.Edit
				for j := range changes {
					sets = append(sets, cachetest.Put(fmt.Sprint("m", (i+j)%2000+1), int64((i*7919+j*104729)%100_003)))
				}
				c := r.world.Commit(sets...)
				b.StartTimer()
				if effect := r.apply(b, c); effect != EffectApplied {
					b.Fatal(effect)
				}
			}
		})
	}
}

// BenchmarkBuild: a full rebuild, without the time that MySQL takes.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := benchRig(b, n, n)
			for b.Loop() {
				r.build(b)
			}
		})
	}
}
