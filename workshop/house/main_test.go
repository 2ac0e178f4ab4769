package main

import (
	"go/importer"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"leaderboard/workshop/program"
)

// root is the folder of the tree.
const root = "../.."

// TestStructureHolds: the tree has few names at its top, no interface and no exported type has many methods, and the table
// of concepts names each package of the engine, so that a newcomer finds its purpose.
func TestStructureHolds(t *testing.T) {
	t.Chdir(root)
	all, err := structure(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	missed := []string{"lines of the engine", "exported names of package leaderboard"} // goals that are still ahead
	for _, m := range all {
		if m.value > m.goal && !slices.Contains(missed, m.name) {
			t.Errorf("%s: %d, want at most %d; %s", m.name, m.value, m.goal, m.note)
		}
	}
}

// TestTypeMeasures counts the methods of types and of interfaces, embedded ones included.
func TestTypeMeasures(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const text = `package p
import "example.com/q"
type Small interface { A() }
type Wide interface { Small; B(); C() }
type base struct{}
func (base) X() {}
func (base) hidden() {}
type Store struct{ base; door Wide }
func (*Store) Y(Small, q.Foreign) {}
var V int
`
	for name, text := range map[string]string{"p.go": text, "q.go": "package q\ntype Foreign interface { M(); N(); O(); P() }\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	export := compile(t, "q.go")
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(string) (io.ReadCloser, error) { return os.Open(export) })
	checked, syntax, err := check(files, imports, goPackage{path: "leaderboard/p", folder: dir, files: []string{"p.go"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := largest(namedInterfaces(checked, syntax)), []counted{{"p.Wide", 3}, {"p.Small", 1}, {}}; !slices.Equal(got, want) {
		t.Errorf("interfaces %v, want %v", got, want)
	}
	types, names := exportedTypes(checked.pkg)
	if want := []counted{{"p.Store", 2}}; !slices.Equal(types, want) || names != 6 {
		t.Errorf("types %v and %d exported names, want %v and 6: Small, Wide, Store, X, Y, V", types, names, want)
	}
}

// compile makes the export data of a file.
func compile(t *testing.T, file string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "export")
	if _, err := program.GoTool(t.Context(), ".", "tool", "compile", "-p", "example.com/q", "-o", out, file); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCount: blocks that run in an idle server do not count, like the server's door.
func TestCount(t *testing.T) {
	t.Parallel()
	ran := parseProfile("mode: atomic\n" +
		"leaderboard/a/x.go:1.1,2.2 3 1\n" +
		"leaderboard/a/x.go:5.1,6.2 1 7\n" +
		"leaderboard/a/y.go:1.1,2.2 1 0\n" +
		"leaderboard/b/z.go:1.1,2.2 1 2\n" +
		"leaderboard/b/idle.go:1.1,2.2 1 2\n" +
		housePrefix + "server/main.go:1.1,2.2 1 2\n")
	files, packages, most := count(ran, blocks{"leaderboard/b/idle.go:1.1,2.2": true})
	if files != 2 || packages != 2 || most == "" {
		t.Errorf("%d files in %d packages (%s), want 2 in 2", files, packages, most)
	}
}

// TestOutside: files that programs write, and files in the feature's own folder, do not count as touched by hand.
func TestOutside(t *testing.T) {
	t.Parallel()
	got := outside([]string{"features/x/x.go", "features/xy/x.go", "go.sum", "features/pages/built/a.js", "api/openapi.json", "store/store.go"}, "features/x")
	if want := []string{"features/xy/x.go", "store/store.go"}; !reflect.DeepEqual(got, want) {
		t.Errorf("outside are %v, want %v", got, want)
	}
}
