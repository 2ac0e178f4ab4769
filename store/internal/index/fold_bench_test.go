package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"leaderboard/internal/entries"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// BenchmarkIndexFold reads commits of 500 changes as the log has them and folds them into an index of 40,000 buckets,
// enough for ten million entries.
func BenchmarkIndexFold(b *testing.B) {
	const buckets, perCommit, members = 40_000, 500, 200_000
	rng := rand.New(rand.NewPCG(1, 1))
	anyEntry := func(member int) leaderboard.Entry {
		return leaderboard.Entry{
			Member: fmt.Sprintf("player-%07d", member), Score: rng.Int64N(1e9),
			CreatedTime: leaderboard.Micros(1_750_000_000_000_000 + rng.Int64N(1e12)),
		}
	}
	all, keys := make([]leaderboard.Entry, members), make([]rank.Key, members)
	for i := range all {
		all[i] = anyEntry(i)
		keys[i] = rank.Codec{}.Key(all[i])
	}
	slices.Sort(keys)
	builder, state := rank.NewBuilder(members/buckets), rank.State{Revision: leaderboard.Revision{AsOf: 1}, Total: members}
	for i := range buckets {
		to := rank.Key("")
		if i < buckets-1 {
			to = keys[(i+1)*members/buckets]
		}
		if err := builder.Append(state, to, members/buckets); err != nil {
			b.Fatal(err)
		}
	}
	index, err := builder.Finish()
	if err != nil {
		b.Fatal(err)
	}
	t := newTracker(leaderboard.PeriodRef{}, index, 0)
	rules := leaderboard.Rules{}.WithDefaults()
	seq := int64(0)
	b.ResetTimer()
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		c := leaderboard.Commit{
			FirstSeq: seq + 1, LastSeq: seq + perCommit, PrevCommittedAt: leaderboard.Micros(seq + 1),
			CommittedAt: leaderboard.Micros(seq + perCommit + 1), EntryCount: members,
		}
		var changes []leaderboard.Change
		for range perCommit {
			at := rng.IntN(members)
			old, next := all[at], anyEntry(at)
			all[at] = next
			changes = append(changes, leaderboard.Change{Member: next.Member, Old: &old, New: &next})
		}
		payload := entries.EncodeChanges(nil, &rules, changes)
		seq += perCommit
		b.StartTimer()
		if c.Changes, err = entries.DecodeStored(payload, c.FirstSeq, c.LastSeq); err != nil {
			b.Fatal(err)
		}
		if err := t.fold(step{commit: &c}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*perCommit/b.Elapsed().Seconds(), "changes/s")
}
