package rank_test

import (
	"cmp"
	"fmt"
	"slices"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Example shows how the parts go together. The slice of keys plays the database: it counts inside one bucket, the index
// knows the rest.
func Example() {
	var codec rank.Codec // descending
	var keys []rank.Key
	for i := range 10 {
		keys = append(keys, codec.Key(leaderboard.Entry{Member: fmt.Sprint("m", i), Score: int64(100 - 10*(i/2)), CreatedTime: leaderboard.Micros(i)}))
	}
	inside := func(from, to rank.Key) int64 {
		i, _ := slices.BinarySearch(keys, from)
		j, _ := slices.BinarySearch(keys, to)
		return int64(j - i)
	}

	// Build: buckets of 4 entries, all counted at seq 10.
	b, at := rank.NewBuilder(4), rank.State{Revision: leaderboard.Revision{Seq: 10, AsOf: 1}, Total: 10}
	for from, more := b.Next(); more; from, more = b.Next() {
		start, _ := slices.BinarySearch(keys, from)
		to, count := rank.Key(""), int64(len(keys)-start)
		if count > b.Target() {
			to, count = keys[start+int(b.Target())], b.Target()
		}
		if err := b.Append(at, to, count); err != nil {
			fmt.Println(err)
			return
		}
	}
	index, err := b.Finish()
	if err != nil {
		fmt.Println(err)
		return
	}

	m7 := keys[7]
	span := index.Find(m7)
	fmt.Println("strict rank of m7:", 1+span.Before+inside(span.From, m7))
	span = index.Find(m7.Prefix())
	fmt.Println("tied rank of m7:", 1+span.Before+inside(span.From, m7.Prefix()))
	span, _ = index.Nth(8)
	fmt.Printf("entry 9 is number %d of the %d in its bucket\n", 1+8-span.Before, span.Count)

	// A new best entry is committed.
	best := leaderboard.Entry{Member: "new", Score: 200, CreatedTime: 11}
	commit := leaderboard.Commit{
		FirstSeq: 11, LastSeq: 11, PrevCommittedAt: 1, CommittedAt: 2, EntryCount: 11,
		Changes: []leaderboard.Change{{Seq: 11, Member: "new", New: &best}},
	}
	if err := index.Fold(codec, &commit); err != nil {
		fmt.Println(err)
		return
	}
	keys = slices.Insert(keys, 0, codec.Key(best))
	span = index.Find(m7)
	fmt.Println("strict rank of m7 at seq", index.At().Seq, "is", 1+span.Before+inside(span.From, m7))
	// Output:
	// strict rank of m7: 8
	// tied rank of m7: 7
	// entry 9 is number 1 of the 2 in its bucket
	// strict rank of m7 at seq 11 is 9
}

func ExampleCodec_Key() {
	points, laps := rank.Codec{}, rank.CodecOf(&leaderboard.Rules{Order: leaderboard.OrderAsc})
	low, high := leaderboard.Entry{Member: "ada", Score: 60}, leaderboard.Entry{Member: "bob", Score: 90}
	fmt.Println(points.Key(high) < points.Key(low), laps.Key(low) < laps.Key(high))
	entry, err := points.Entry(points.Key(high))
	fmt.Println(entry.Member, entry.Score, err)
	// Output:
	// true true
	// bob 90 <nil>
}

func ExampleNumber() {
	var codec rank.Codec
	var keys []rank.Key
	for i, score := range []int64{90, 90, 85} {
		keys = append(keys, codec.Key(leaderboard.Entry{Member: fmt.Sprint("m", i), Score: score}))
	}
	for _, ranks := range rank.Number(rank.Top(), keys) {
		fmt.Println(ranks.Strict, ranks.Tied, ranks.Dense)
	}
	// Output:
	// 1 1 1
	// 2 1 1
	// 3 3 2
}

func ExamplePassed() {
	var codec rank.Codec
	key := func(member string, score int64) rank.Key {
		return codec.Key(leaderboard.Entry{Member: member, Score: score})
	}
	friends := []rank.Key{key("bob", 70), key("cyd", 95), key("dan", 80)}
	fmt.Println(rank.Passed(key("ada", 60), key("ada", 90), friends))
	// Output:
	// [dan bob]
}

func ExampleMerge() {
	shards := [][]int64{{95, 60}, {90, 85}, {}}
	at := make([]int, len(shards))
	rank.Merge(shards, func(a, b int64) int { return cmp.Compare(b, a) }, func(run int) bool {
		fmt.Println(shards[run][at[run]])
		at[run]++
		return at[0]+at[1] < 3 // the best three
	})
	// Output:
	// 95
	// 90
	// 85
}
