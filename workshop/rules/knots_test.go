package rules

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxKnot is how many files of a package may all reach each other. Files that use each other in a circle can only be
// understood together; a package with small knots reads in layers.
const maxKnot = 4

// knotExceptions returns the packages with a larger knot, and its size.
func knotExceptions() map[string]int {
	return map[string]int{}
}

// TestKnots holds every package to reading in layers.
func TestKnots(t *testing.T) {
	t.Parallel()
	c, exceptions := newChecker(t), knotExceptions()
	dirs := sourceDirs(t)
	if len(dirs) < 20 {
		t.Fatalf("found %d packages, the walk is broken", len(dirs))
	}
	for _, dir := range dirs {
		knot := largestKnot(c.leans(dir))
		if wrong := knotFault(len(knot), exceptions[dir]); wrong != "" {
			t.Errorf("%s: %s: %s", dir, wrong, strings.Join(knot, " "))
		}
		delete(exceptions, dir)
	}
	for dir := range exceptions {
		t.Errorf("%s has an exception, and no files", dir)
	}
}

// knotFault describes the fault of a package's largest knot, or "". An exception, 0 for none, can only shrink: an exception
// that is larger than needed is wrong too.
func knotFault(files, exception int) string {
	switch {
	case exception != 0 && (exception <= maxKnot || files < exception):
		return fmt.Sprintf("the exception for %d files is larger than needed, %d reach each other", exception, files)
	case files > max(maxKnot, exception):
		return fmt.Sprintf("%d files all reach each other, want at most %d", files, max(maxKnot, exception))
	default:
		return ""
	}
}

// TestJudgeKnot shows that TestKnots can fail, for exceptions too.
func TestJudgeKnot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		files, exception int
		good             bool
	}{
		{maxKnot, 0, true}, {maxKnot + 1, 0, false}, {20, 20, true}, {21, 20, false}, {19, 20, false}, {maxKnot, maxKnot, false}, {1, 20, false},
	} {
		if wrong := knotFault(c.files, c.exception); (wrong == "") != c.good {
			t.Errorf("%d files with an exception for %d: %q", c.files, c.exception, wrong)
		}
	}
}

// TestLargestKnot shows that a knot is found: through functions, methods, fields and variables, and not through tests.
func TestLargestKnot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"layers": {map[string]string{
			"low.go": "var Zero T; type T struct{ N int }", "mid.go": "func F(t T) int { return t.N + Zero.N }", "top.go": "var X = F(T{})",
		}, []string{"low.go"}},
		"a circle of three, and one above": {map[string]string{
			"a.go": "type A struct{ N int }; func (a A) M() int { return B() }", "b.go": "func B() int { return v }", "c.go": "var v = A{}.N",
			"top.go": "var X = A{}.M()",
		}, []string{"a.go", "b.go", "c.go"}},
		"by a method": {map[string]string{
			"a.go": "type A struct{}; func F(a A) { a.M() }", "b.go": "func (A) M() {}",
		}, []string{"a.go", "b.go"}},
		"through a package that is not known": {map[string]string{
			"a.go": "import \"example.org/x\"; func A() { B(x.Y()) }", "b.go": "func B(any) { A() }",
		}, []string{"a.go", "b.go"}},
	} {
		ch := newChecker(t)
		var files []*ast.File
		for _, file := range slices.Sorted(maps.Keys(c.files)) {
			parsed, err := parser.ParseFile(ch.fset, file, "package p; "+c.files[file], parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, parsed)
		}
		if got := largestKnot(ch.leansOf("p", files)); !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", name, got, c.want)
		}
	}
}

// sourceDirs lists the folders that have Go files other than tests.
func sourceDirs(t *testing.T) []string {
	t.Helper()
	dirs := map[string]bool{}
	for _, file := range allGoFiles(t) {
		if !strings.HasSuffix(file, "_test.go") {
			dirs[path.Dir(file)] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// leans says for each file of a package which others of the package it uses something of.
type leans map[string]map[string]bool

// checker gives every name in the sources its declaration. It takes the types of imported packages from the go command's
// builds; an unknown package, as in other modules, is empty, since only uses within a package count.
type checker struct {
	fset     *token.FileSet
	imported types.Importer
	found    map[string]leans
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	built := map[string]string{}
	for _, module := range []string{"workshop", "."} {
		list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
		list.Dir = module
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list -export in %s: %s", module, err)
		}
		for line := range strings.Lines(string(out)) {
			name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
			built[name] = file
		}
	}
	fset := token.NewFileSet()
	lookup := func(name string) (io.ReadCloser, error) { return os.Open(built[name]) }
	return &checker{fset, importer.ForCompiler(fset, "gc", lookup), map[string]leans{}}
}

// leans returns how the files of a folder lean on each other.
func (c *checker) leans(dir string) leans {
	if known, ok := c.found[dir]; ok {
		return known
	}
	var files []*ast.File
	for _, name := range goFilesIn(dir) {
		if parsed, err := parser.ParseFile(c.fset, name, nil, parser.SkipObjectResolution); err == nil {
			files = append(files, parsed)
		}
	}
	c.found[dir] = c.leansOf(dir, files)
	return c.found[dir]
}

// leansOf returns how files lean on each other that are the package of a folder.
func (c *checker) leansOf(dir string, files []*ast.File) leans {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: c.imported, FakeImportC: true, Error: func(error) {}} // declarations of other modules may not be known
	checked, _ := config.Check(path.Join(module, dir), c.fset, files, info)
	found := leans{}
	for _, file := range files {
		found[path.Base(c.fset.Position(file.Pos()).Filename)] = map[string]bool{}
	}
	for use, object := range info.Uses {
		if object.Pkg() != checked || isLocal(object) {
			continue
		}
		from, to := path.Base(c.fset.Position(use.Pos()).Filename), path.Base(c.fset.Position(object.Pos()).Filename)
		if from != to {
			found[from][to] = true
		}
	}
	return found
}

// isLocal reports whether a name is local to a function, so that no other file can use it.
func isLocal(object types.Object) bool {
	v, ok := object.(*types.Var)
	return ok && !v.IsField() && v.Parent() != v.Pkg().Scope()
}

// largestKnot returns the largest set of files that all reach each other, sorted.
func largestKnot(uses leans) []string {
	reach := map[string]map[string]bool{}
	for file := range uses {
		reach[file] = reachable(uses, file)
	}
	var largest []string
	for _, file := range slices.Sorted(maps.Keys(uses)) {
		knot := []string{file}
		for other := range reach[file] {
			if other != file && reach[other][file] {
				knot = append(knot, other)
			}
		}
		if len(knot) > len(largest) {
			slices.Sort(knot)
			largest = knot
		}
	}
	return largest
}

func reachable(uses leans, from string) map[string]bool {
	seen, next := map[string]bool{}, []string{from}
	for len(next) > 0 {
		file := next[len(next)-1]
		next = next[:len(next)-1]
		for to := range uses[file] {
			if !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	return seen
}
