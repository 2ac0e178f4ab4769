package rules

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// grammarFile has, for each folder, the number of places in its comments that the grammar still finds.
const grammarFile = "workshop/rules/grammar.txt"

// riddleKind is a kind of sentence that is read twice, with the way to say it plainly.
type riddleKind struct {
	found *regexp.Regexp
	say   string
}

// grammar lists kinds of sentences by their grammar: nouns that are left out, relative clauses without a noun, and inversions.
func grammar() (kinds []riddleKind) {
	for _, kind := range [][2]string{
		{`^(?:(?:an?|the) )?\w+ (?:is|are|does|do|returns?|has|have|holds|says|reports|takes|makes|gives|shows|reads|writes) (?:so|it|them|they|those|these)\b|^(?:(?:an?|the) )?\w+ (?:is|are|does|do|returns?|has|have|holds) what\b`, "a comment that stands alone: Find returns the board of a name"},
		{`\b(?:that|those) of\b|\bthose (?:that|which|who|whose|with|without|in|on|by|for|from|to|at|not|before|after|above|below|there|here|left)\b`, "the noun in place of that or those"},
		{`\b(?:of|for|to|from|with|than|as|and|or|like|by|in|on|is|are|only|all) those(?:[.,;:)]|$)`, "the noun in place of those"},
		{`\b(?:of|since|than|until|behind) (?:which|whom)\b`, "two sentences, or whose"},
		{`\bones? (?:that|which|who|whose|without)\b|\b(?:is|are|has|have|was|were) (?:ones?|none)(?:[.,;:)]|$)`, "the noun in place of one or none"},
		{`\bnone (?:is|are|was|were|has)\b|\b(?:is|are) no more(?:[.,;:)]|$)`, "no board is, if there is no board"},
		{`\b(?:of|from|for|to|by|with|at|on|after|before|than|like|as|in|over|under|until|since|without|into|is|are|was|be|only|all|and) what\b`, "the noun in place of what"},
		{`(?:^|[.;:] )what [a-z]+|\bwhat (?:it|they|is|are|was|were|comes|came|goes|remains|stays|follows)\b`, "the noun in place of what"},
		{`\b(?:besides?|anew|(?:goes|go|going|went|gone) on|tells?|told|(?:comes?|came) of|becomes? of|became of|of late|by now)\b`, "next to, again, continues, reports, results from, result, recently, now"},
		{`\b(?:any more|once more|mends?|mended|mending|so many|of (?:its|their|our) own|by (?:itself|themselves))\b`, "no longer, again, repairs, a number of, separate, alone"},
		{`(?:^|[,;:.] )(?:and |but )?(?:so|nor|neither) (?:do|does|did|is|are|was|were|has|have|can|may)\b`, "the usual order of words: like, too, and neither"},
		{`\bas (?:it|they) (?:is|are|was|were)\b|\b(?:do|does|did|doing|done) so\b`, "unchanged, or the verb again"},
		{riddle.String(), "a subject, verb and object"},
	} {
		kinds = append(kinds, riddleKind{regexp.MustCompile(`(?i)` + kind[0]), kind[1]})
	}
	return kinds
}

// unplain returns the places in a comment that a grammar finds.
func unplain(kinds []riddleKind, comment string) (found []string) {
	comment = strings.Join(strings.Fields(comment), " ")
	for _, as := range []string{"soon", "long", "far", "often", "much", "well"} {
		comment = strings.ReplaceAll(comment, as+" as ", as+" when ") // as soon as they are: the usual order
	}
	for _, kind := range kinds {
		for _, place := range kind.found.FindAllStringIndex(comment, -1) {
			around := comment[max(0, place[0]-30):min(len(comment), place[1]+30)]
			found = append(found, fmt.Sprintf("%q in %q: say %s", comment[place[0]:place[1]], around, kind.say))
		}
	}
	return found
}

// lineMark returns the mark that begins a comment up to the end of the line in a file, "" for a language without a rule.
func lineMark(name string) string {
	switch path.Ext(name) {
	case ".sql", ".lua":
		return "--"
	case ".yaml", ".yml":
		return "#"
	case ".svelte", ".ts", ".js", ".mjs":
		return "//"
	}
	if path.Base(name) == "Makefile" {
		return "#"
	}
	return ""
}

// blockComment is a comment of TypeScript or HTML over several lines.
var blockComment = regexp.MustCompile(`(?s)(?:^|\s)(?:/\*+(.*?)\*/|<!--(.*?)-->)`)

