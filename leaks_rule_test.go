package leaderboard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestLeaksAreLookedFor wants each package that starts goroutines to look, after its tests, for those that are left:
// its TestMain ends in testenv.Main or in leaks.Main (promise F5).
func TestLeaksAreLookedFor(t *testing.T) {
	t.Parallel()
	starts := map[string]bool{}
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file, "_test.go") && startsGoroutines(t, file) {
			starts[path.Dir(file)] = true
		}
	}
	if len(starts) < 10 {
		t.Fatalf("found %d packages that start goroutines, the search is broken", len(starts))
	}
	for dir := range starts {
		if !looksForLeaks(t, dir) {
			t.Errorf("package %s starts goroutines, and nothing looks for those that its tests leave: give it a TestMain with leaks.Main or testenv.Main", dir)
		}
	}
}

// startsGoroutines says whether a file has a go statement, or calls the method Go of a group.
func startsGoroutines(t *testing.T, file string) (found bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found = true
			}
		}
		return !found
	})
	return found
}

// looksForLeaks says whether the tests of a package end with a look for goroutines, or it is the one that has testenv.Main.
func looksForLeaks(t *testing.T, dir string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text := readDoc(t, file)
		if strings.Contains(text, "testenv.Main(m)") || strings.Contains(text, "leaks.Main(") || strings.Contains(text, "leaks.Check(") {
			return true
		}
	}
	return false
}
