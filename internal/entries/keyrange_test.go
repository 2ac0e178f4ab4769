package entries

import (
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// anyEntry draws an entry from few scores, moments and members, so that all kinds of ties are common.
func anyEntry() *rapid.Generator[leaderboard.Entry] {
	return rapid.Custom(func(t *rapid.T) leaderboard.Entry {
		return leaderboard.Entry{
			Member: rapid.SampledFrom([]string{"a", "aa", "b", "\x00", "a\x00", "\xf4\x8f\xbf\xbf"}).Draw(t, "member"),
			Score:  rapid.SampledFrom([]int64{-1 << 63, -1, 0, 1, 1<<63 - 1}).Draw(t, "score"), Tiebreak: rapid.Int64Range(0, 1).Draw(t, "tiebreak"),
			CreatedTime: leaderboard.Micros(rapid.Int64Range(0, 2).Draw(t, "created")),
		}
	})
}

// isAhead reports whether an entry lies before a cut, column by column.
func isAhead(e leaderboard.Entry, c Bound) bool {
	here := Bound{colMember + 1, e.Score, e.Tiebreak, e.CreatedTime, e.Member, false}
	for col := range c.n {
		if d := here.compare(&c, col); d != 0 {
			return d < 0
		}
	}
	return c.after
}

// TestBeforeKey: the cut before a key, or before part of one, divides the entries as the bytes of their keys do.
func TestBeforeKey(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, other := anyEntry().Draw(t, "entry"), anyEntry().Draw(t, "other")
		k := rank.Codec{}.Key(e)
		for _, at := range []rank.Key{"", k[:rank.ScoreLen], k.Prefix(), k.Prefix() + AfterTied, k[:rank.HeadLen], k, k + "\x00"} {
			c, err := BeforeKey(at)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := isAhead(other, c), (rank.Codec{}).Key(other) < at; got != want {
				t.Fatalf("%+v is ahead of %x: %t, want %t", other, at, got, want)
			}
		}
	})
}

// TestBetween: a boundary divides two keys, and is as short as that allows.
func TestBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rank.Codec{}.Key(anyEntry().Draw(t, "a")), rank.Codec{}.Key(anyEntry().Draw(t, "b"))
		if a == b {
			return
		}
		a, b = min(a, b), max(a, b)
		k := Between(a, b)
		if k <= a || k > b || b[:len(k)] != k {
			t.Fatalf("%x is not between %x and %x", k, a, b)
		}
		for _, n := range []int{rank.ScoreLen, rank.PrefixLen, rank.HeadLen} {
			if n < len(k) && b[:n] > a {
				t.Fatalf("%x is enough, got %x", b[:n], k)
			}
		}
	})
}