// comments returns the comments of a text whose lines have comments after a mark. Lines of comments next to each other are one
// comment. A mark within a text counts too: it is the same one each time.
func comments(text, mark string) (out []string) {
	if mark == "//" {
		text = blockComment.ReplaceAllStringFunc(text, func(block string) string {
			parts := blockComment.FindStringSubmatch(block)
			out = append(out, strings.ReplaceAll(parts[1]+parts[2], "\n *", "\n"))
			return "\n"
		})
	}
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			out, lines = append(out, strings.Join(lines, " ")), nil
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, mark); ok {
			lines = append(lines, strings.TrimLeft(rest, mark[:1]))
			continue
		}
		flush()
		if _, rest, ok := strings.Cut(line, " "+mark+" "); ok {
			out = append(out, rest)
		}
	}
	flush()
	return out
}

// goComments returns the comments of a Go file, without directives.
func goComments(t *testing.T, file string) (out []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range parsed.Comments {
		out = append(out, group.Text())
	}
	return out
}

// grammarFolder returns the folder under which the places of a file are counted: at most two levels deep.
func grammarFolder(file string) string {
	parts := strings.Split(path.Dir(file), "/")
	return path.Join(parts[:min(2, len(parts))]...)
}

// TestGrammar counts places in comments of Go, SQL, Lua, YAML, make, Svelte and TypeScript that the grammar finds. The number of
// a folder may only fall: with UPDATE_GRAMMAR=1 the test writes the numbers that are lower, and -v prints the sum.
func TestGrammar(t *testing.T) {
	t.Parallel()
	kinds, found, sum := grammar(), map[string][]string{}, 0
	files := filesWhere(t, func(name string) bool {
		generated := strings.Contains(name, "/generated/") || strings.Contains(name, "/built/") || strings.Contains(name, "/dist/") || strings.Contains(name, "/out/")
		return !generated && (path.Ext(name) == ".go" || lineMark(name) != "")
	})
	for _, file := range files {
		var all []string
		if path.Ext(file) == ".go" {
			all = goComments(t, file)
		} else {
			all = comments(readDoc(t, file), lineMark(file))
		}
		for _, comment := range all {
			for _, place := range unplain(kinds, comment) {
				found[grammarFolder(file)] = append(found[grammarFolder(file)], file+": "+place)
				sum++
			}
		}
	}
	allowed := grammarCounts(t)
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		if n := len(found[folder]); n > allowed[folder] {
			t.Errorf("comments in %s have %d places that are read twice, %d are allowed: write the new ones plainly\n%s", folder, n, allowed[folder], strings.Join(found[folder], "\n"))
		}
	}
	t.Logf("comments have %d places that are read twice, in %d folders", sum, len(found))
	if os.Getenv("UPDATE_GRAMMAR") != "" {
		var text strings.Builder
		for _, folder := range slices.Sorted(maps.Keys(allowed)) {
			if n := min(allowed[folder], len(found[folder])); n > 0 {
				fmt.Fprintf(&text, "%s %d\n", folder, n)
			}
		}
		if err := os.WriteFile(grammarFile, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// grammarCounts reads the numbers of places that folders may have.
func grammarCounts(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for line := range strings.Lines(readDoc(t, grammarFile)) {
		var folder string
		var n int
		if _, err := fmt.Sscan(line, &folder, &n); err != nil {
			t.Fatalf("%s: %q: %s", grammarFile, line, err)
		}
		counts[folder] = n
	}
	return counts
}

// TestUnplain shows that the grammar finds each kind of sentence, and no plain one.
func TestUnplain(t *testing.T) {
	t.Parallel()
	kinds := grammar()
	for _, sentence := range []string{
		"X is what they say.", "holdIndexes does so for rank indexes.", "the errors are those of Submit", "boards, and those that follow them",
		"a request, one of which fails", "it returns one without a name", "no board if there is none.", "It depends on what was asked.",
		"What came first stays.", "it goes on beside the writers", "a table of its own", "and so do the others; nor is it read", "it stays as it was",
	} {
		if len(unplain(kinds, sentence)) == 0 {
			t.Errorf("the grammar does not find %q", sentence)
		}
	}
	for _, plain := range []string{
		"Find returns the board of a name.", "Find reports whether the board exists, and that it is new.", "It is read as soon as they are there.",
		"one of the boards", "the period in which it began", "It says what a caller may do.", "at most one per board",
	} {
		if found := unplain(kinds, plain); len(found) > 0 {
			t.Errorf("the grammar finds %q", found)
		}
	}
}

// TestComments shows that the comments of each language are found, and joined over lines.
func TestComments(t *testing.T) {
	t.Parallel()
	for mark, text := range map[string]string{
		"--": "-- one\n--  two\nSELECT 1 -- three\n", "#": "# one\n## two\n\na: 1 # three\n", "//": "/** one\n * two */\nconst a = \"https://b\" // three\n",
	} {
		var got []string
		for _, comment := range comments(text, mark) {
			got = append(got, strings.Join(strings.Fields(comment), " "))
		}
		if want := []string{"one two", "three"}; !slices.Equal(got, want) {
			t.Errorf("comments after %s are %q, want %q", mark, got, want)
		}
	}
}
