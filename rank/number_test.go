package rank

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// classic returns the table that the numbering is known from.
func classic() []leaderboard.Entry {
	return []leaderboard.Entry{
		{Member: "1", Score: 90, CreatedTime: 1534429870e6},
		{Member: "2", Score: 80, CreatedTime: 1534429871e6},
		{Member: "3", Score: 82, CreatedTime: 1534412273e6},
		{Member: "4", Score: 96, CreatedTime: 1534429243e6},
		{Member: "5", Score: 100, CreatedTime: 1534429133e6},
		{Member: "6", Score: 5, CreatedTime: 1534429273e6},
		{Member: "7", Score: 8, CreatedTime: 1534429823e6},
		{Member: "8", Score: 80, CreatedTime: 1534429801e6},
	}
}

func TestNumberClassicTable(t *testing.T) {
	t.Parallel()
	const order = "5 4 1 3 8 2 7 6"
	want := map[leaderboard.Mode]string{
		leaderboard.ModeStrict: "1 2 3 4 5 6 7 8",
		leaderboard.ModeTied:   "1 2 3 4 5 5 7 8",
		leaderboard.ModeDense:  "1 2 3 4 5 5 6 7",
	}
	keys := sortedKeys(Codec{}, classic())
	var members []string
	for _, k := range keys {
		members = append(members, k.Member())
	}
	if got := fmt.Sprint(members); got != "["+order+"]" {
		t.Errorf("order is %s, want [%s]", got, order)
	}
	for mode, w := range want {
		var ranks []int64
		for _, r := range Number(Top(), keys) {
			ranks = append(ranks, r.In(mode))
		}
		if got := fmt.Sprint(ranks); got != "["+w+"]" {
			t.Errorf("%s ranks are %s, want [%s]", mode, got, w)
		}
	}
}

// TestNumberAnyRun: a run numbered from any place on must agree with the whole numbered by the definitions of the
// modes, dense ranks only when the first entry's is known.
func TestNumberAnyRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		scores := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 40).Draw(t, "scores")
		entries := make([]leaderboard.Entry, len(scores))
		for i, s := range scores {
			entries[i] = leaderboard.Entry{Member: fmt.Sprint("m", i), Score: s, Tiebreak: int64(i % 2)}
		}
		keys := sortedKeys(Codec{}, entries)
		from := rapid.IntRange(0, len(keys)).Draw(t, "from")
		for _, dense := range []bool{true, false} {
			known := func(i int) leaderboard.Ranks {
				r := defined(keys, i)
				if !dense {
					r.Dense = 0
				}
				return r
			}
			first := Top()
			if from < len(keys) {
				first = known(from)
			}
			for i, got := range Number(first, keys[from:]) {
				if want := known(from + i); got != want {
					t.Fatalf("ranks of entry %d in the run from %d are %+v, want %+v", from+i, from, got, want)
				}
			}
		}
	})
}

// defined returns the ranks of keys[i] by counting.
func defined(keys []Key, i int) leaderboard.Ranks {
	r := leaderboard.Ranks{Strict: int64(i) + 1, Tied: 1, Dense: 1}
	better := map[Key]bool{}
	for _, k := range keys {
		if k.Prefix() < keys[i].Prefix() {
			r.Tied++
			better[k.Prefix()] = true
		}
	}
	r.Dense += int64(len(better))
	return r
}

func sortedKeys(c Codec, entries []leaderboard.Entry) []Key {
	keys := make([]Key, len(entries))
	for i, e := range entries {
		keys[i] = c.Key(e)
	}
	slices.SortFunc(keys, cmp.Compare[Key])
	return keys
}

// TestSelectEverything: for any selection, the keys are ascending and each there once, and every rank arrives at
// its own entry.
func TestSelectEverything(t *testing.T) {
	var codec Codec
	var keys []Key
	for i, score := range []int64{9, 7, 7, 7, 2} {
		keys = append(keys, codec.Key(leaderboard.Entry{Member: string(rune('a' + i)), Score: score, CreatedTime: leaderboard.Micros(i)}))
	}
	tied, dense := []int64{1, 2, 2, 2, 5}, []int64{1, 2, 2, 2, 3}
	ranksOf := func(k Key) leaderboard.Ranks { // on a board where a hundred others are ahead
		i := int64(slices.Index(keys, k))
		return leaderboard.Ranks{Strict: 101 + i, Tied: 100 + tied[i]}
	}
	for limit := range 7 {
		for offset := range 7 {
			for _, self := range []string{"", "a", "b", "c", "d", "e", "x"} {
				q := leaderboard.MembersQuery{Limit: limit, Offset: offset, Self: self}
				s := Select(&q, keys)
				needed := s.Keys()
				if !slices.IsSorted(needed) || len(slices.Compact(slices.Clone(needed))) != len(needed) {
					t.Fatalf("%+v: keys %q", q, needed)
				}
				ranks := make([]leaderboard.Ranks, len(needed))
				for i, k := range needed {
					ranks[i] = ranksOf(k)
				}
				got, err := s.Standings(codec, ranks)
				if err != nil {
					t.Fatal(err)
				}
				want := &leaderboard.Standings{Ranked: len(keys), Entries: []leaderboard.Standing{}}
				for i, k := range keys {
					e, _ := codec.Entry(k)
					one := leaderboard.Standing{Ranked: leaderboard.Ranked{Ranks: ranksOf(k), Entry: e}, Position: leaderboard.Ranks{Strict: int64(i) + 1, Tied: tied[i], Dense: dense[i]}}
					if i >= offset && (limit == 0 || i < offset+limit) {
						want.Entries = append(want.Entries, one)
					}
					if e.Member == self {
						want.Self = &one
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%+v:\n%+v\nwant\n%+v", q, got, want)
				}
			}
		}
	}
}
