package rank

import (
	"slices"
	"testing"

	"leaderboard/leaderboard"
)

// TestPassed: members behind the new key and ahead of the old key, best first, at most ten; an entry that got worse
// passes nobody.
func TestPassed(t *testing.T) {
	t.Parallel()
	key := func(member string, score int64) Key {
		return Codec{}.Key(leaderboard.Entry{Member: member, Score: score})
	}
	var keys []Key
	for i := range 26 {
		keys = append(keys, key(string(rune('z'-i)), int64(75+i))) // z has 75, a has 100
	}
	if got := Passed(key("me", 90), key("me", 97), slices.Clone(keys)); !slices.Equal(got, []string{"e", "f", "g", "h", "i", "j", "k"}) { // k is ahead of its tied entries
		t.Errorf("passed %q", got)
	}
	if got := Passed(key("me", 1), key("me", 1000), slices.Clone(keys)); !slices.Equal(got, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}) {
		t.Errorf("passed %q", got)
	}
	if got := Passed(key("me", 97), key("me", 90), keys); len(got) > 0 {
		t.Errorf("passed %q on the way down", got)
	}
}
