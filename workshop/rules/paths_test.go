package rules

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// fileName is the name of a file of the tree, with folders or without.
	fileName = regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)*\.(?:go|sql|lua|yaml|yml|txtar|ts|svelte|md)$`)
	// folderName is a word that is the path of a folder if it begins with the name of a folder.
	folderName = regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)*/?$`)
	// placeholder is a part of a path that stands for another: features/pages/languages/TAG.json.
	placeholder = regexp.MustCompile(`\b[A-Z]{3,}\b`)
)

// made are folders of built files, which are not in the repository.
func made() []string { return []string{"bin", "dist"} }

// tree is the set of targets of paths.
type tree struct {
	folders map[string]bool // names, without the folders above
	files   map[string]bool // likewise
}

func newTree(t *testing.T) tree {
	t.Helper()
	found := tree{map[string]bool{}, map[string]bool{}}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch own := path.Base(name); {
		case err != nil:
			return err
		case !entry.IsDir():
			found.files[own] = true
		case name != "." && (strings.HasPrefix(own, ".") || own == "node_modules"):
			return fs.SkipDir
		default:
			found.folders[own] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// missing reports whether a word in a file is the path of a missing file or folder. A path begins at the file, at a folder
// above it, or at the root, which a path of Go calls by the name of the module. The name of a file alone may be of any
// folder; a Go file in a comment is searched in the folder of the comment alone, because many files have one name.
func (in tree) missing(word, file string) bool {
	first, _, deep := strings.Cut(word, "/")
	isFile := fileName.MatchString(word)
	switch {
	case placeholder.MatchString(word) && !strings.HasSuffix(word, ".md"), deep && (!in.folders[first] || slices.Contains(made(), first)), !deep && !isFile:
		return false
	case !isFile && !folderName.MatchString(word):
		return false
	case !deep && (path.Ext(file) != ".go" || path.Ext(word) != ".go"):
		return !in.files[word] && !exists(word)
	case !deep:
		return !exists(path.Join(path.Dir(file), word))
	}
	inModule, _ := strings.CutPrefix(word, module+"/")
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		if exists(path.Join(dir, word)) {
			return false
		}
		if dir == "." {
			return !exists(inModule)
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// TestPathsExist checks that paths exist which documents show as code or comments of Go name.
func TestPathsExist(t *testing.T) {
	t.Parallel()
	in, checked := newTree(t), 0
	for _, file := range filesWhere(t, func(name string) bool { return path.Ext(name) == ".go" || path.Ext(name) == ".md" }) {
		text := readDoc(t, file)
		var words []string
		if path.Ext(file) == ".go" {
			words = wordsOfComments(text)
		} else {
			words = spansIn(withoutFences(text))
		}
		for _, word := range words {
			if checked++; in.missing(word, file) {
				t.Errorf("%s: there is no %s", file, word)
			}
		}
	}
	if checked < 10_000 {
		t.Errorf("looked at %d words, the search is broken", checked)
	}
}

// TestMissing shows that TestPathsExist can fail.
func TestMissing(t *testing.T) {
	t.Parallel()
	in := newTree(t)
	for word, want := range map[string]bool{
		"store/commit": false, "commit": false, "commit/queue.go": false, "leaderboard/store/commit": false, "schema.sql": false, "doc.go": false,
		"net/http": false, "text/plain": false, "application/json": false, "features/pages/languages/TAG.json": false, "bin/testenv": false, "I/O": false,
		"store/internal/commit": true, "store/internal/db/": true, "internal/commit": true, "queue.go": true, "store/queue.go": true, "gone.sql": true, "commit/gone.go": true,
	} {
		if got := in.missing(word, "store/doc.go"); got != want {
			t.Errorf("%s in store/doc.go: missing %t, want %t", word, got, want)
		}
	}
	if in.missing("queue.go", "docs/sql.md") || !in.missing("dial.go", "docs/sql.md") {
		t.Error("a document names files of every folder, and none that is in no folder")
	}
	const source = "// Read a.go (first), store/b.go's twin.\nfunc f() { g(\"c.go\") } // d.go:\n/* e.go */\n//go:embed f.go\n"
	got := slices.DeleteFunc(wordsOfComments("package p\n"+source), func(word string) bool { return path.Ext(word) != ".go" })
	if want := []string{"a.go", "store/b.go", "d.go", "e.go"}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

// wordsOfComments returns the words of the comments of a source of Go, without the marks around them.
func wordsOfComments(source string) (words []string) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(source)), []byte(source), nil, scanner.ScanComments)
	for {
		_, tok, text := s.Scan()
		if tok == token.EOF {
			return words
		}
		if tok != token.COMMENT || strings.HasPrefix(text, "//go:") {
			continue
		}
		for _, word := range strings.Fields(text) {
			word = strings.TrimRight(strings.TrimLeft(word, "/*\"'`(["), "/*\"'`)],;:.!?…")
			words = append(words, strings.TrimSuffix(word, "'s"))
		}
	}
}
