package rules

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// listedFiles is a line of a list in the comment of a package: names of files after a dash or a tab, and their content.
	listedFiles = regexp.MustCompile(`^(?:\t|  - )([a-z0-9_]+\.go(?:, [a-z0-9_]+\.go)*)(?:  |:|,?$)`)
	// layered is the sentence in such a comment that says that a list is in layers.
	layered = regexp.MustCompile(`uses only\s+(?:those|files|the\s+layers)\s+(?:above|before)`)
)

// inOrder lists packages of the engine that are too large to be read without a list of all their files.
func inOrder() []string {
	return []string{
		"cache", "cache/topn", "httpapi", "internal/guard", "internal/mysql", "internal/wire", "leaderboard", "rank", "refresher", "store/commit", "store/internal/index",
	}
}

// order is a list of the files of a package, by the line of the list in which each stands.
type order struct {
	line    map[string]int
	layered bool // a file uses only files on its own line and on earlier lines
}

// orderIn returns the list in the comment of a package, or an empty list.
func orderIn(comment string) order {
	o := order{map[string]int{}, layered.MatchString(comment)}
	number := 0
	for text := range strings.Lines(comment) {
		if m := listedFiles.FindStringSubmatch(strings.TrimRight(text, "\n")); m != nil {
			number++
			for file := range strings.SplitSeq(m[1], ", ") {
				o.line[file] = number
			}
		}
	}
	return o
}

// wrong returns the faults in the reading order of a package, given its files and their uses of each other.
func (o order) wrong(uses leans) (found []string) {
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		if o.line[file] == 0 {
			found = append(found, "lacks "+file)
		}
		for _, used := range slices.Sorted(maps.Keys(uses[file])) {
			if o.layered && o.line[file] > 0 && o.line[used] > o.line[file] {
				found = append(found, fmt.Sprintf("has %s, which %s uses, below it", used, file))
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(o.line)) {
		if _, ok := uses[file]; !ok {
			found = append(found, "names "+file+", which is not there")
		}
	}
	return found
}

// TestReadingOrders holds each list of files in the comment of a package to naming all of them, and to its layers if it says that
// it has some. TestPathsExist does for files that a comment names in a sentence.
func TestReadingOrders(t *testing.T) {
	t.Parallel()
	c, wanted := newChecker(t), inOrder()
	for _, dir := range sourceDirs(t) {
		comment, home := packageComment(t, dir)
		o := orderIn(comment)
		wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == dir && len(o.line) > 0 })
		if len(o.line) == 0 {
			continue
		}
		uses := maps.Clone(c.leans(dir))
		delete(uses, home)
		if o.line[home] > 0 {
			uses[home] = c.leans(dir)[home]
		}
		for _, what := range o.wrong(uses) {
			t.Errorf("%s: the reading order of %s %s", dir, home, what)
		}
	}
	for _, dir := range wanted {
		t.Errorf("the comment of package %s has no list of its files", dir)
	}
}

// TestOrderIn shows that lists are read, and that a wrong list is found.
func TestOrderIn(t *testing.T) {
	t.Parallel()
	const dashes = "Package p is.\n\nRead:\n\n  - a.go: first\n  - b.go, c.go: second, which\n    goes on\n"
	const tabs = "Package p is. Each file uses only\nthose above it.\n\n\ta.go       first\n\tb.go, c.go\n\t           second\n\tx (10)     3.go\n"
	for _, comment := range []string{dashes, tabs} {
		o := orderIn(comment)
		if want := map[string]int{"a.go": 1, "b.go": 2, "c.go": 2}; !maps.Equal(o.line, want) || o.layered != (comment == tabs) {
			t.Errorf("read %+v", o)
		}
		right := leans{"a.go": nil, "b.go": {"a.go": true, "c.go": true}, "c.go": {"b.go": true}}
		if wrong := o.wrong(right); len(wrong) > 0 {
			t.Errorf("nothing is wrong, found %q", wrong)
		}
		wrong := o.wrong(leans{"a.go": {"b.go": true}, "b.go": nil, "d.go": {"a.go": true}})
		want := []string{"has b.go, which a.go uses, below it", "lacks d.go", "names c.go, which is not there"}
		if comment == dashes {
			want = want[1:]
		}
		if !slices.Equal(wrong, want) {
			t.Errorf("found %q, want %q", wrong, want)
		}
	}
	if o := orderIn("Package p reads a.go and b.go.\n\n\tslab      32 of the record\n"); len(o.line) > 0 {
		t.Errorf("read %+v in sentences", o)
	}
}

// packageComment returns the comment of a package, and the file that has it.
func packageComment(t *testing.T, dir string) (comment, home string) {
	t.Helper()
	for _, file := range goFilesIn(dir) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if text := parsed.Doc.Text(); text != "" {
			comment, home = comment+text, path.Base(file)
		}
	}
	return comment, home
}
