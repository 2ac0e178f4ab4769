package wire

import "testing"

// TestOutline: the counts of some bodies.
func TestOutline(t *testing.T) {
	for body, want := range map[string]Outline{
		``:                                    {},
		`1`:                                   {},
		`{"a":[1,2,{"b":[]}],"c":"],[\"{"}`:   {Elements: 3, Values: 7, Depth: 4},
		`{"members":["a","b,[","c\\"],"d":1}`: {Elements: 3, Values: 5, Depth: 2},
		`[[[`:                                 {Values: 3, Depth: 3},
		`]]]{`:                                {Values: 1},
	} {
		if got := OutlineOf([]byte(body)); got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}
