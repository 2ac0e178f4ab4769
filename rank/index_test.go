package rank

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// drawChanges returns the changes of a commit to a few of 24 members: few scores, so that most entries are tied.
func drawChanges(t *rapid.T) map[string]*leaderboard.Entry {
	next := map[string]*leaderboard.Entry{}
	for range rapid.IntRange(1, 6).Draw(t, "changes") {
		member := string(rapid.ByteRange('a', 'x').Draw(t, "member"))
		next[member] = nil
		if rapid.IntRange(0, 3).Draw(t, "kind") > 0 {
			next[member] = &leaderboard.Entry{
				Member: member, Score: rapid.Int64Range(-1, 2).Draw(t, "score"),
				Tiebreak: rapid.Int64Range(0, 1).Draw(t, "tiebreak"), CreatedTime: leaderboard.Micros(rapid.Int64Range(0, 9).Draw(t, "time")),
			}
		}
	}
	return next
}

// TestIndexAgainstSortedSlice: after any history the index agrees with a sorted slice of the entries, at every
// place.
func TestIndexAgainstSortedSlice(t *testing.T) {
	t.Parallel()
	for codec, rules := range codecs() {
		t.Run(fmt.Sprintf("%s_%s", rules.Order, rules.Tiebreak.Order), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { runIndex(t, newWorld(codec)) })
		})
	}
}

func runIndex(t *rapid.T, w *world) {
	for range rapid.IntRange(0, 5).Draw(t, "commits before the build") {
		w.commit(drawChanges(t))
	}
	x, err := w.build(rapid.IntRange(1, 4).Draw(t, "target"))
	if err != nil {
		t.Fatal(err)
	}
	fatal := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Repeat(map[string]func(*rapid.T){
		"commit":  func(t *rapid.T) { fatal(x.Fold(w.codec, w.commit(drawChanges(t)))) },
		"compact": func(*rapid.T) { x.Compact() },
		"split":   func(*rapid.T) { fatal(x.Split(w.at.Seq, w.cuts(x))) },
		"cut anywhere": func(t *rapid.T) {
			k := rapid.SampledFrom(w.probes()).Draw(t, "cut")
			if s := x.Find(k); k != s.From {
				keys := w.keys()
				fatal(x.Split(w.at.Seq, []Cut{{At: k, Left: before(keys, k) - before(keys, s.From)}}))
			}
		},
		"save and load": func(*rapid.T) {
			data, err := x.AppendBinary(nil)
			fatal(err)
			x, err = Decode(data)
			fatal(err)
		},
		"fold again": func(*rapid.T) {
			for i := range w.log {
				fatal(x.Fold(w.codec, &w.log[i]))
			}
		},
		"": func(*rapid.T) { fatal(check(x, w, w.probes())) },
	})
}

// TestIndexThirtyPerCentEqual: a typical board: thirty per cent of the members on the same score, and scores that
// change all the time.
func TestIndexThirtyPerCentEqual(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	w := newWorld(Codec{})
	x, err := w.build(50)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 60 {
		next := map[string]*leaderboard.Entry{}
		for range 500 {
			e := leaderboard.Entry{Member: fmt.Sprint("m", rng.IntN(20_000)), Score: rng.Int64N(1e6), CreatedTime: leaderboard.Micros(w.at.Seq + 1)}
			if next[e.Member] = &e; rng.IntN(10) < 3 {
				e.Score = 500_000
			}
			if round >= 30 && rng.IntN(10) < 8 {
				next[e.Member] = nil
			}
		}
		if err := x.Fold(w.codec, w.commit(next)); err != nil {
			t.Fatal(err)
		}
		if err := x.Split(w.at.Seq, w.cuts(x)); err != nil {
			t.Fatal(err)
		}
		x.Compact()
		if len(x.Overgrown()) > 0 {
			t.Fatalf("round %d: still overgrown: %+v", round, x.Overgrown())
		}
		if want := 16 + 3*int(w.at.Total/50); x.Len() > want {
			t.Fatalf("round %d: %d buckets for %d entries, want at most %d", round, x.Len(), w.at.Total, want)
		}
		if round%10 == 9 {
			if err := check(x, w, w.probes()); err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
	}
}

// TestIndexMillionEqualScores: all scores are equal: the boundaries differ in created_time and member only, and the
// buckets are as even as ever.
func TestIndexMillionEqualScores(t *testing.T) {
	t.Parallel()
	const members = 1_000_000
	keys := make([]Key, members)
	for i := range keys {
		keys[i] = Codec{}.Key(leaderboard.Entry{Member: fmt.Sprintf("%07d", i), Score: 100, CreatedTime: leaderboard.Micros(i / 10_000)})
	}
	b, at := NewBuilder(usualTarget), State{Revision: leaderboard.Revision{Seq: 1}, Total: members}
	for from, more := b.Next(); more; from, more = b.Next() {
		to, n := bucketOf(keys, from, usualTarget)
		if err := b.Append(at, to, n); err != nil {
			t.Fatal(err)
		}
	}
	x, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if x.Len() != members/usualTarget+1 || len(x.Overgrown()) != 0 {
		t.Errorf("%d buckets, %d overgrown, want %d even ones", x.Len(), len(x.Overgrown()), members/usualTarget+1)
	}
	for i := 0; i < members; i += 997 {
		s := x.Find(keys[i])
		if inside := before(keys, keys[i]) - before(keys, s.From); s.Before+inside != int64(i) || s.Count > usualTarget {
			t.Fatalf("entry %d: %+v and %d inside", i, s, inside)
		}
		if n, ok := x.Nth(int64(i)); !ok || n != s {
			t.Fatalf("entry %d is in %+v by number, in %+v by key", i, n, s)
		}
	}
	if s := x.Find(keys[members/2].Prefix()); s.Before != 0 {
		t.Errorf("%d entries are better than those with the one score there is", s.Before)
	}
	if s := x.Find(Codec{}.Prefix(99, 0)); s.Before+s.Count != members || s.To != "" {
		t.Errorf("a lower score is in %+v, want the last bucket", s)
	}
}

// FuzzIndex looks for histories that random ones do not reach.
func FuzzIndex(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		if rapid.Bool().Draw(t, "while it is built") {
			runBuild(t, newWorld(Codec{}))
		} else {
			runIndex(t, newWorld(Codec{}))
		}
	}))
}
