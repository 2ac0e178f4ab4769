package rank

import (
	"reflect"
	"slices"
	"testing"

	"leaderboard"
)

// TestSelectEverything: whatever is asked for, the keys are ascending and each there once, and every rank arrives at
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
