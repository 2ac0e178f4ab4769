package names

import (
	"strings"
	"testing"
)

// TestFound: a text finds a name at its beginning, or at the beginning of a later word.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		name, typed  string
		first, later bool
	}{
		{"José García", "jose", true, false},
		{"José García", "GARCIA", false, true},
		{"Jose\u0301", "josé", true, false},
		{"Ørsted Łukasz", "lukasz", false, true},
		{"Straße", "strass", true, false},
		{"İstanbul", "istanbul", true, false},
		{"Ada Lovelace", "love", false, true},
		{"Ada Lovelace", "ovel", false, false},
		{"Ada  Lovelace ", "ada", true, false},
		{"lucky-ibex-8", "ibex", false, true},
		{"高橋 一郎", "高", true, false},
		{"高橋一郎", "一郎", false, true},
		{"김민수", "김", true, false},
		{"ＡＪ", "aj", true, false},
		{"がんば", "か", false, false},
		{"", "a", false, false},
	} {
		name, typed := bare(c.name), bare(c.typed)
		if first, later := strings.HasPrefix(name, typed), later(name, typed); first != c.first || later != c.later {
			t.Errorf("%s by %s: first %v, later %v", c.name, c.typed, first, later)
		}
	}
}

// TestEnough: one letter of an East Asian script is enough for a search, two of others.
func TestEnough(t *testing.T) {
	for typed, want := range map[string]bool{"": false, "a": false, " a ": false, "AJ": true, "王": true, "민": true, "か": true, "é": false, "né": true, "e\u0301": false, "\u0301\u0301": false, "1a": true} {
		if got := Enough(typed); got != want {
			t.Errorf("%q: %v", typed, got)
		}
	}
}
