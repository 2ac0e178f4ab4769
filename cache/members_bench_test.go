package cache

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"leaderboard/cache/cachetest"
	"leaderboard/cache/topn"
	"leaderboard/leaderboard"
)

// BenchmarkMembers looks random members of a copy up, 32 at a time, as the HTTP server does. It reports how many
// scripts, each a round trip to Redis, one look-up takes.
func BenchmarkMembers(b *testing.B) {
	const members = 10_000
	w := cachetest.NewWorld(7, cachetest.Rules(func(r *leaderboard.Rules) { r.TopN = members }))
	client := newClient(b)
	calls := &scriptCalls{}
	client.AddHook(calls)
	rig := &rig{client, w, topn.New(client, w, topn.Options{}), w.Ref}
	rig.world.Fill(members)
	rig.build(b)
	names := make([]string, members)
	for i := range names {
		names[i] = fmt.Sprint("m", 1+i)
	}
	for _, ttl := range []time.Duration{time.Nanosecond, 100 * time.Millisecond} {
		b.Run("kept for "+ttl.String(), func(b *testing.B) {
			r := NewReader(rig.copies, &worldDatabase{World: w}, ReaderOptions{FreshFor: ttl})
			b.SetParallelism(16)
			b.ReportAllocs()
			calls.n.Store(0)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					q := leaderboard.MembersQuery{Members: []string{names[rand.IntN(members)]}}
					s, err := r.Members(b.Context(), w.Ref, q)
					if err != nil || len(s.Entries) != 1 {
						b.Errorf("%+v, %v", s, err)
						return
					}
				}
			})
			b.ReportMetric(float64(calls.n.Load())/float64(b.N), "scripts/op")
		})
	}
}
