package leaderboard

import (
	"strings"
	"testing"
)

// TestFaceForms: an accent has one form, a logo is a name, not a path or address, and a footer is one line of text
// without characters that change its direction.
func TestFaceForms(t *testing.T) {
	for _, f := range []Face{
		{}, {Accent: "#3151d3"}, {Accent: "#ABCDEF"}, {Logo: "a"}, {Logo: "arcade-2.png"}, {Parts: "country"}, {Footer: `<b>&"' https://a.example/`}, {Footer: strings.Repeat("x", 500)}, {Footer: "\u0639\u0631\u0628"},
	} {
		r := Rules{Face: &f}.WithDefaults()
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
	for pointer, faces := range map[string][]Face{
		"/face/accent": {{Accent: "red"}, {Accent: "#fff"}, {Accent: "#3151d3ff"}, {Accent: "#3151dg"}, {Accent: " #3151d3"}, {Accent: "#3151d3\n"}, {Accent: "3151d3"}, {Accent: "#é151d"}, {Accent: "url(x)"}},
		"/face/logo":   {{Logo: "Logo.png"}, {Logo: "a/b"}, {Logo: ".."}, {Logo: ".logo"}, {Logo: "https://a.example/x.png"}, {Logo: "a\x00"}, {Logo: strings.Repeat("x", 65)}},
		"/face/parts":  {{Parts: "Country"}, {Parts: "a:b"}, {Parts: "a,b"}, {Parts: "&limit=1"}},
		"/face/footer": {{Footer: "two\nlines"}, {Footer: "\x00"}, {Footer: "\xff"}, {Footer: "a\u2028b"}, {Footer: "\u202eb"}, {Footer: strings.Repeat("ü", 251)}},
	} {
		for _, f := range faces {
			r := Rules{Face: &f}.WithDefaults()
			if broken := AsRule(r.Check()); broken == nil || len(broken.Fields) != 1 || broken.Fields[0].Pointer != pointer {
				t.Errorf("%+v: %v, want %s", f, broken, pointer)
			}
		}
	}
	if r := (Rules{Face: &Face{}}).WithDefaults(); r.Face != nil {
		t.Error("a face without anything is not the default")
	}
}
