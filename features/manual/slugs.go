package manual

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
)

// slugs gives headings the ids that GitHub gives them, so that a link works there and on a server: lower case, words joined by
// dashes, other signs left out, a number when it was given before.
type slugs struct{ seen map[string]int }

// Generate implements parser.IDs.
func (s *slugs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := slug(string(value))
	n := s.seen[id]
	if s.seen[id]++; n > 0 {
		id += "-" + strconv.Itoa(n)
	}
	return []byte(id)
}

// Put implements parser.IDs.
func (s *slugs) Put(value []byte) { s.seen[string(value)]++ }

func slug(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, strings.TrimSpace(heading))
}
