package leaderboard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestDocComments holds what is said of functions, methods and types, exported or not and in tests too, and of
// constants and variables one by one, to beginning with the name: "Find returns …", "A Board is …".
func TestDocComments(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, file := range allGoFiles(t) {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range documented(parsed) {
			checked++
			if !d.begins() {
				t.Errorf("%s: the comment of %s begins with %.40q", fset.Position(d.at), d.names[0], d.text)
			}
		}
	}
	if checked < 1000 {
		t.Errorf("found %d doc comments, the search is broken", checked)
	}
}

// TestDocCommentsAreHeld shows that TestDocComments can say no.
func TestDocCommentsAreHeld(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Name is it.": true, "Name": true, "Name: it.": true, "A Name is it.": true, "The Name is it.": true, "Other is it.": true,
		"Deprecated: use it no more.": true,
		"Names are it.":               false, "name is it.": false, "It is Name.": false, "A name is it.": false, "": false,
	} {
		if got := (documentation{names: []string{"Name", "Other"}, text: text}).begins(); got != want {
			t.Errorf("%q begins with the name: %t, want %t", text, got, want)
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), "p.go", `package p
		// a
		func f() {}
		// b
		type t int
		// c
		var v int
		// of all
		const (
			// d
			c = 1
			e = 2
		)
		func without() {}`, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range documented(parsed) {
		got = append(got, d.text+" "+d.names[0])
	}
	if want := []string{"a f", "b t", "c v", "d c"}; !slices.Equal(got, want) {
		t.Errorf("found the comments %q, want %q", got, want)
	}
}

// documentation is what is said of a declaration.
type documentation struct {
	at    token.Pos
	names []string
	text  string
}

// begins says whether the text begins with one of the names.
func (d documentation) begins() bool {
	for _, name := range d.names {
		for _, article := range []string{"", "A ", "An ", "The "} {
			rest, ok := strings.CutPrefix(d.text, article+name)
			if after := strings.IndexFunc(rest, isWordRune); ok && after != 0 {
				return true
			}
		}
	}
	return strings.HasPrefix(d.text, "Deprecated:")
}

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// documented lists the declarations of a file that have a comment. What is said of a block is said of no name in it.
func documented(file *ast.File) []documentation {
	var found []documentation
	add := func(at token.Pos, doc *ast.CommentGroup, names ...*ast.Ident) {
		text := strings.TrimSpace(doc.Text()) // "" without a comment, and for directives
		if text == "" {
			return
		}
		d := documentation{at: at, text: text}
		for _, name := range names {
			d.names = append(d.names, name.Name)
		}
		found = append(found, d)
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(decl.Pos(), decl.Doc, decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Pos(), docOf(decl, spec.Doc), spec.Name)
				case *ast.ValueSpec:
					add(spec.Pos(), docOf(decl, spec.Doc), spec.Names...)
				}
			}
		}
	}
	return found
}

// docOf returns the comment of a specification: its own, or that of a declaration which has no other.
func docOf(decl *ast.GenDecl, own *ast.CommentGroup) *ast.CommentGroup {
	if decl.Lparen.IsValid() {
		return own
	}
	return decl.Doc
}

// deniedWords are words that this project once had of its own, and the field's words for what they meant. They have no
// other use here: not in names, comments, SQL, scripts and documents. Texts in quotes are not looked at.
func deniedWords() map[string]string {
	return map[string]string{
		"anew": "from scratch, again", "at hand": "cached, there", "ballast": "GC tuning", "barrier": "fence, drain", "dear": "expensive",
		"disown": "drop what has diverged", "distrust": "invalidate", "duty": "due task", "flavour": "dialect",
		"flight": "in-flight call", "forgetting": "erasure", "gatherer": "batcher", "hidings": "hidden members", "keeper": "cache", "land": "finish",
		"patience": "max wait", "refusal": "rejection", "reopening": "correction", "settle": "move, resolve, finish",
		"shadow": "hidden entries", "sighting": "last-seen revision", "spoil": "invalidate", "tally": "count query",
		"trail": "backlog", "truth": "database", "wish": "demand",
	}
}

