package cache

import (
	"testing"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
)

// BenchmarkReaderLocal: a page and a member out of the memory of the process.
func BenchmarkReaderLocal(b *testing.B) {
	r := newRig(b, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = 1000 }), topn.Options{})
	r.world.Fill(1000)
	r.build(b)
	reader := NewReader(r.copies, &worldDatabase{World: r.world}, ReaderOptions{FreshFor: time.Hour})
	b.Run("page", func(b *testing.B) {
		q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: 100}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := reader.Page(b.Context(), r.ref, q); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("member", func(b *testing.B) {
		q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Members: []string{"m500"}}
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := reader.Members(b.Context(), r.ref, q); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
