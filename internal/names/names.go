// Package names finds names by the text of people who look for somebody.
package names

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Name is the place of a member in the order in which a search finds names. In a small period names that begin with the typed text
// come first, then names with a later word that begins with it; in both parts, and in a large period, members with a display name
// come by that name and then by id, after them the others by id. The zero value is before all of them.
type Name struct {
	Folded string // the display name in the form of Fold, "" for none
	Member string
}

// Fold returns the form of a name for searching and ordering. It replaces letters that differ only in case by the first
// of them in Unicode. It is no longer than name. Marks count: é is not e.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}

// bare returns a name without case and accents: Émile and EMILE are the same, like Ørsted and orsted. Marks of scripts
// outside of Europe stay, since they make other letters.
func bare(name string) string {
	var b strings.Builder
	for _, r := range Fold(norm.NFKD.String(name)) {
		switch {
		case r >= 0x300 && r <= 0x36f: // combining accents
		case r == 'Ø':
			b.WriteByte('O')
		case r == 'Ł':
			b.WriteByte('L')
		case r == 'Đ', r == 'Ð':
			b.WriteByte('D')
		case r == 'ß', r == 'ẞ':
			b.WriteString("SS")
		case r == 'Æ':
			b.WriteString("AE")
		case r == 'Œ':
			b.WriteString("OE")
		case r == 'ı':
			b.WriteByte('I')
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(strings.TrimSpace(b.String()))
}

// later reports whether a later word of a name begins with something; both are bare. Scripts without spaces have a word at each letter.
func later(name, typed string) bool {
	before, _ := utf8.DecodeRuneInString(name)
	for i, r := range name {
		isWord := !unicode.In(before, unicode.L, unicode.N, unicode.M) || unspaced(r)
		if i > 0 && isWord && strings.HasPrefix(name[i:], typed) {
			return true
		}
		before = r
	}
	return false
}

// unspaced reports whether a letter is of a script that is written without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo)
}

// Enough reports whether something typed has the letters with which a search for beginnings of names may begin, so that it does not list
// all members: one of an East Asian script, two of others. Spaces and marks do not count.
func Enough(typed string) bool {
	letters := 0
	for _, r := range typed {
		switch {
		case unspaced(r), unicode.Is(unicode.Hangul, r):
			return true
		case !unicode.In(r, unicode.M, unicode.Z, unicode.C):
			letters++
		}
	}
	return letters >= 2
}

// Search finds shown names among all that are added.
type Search struct {
	typed string
	whole bool       // typed is the whole name
	after rankedName // the search continues after it; without a member: it begins
	limit int
	found []rankedName
}

// rankedName is the place of a name in the order of the result.
type rankedName struct {
	Name

	later bool // only a later word begins so
}

// NewSearch returns a search for names that begin, or have a word that begins, with the typed text; with whole, for names that equal
// it. The search finds at most limit names after the given one.
func NewSearch(typed string, whole bool, after Name, limit int) *Search {
	s := &Search{typed: bare(typed), whole: whole, limit: limit}
	s.after, _ = s.place(after)
	return s
}

// place returns the place of a name, and whether the name matches.
func (s *Search) place(n Name) (p rankedName, ok bool) {
	shown := bare(cmp.Or(n.Folded, n.Member))
	if s.whole {
		return rankedName{n, false}, shown == s.typed
	}
	begins := strings.HasPrefix(shown, s.typed)
	return rankedName{n, !begins}, begins || later(shown, s.typed)
}

// Add looks at a name.
func (s *Search) Add(n Name) {
	if p, ok := s.place(n); ok && (s.after.Member == "" || p.compare(s.after) > 0) {
		s.found = append(s.found, p)
	}
}

// Found returns the first of the names that were found.
func (s *Search) Found() []Name {
	slices.SortFunc(s.found, rankedName.compare)
	out := make([]Name, min(len(s.found), s.limit))
	for i := range out {
		out[i] = s.found[i].Name
	}
	return out
}

func (p rankedName) compare(other rankedName) int {
	last := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return cmp.Or(last(p.later)-last(other.later), last(p.Folded == "")-last(other.Folded == ""), strings.Compare(p.Folded, other.Folded), strings.Compare(p.Member, other.Member))
}
