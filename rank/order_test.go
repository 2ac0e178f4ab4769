package rank

import (
	"cmp"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// nastyInts returns the integers that a float, a subtraction or a sign would get wrong.
func nastyInts() []int64 {
	const exact = 1 << 53 // the last integer that a double holds with all its neighbours
	return []int64{
		math.MinInt64, math.MinInt64 + 1, -exact - 1, -exact, -exact + 1, -256, -1, 0, 1, 255, 256,
		exact - 1, exact, exact + 1, math.MaxInt64 - 1, math.MaxInt64,
	}
}

// nastyMembers contain each other as prefixes, zero bytes, trailing spaces, letters of both cases and the greatest
// byte.
func nastyMembers() []string {
	return []string{"\x00", "\x00\x00", "A", "a", "a\x00", "a ", "aa", "ab", "b", "é", "\xff", "\xff\xff", strings.Repeat("\xff", leaderboard.MaxMember)}
}

func nastyEntries() []leaderboard.Entry {
	var out []leaderboard.Entry
	for _, n := range nastyInts() {
		out = append(out,
			leaderboard.Entry{Member: "a", Score: n},
			leaderboard.Entry{Member: "a", Tiebreak: n},
			leaderboard.Entry{Member: "a", Score: 1 << 53, Tiebreak: n},
			leaderboard.Entry{Member: "a", CreatedTime: leaderboard.Micros(n)})
	}
	for _, m := range nastyMembers() {
		out = append(out, leaderboard.Entry{Member: m}, leaderboard.Entry{Member: m, Score: math.MaxInt64, CreatedTime: leaderboard.MaxTime})
	}
	return out
}

// TestKeyOrderAllPairs: byte order of the keys is the order of the period, and the order of the prefixes is
// "better".
func TestKeyOrderAllPairs(t *testing.T) {
	t.Parallel()
	entries := nastyEntries()
	for codec, rules := range codecs() {
		for _, a := range entries {
			for _, b := range entries {
				checkOrder(t, codec, rules, a, b)
			}
		}
	}
}

func TestKeyOrderRandomPairs(t *testing.T) {
	t.Parallel()
	for codec, rules := range codecs() {
		rapid.Check(t, func(t *rapid.T) {
			a, b := drawEntry(t, "a"), drawEntry(t, "b")
			checkOrder(t, codec, rules, a, b)
			b.Score, b.Tiebreak = a.Score, a.Tiebreak
			checkOrder(t, codec, rules, a, b)
		})
	}
}

func checkOrder(t interface{ Errorf(string, ...any) }, codec Codec, rules *leaderboard.Rules, a, b leaderboard.Entry) {
	ka, kb := codec.Key(a), codec.Key(b)
	if got, want := cmp.Compare(ka, kb), cmp.Compare(rules.Compare(a, b), 0); got != want {
		t.Errorf("%s/%s: keys of %+v and %+v compare as %d, want %d", rules.Order, rules.Tiebreak.Order, a, b, got, want)
	}
	if got, want := ka.Prefix() < kb.Prefix(), rules.Better(a, b); got != want {
		t.Errorf("%s/%s: by prefix, %+v better than %+v is %t, want %t", rules.Order, rules.Tiebreak.Order, a, b, got, want)
	}
	if got, want := Tied(ka, kb), !rules.Better(a, b) && !rules.Better(b, a); got != want {
		t.Errorf("%+v and %+v tied is %t, want %t", a, b, got, want)
	}
	if codec.Prefix(a.Score, a.Tiebreak) > ka {
		t.Errorf("the prefix of %+v is ordered behind its key", a)
	}
}