// TestWords finds words that are none of the project's any more.
func TestWords(t *testing.T) {
	t.Parallel()
	denied := deniedForms()
	read := 0
	for _, file := range sourceFiles(t) {
		read++
		for _, line := range linesOf(t, file) {
			for _, word := range denied.in(line.text) {
				t.Errorf("%s:%d: %s, here one says %s", file, line.number, word, denied[word])
			}
		}
	}
	if read < 50 {
		t.Errorf("read %d files, the walk is broken", read)
	}
}

// TestWordsAreHeld shows that TestWords can say no.
func TestWordsAreHeld(t *testing.T) {
	t.Parallel()
	if n := len(deniedWords()); n > 30 {
		t.Errorf("%d words are denied, want at most 30", n)
	}
	denied := deniedForms()
	for text, want := range map[string][]string{
		"the truth and its TRUTHS": {"truth", "truths"}, "truthOf": {"truth"}, "modelTruth, HTTPTruth2": {"truth", "truth"},
		"keeps at hand what is": {"at hand"}, "at his hand": nil, "not_settled": {"settled"}, "two tallies": {"tallies"},
		"island trailing dearth handle untruthful": nil, "": nil,
	} {
		if got := denied.in(text); !slices.Equal(got, want) {
			t.Errorf("in %q: %q, want %q", text, got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "p.go")
	source := "package p\n\n// a\nfunc f(v int) string {\n\treturn \"text\" // b\n}\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range linesOf(t, file) {
		got = append(got, line.text)
	}
	slices.Sort(got)
	if want := []string{"// a", "// b", "f", "int", "p", "string", "v"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// words are denied words in all their forms, and what to say instead.
type words map[string]string

func deniedForms() words {
	forms := words{}
	for word, instead := range deniedWords() {
		for _, ending := range []string{"", "s", "es", "d", "ed"} {
			forms[word+ending] = instead
		}
		if stem, ok := strings.CutSuffix(word, "y"); ok {
			forms[stem+"ies"] = instead
		}
	}
	return forms
}

var (
	wordOfName = regexp.MustCompile(`\p{Lu}?\p{Ll}+|\p{Lu}+`)
	acronym    = regexp.MustCompile(`(\p{Lu})(\p{Lu}\p{Ll})`) // HTTPServer is HTTP and Server
)

// in lists the denied words of a text in order, those in names too.
func (w words) in(text string) []string {
	var found []string
	before := ""
	for _, word := range wordOfName.FindAllString(acronym.ReplaceAllString(text, "$1 $2"), -1) {
		word = strings.ToLower(word)
		if phrase := before + " " + word; w[phrase] != "" {
			found = append(found, phrase)
		}
		if w[word] != "" {
			found = append(found, word)
		}
		before = word
	}
	return found
}

// line is a piece of a file in which words are looked at.
type line struct {
	number int
	text   string
}

// linesOf returns the names and the lines of comments of a Go file, and all lines of another.
func linesOf(t *testing.T, file string) []line {
	t.Helper()
	if path.Ext(file) != ".go" {
		return numbered(1, readDoc(t, file))
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var lines []line
	for _, group := range parsed.Comments {
		for _, comment := range group.List {
			lines = append(lines, numbered(fset.Position(comment.Pos()).Line, comment.Text)...)
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok {
			lines = append(lines, line{fset.Position(name.Pos()).Line, name.Name})
		}
		return true
	})
	return lines
}

func numbered(first int, text string) []line {
	var lines []line
	for i, each := range strings.Split(text, "\n") {
		lines = append(lines, line{first + i, each})
	}
	return lines
}

// allGoFiles lists the Go files of this module and of those below it.
func allGoFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(sourceFiles(t), func(file string) bool { return path.Ext(file) != ".go" })
}

// sourceFiles lists Go files, SQL, scripts for Redis and documents.
func sourceFiles(t *testing.T) []string {
	t.Helper()
	return filesWhere(t, func(name string) bool { return slices.Contains([]string{".go", ".sql", ".lua", ".md"}, path.Ext(name)) })
}

// filesWhere lists the files of this module and of those below it whose names are wanted, without what is fetched, hidden or
// data of tests.
func filesWhere(t *testing.T, wanted func(name string) bool) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.IsDir() && wanted(name):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// goFilesIn lists the Go files of a folder that are not tests.
func goFilesIn(dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil // the pattern is a good one
	}
	return slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
}
