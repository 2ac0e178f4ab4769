package rank

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

const (
	benchBuckets = 64 << 10 // about 100 million entries
	usualTarget  = 1500     // entries per bucket
)

// benchEntries are random entries; equal: all with the same score, so that only time and member differ.
func benchEntries(n int, equal bool) []leaderboard.Entry {
	rng := rand.New(rand.NewPCG(1, 2))
	entries := make([]leaderboard.Entry, n)
	for i := range entries {
		entries[i] = leaderboard.Entry{
			Member:      fmt.Sprintf("player-%08d", rng.IntN(1e8)),
			Score:       rng.Int64N(1e9),
			CreatedTime: leaderboard.Micros(1534429870000000 + rng.Int64N(1e13)),
		}
		if equal {
			entries[i].Score = 1000
		}
	}
	return entries
}

func benchIndex(tb testing.TB, equal bool) *Index {
	tb.Helper()
	keys := sortedKeys(Codec{}, benchEntries(benchBuckets-1, equal))
	b := NewBuilder(usualTarget)
	at := State{Revision: leaderboard.Revision{Seq: 1}, Total: benchBuckets * usualTarget}
	for _, k := range append(slices.CompactFunc(keys, func(a, b Key) bool { return a == b }), "") {
		if err := b.Append(at, k, usualTarget); err != nil {
			tb.Fatal(err)
		}
	}
	x, err := b.Finish()
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// eachKind runs a benchmark over an index of scores that differ and one of scores that are all equal.
func eachKind(b *testing.B, bench func(b *testing.B, x *Index, entries []leaderboard.Entry)) {
	for _, equal := range []bool{false, true} {
		b.Run(fmt.Sprintf("equal=%t", equal), func(b *testing.B) {
			b.ReportAllocs()
			bench(b, benchIndex(b, equal), benchEntries(1<<17, equal))
		})
	}
}

func BenchmarkIndexFind(b *testing.B) {
	eachKind(b, func(b *testing.B, x *Index, entries []leaderboard.Entry) {
		keys := make([]Key, len(entries))
		for i, e := range entries {
			keys[i] = Codec{}.Key(e)
		}
		var i int
		for b.Loop() {
			if s := x.Find(keys[i%len(keys)]); s.Count == 0 {
				b.Fatal("empty bucket")
			}
			i++
		}
	})
}

func BenchmarkIndexNth(b *testing.B) {
	x := benchIndex(b, false)
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		if _, ok := x.Nth(rng.Int64N(x.At().Total)); !ok {
			b.Fatal("not found")
		}
	}
}

// BenchmarkIndexFold moves entries, in commits of 500 changes as the writer makes them, to a random place and back.
func BenchmarkIndexFold(b *testing.B) {
	eachKind(b, func(b *testing.B, x *Index, entries []leaderboard.Entry) {
		commits := benchCommits(entries, x.At().Total)
		var folded int
		for b.Loop() {
			c := commits[folded%len(commits)]
			c.FirstSeq, c.LastSeq = x.At().Seq+1, x.At().Seq+500
			if err := x.Fold(Codec{}, &c); err != nil {
				b.Fatal(err)
			}
			folded++
		}
		b.ReportMetric(float64(folded)*500/b.Elapsed().Seconds(), "changes/s")
	})
}

// benchCommits are moves between entries, and then the same backwards.
func benchCommits(entries []leaderboard.Entry, total int64) []leaderboard.Commit {
	var out []leaderboard.Commit
	for half := range slices.Chunk(entries, 1000) {
		if len(half) < 1000 {
			break
		}
		there, back := leaderboard.Commit{EntryCount: total}, leaderboard.Commit{EntryCount: total}
		for i := range 500 {
			from, to := &half[i], &half[500+i]
			there.Changes = append(there.Changes, leaderboard.Change{Old: from, New: to})
			back.Changes = append(back.Changes, leaderboard.Change{Old: to, New: from})
		}
		out = append(out, there, back)
	}
	return out
}

func BenchmarkIndexSplit(b *testing.B) {
	entries := benchEntries(1<<17, false)
	slices.SortFunc(entries, func(a, b leaderboard.Entry) int { return cmp.Compare(b.Score, a.Score) })
	x := benchIndex(b, false)
	for b.Loop() {
		y := *x // Split makes new slices, so x does not change
		if err := y.Split(1, []Cut{{At: Codec{}.Key(entries[len(entries)/2]), Left: usualTarget / 2}}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndexDecode(b *testing.B) {
	eachKind(b, func(b *testing.B, x *Index, _ []leaderboard.Entry) {
		data, err := x.AppendBinary(nil)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := Decode(data); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(len(data))/float64(x.Len()), "encoded-B/bucket")
	})
}

func BenchmarkIndexEncode(b *testing.B) {
	x := benchIndex(b, false)
	var data []byte
	for b.Loop() {
		var err error
		if data, err = x.AppendBinary(data[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIndexMemory reports the memory of a loaded index per bucket, boundaries included.
func BenchmarkIndexMemory(b *testing.B) {
	eachKind(b, func(b *testing.B, x *Index, _ []leaderboard.Entry) {
		data, err := x.AppendBinary(nil)
		if err != nil {
			b.Fatal(err)
		}
		var held float64
		for b.Loop() {
			before := heap()
			loaded, err := Decode(data)
			if err != nil {
				b.Fatal(err)
			}
			held = float64(heap() - before)
			runtime.KeepAlive(loaded)
		}
		b.ReportMetric(held/benchBuckets, "held-B/bucket")
	})
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
