package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leaderboard/workshop/program"
)

// Goals of the structure.
const (
	engineGoal    = 32_000 // lines
	interfaceGoal = 12     // methods
	typeGoal      = 25     // methods
	topGoal       = 40     // names
	wordsGoal     = 50_000
	nounsGoal     = 350 // exported names, methods included
)

// nouns is the folder of package leaderboard, once for where it is and once for where it goes.
func nouns() string {
	if _, err := os.Stat("leaderboard"); err == nil {
		return "leaderboard"
	}
	return "."
}

// engineFolders are the packages that form the engine with all their imports.
func engineFolders() []string {
	return []string{"./store", "./cache", "./refresher", "./httpapi"}
}

// goPackage is a package of this module.
type goPackage struct {
	path, folder string // folder is relative to the module's
	files        []string
	export       string // file with its types, of the compiler
}

// structure measures what stands in the tree.
func structure(ctx context.Context) ([]measure, error) {
	top, err := git(ctx, "ls-tree", "--name-only", "HEAD")
	if err != nil {
		return nil, err
	}
	words, err := countWords(ctx)
	if err != nil {
		return nil, err
	}
	engine, err := engineMeasures(ctx)
	if err != nil {
		return nil, err
	}
	typed, err := typeMeasures(ctx)
	if err != nil {
		return nil, err
	}
	names := len(strings.Fields(top))
	all := []measure{{"names at the top level", names, topGoal, ""}, {"words of Markdown", words, wordsGoal, ""}}
	return slices.Concat(all, engine, typed), nil
}

// countWords counts the words of all Markdown files.
func countWords(ctx context.Context) (words int, err error) {
	names, err := git(ctx, "ls-files", "*.md")
	if err != nil {
		return 0, err
	}
	for _, name := range strings.Fields(names) {
		text, err := os.ReadFile(name)
		if err != nil {
			return 0, err
		}
		words += len(strings.Fields(string(text)))
	}
	return words, nil
}

// engineMeasures counts the lines of the engine, and its packages that no row of the table of concepts names.
func engineMeasures(ctx context.Context) ([]measure, error) {
	engine, err := enginePackages(ctx)
	if err != nil {
		return nil, err
	}
	concepts, err := os.ReadFile("docs/decisions/concepts.md")
	if err != nil {
		return nil, err
	}
	lines := 0
	var unnamed []string
	for _, p := range engine {
		for _, file := range p.files {
			text, err := os.ReadFile(filepath.Join(p.folder, file))
			if err != nil {
				return nil, err
			}
			lines += strings.Count(string(text), "\n")
		}
		if !strings.Contains(string(concepts), "`"+p.folder+"`") && !strings.Contains(string(concepts), "`"+p.folder+"/") && p.folder != "." {
			unnamed = append(unnamed, p.folder)
		}
	}
	return []measure{
		{"lines of the engine", lines, engineGoal, fmt.Sprintf("%d packages", len(engine))},
		{"packages of the engine that concepts.md does not name", len(unnamed), 0, strings.Join(unnamed, " ")},
	}, nil
}

// enginePackages lists the engine's packages in this module.
func enginePackages(ctx context.Context) ([]goPackage, error) {
	return list(ctx, append([]string{"-deps"}, engineFolders()...)...)
}

// list lists packages of this module as go list does.
func list(ctx context.Context, args ...string) (found []goPackage, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	text, err := program.GoTool(ctx, ".", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Export,Module"}, args...)...)
	if err != nil {
		return nil, err
	}
	for in := json.NewDecoder(strings.NewReader(text)); ; {
		var p struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  *struct{ Main bool }
		}
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		folder, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		if p.Module == nil || !p.Module.Main {
			folder = ""
		}
		if folder != "" || p.Export != "" {
			found = append(found, goPackage{p.ImportPath, folder, p.GoFiles, p.Export})
		}
	}
}

// isProduct reports whether a folder is a part of the product: not of its tools and tests, nor of the client.
func isProduct(folder string) bool {
	if folder == "" {
		return false
	}
	for _, other := range []string{"workshop", "deploy", "examples", "client", "clients", "internal/testenv", "internal/apptest", "internal/leaks", "internal/devserver", "internal/demo", "internal/child"} {
		if folder == other || strings.HasPrefix(folder, other+"/") {
			return false
		}
	}
	return !strings.HasSuffix(folder, "test") // storetest, cachetest, plantest
}

// typeMeasures measures interfaces and types of the product.
func typeMeasures(ctx context.Context) ([]measure, error) {
	all, err := list(ctx, "-export", "-deps", "./cmd/leaderboard")
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.path] = p.export
	}
	files := token.NewFileSet()
	imports := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var doors, wide []counted
	exported := 0
	for _, p := range all {
		if !isProduct(p.folder) && p.folder != nouns() {
			continue
		}
		checked, syntax, err := check(files, imports, p)
		if err != nil {
			return nil, err
		}
		doors = append(doors, namedInterfaces(checked, syntax)...)
		types, names := exportedTypes(checked.pkg)
		wide = append(wide, types...)
		if p.folder == nouns() {
			exported = names
		}
	}
	doors, wide = largest(doors), largest(wide)
	return []measure{
		{"methods of the widest interface that a parameter or field names", doors[0].n, interfaceGoal, above(doors, interfaceGoal)},
		{"methods of the widest exported type", wide[0].n, typeGoal, above(wide, typeGoal)},
		{"exported names of package leaderboard", exported, nounsGoal, ""},
	}, nil
}

// checkedPackage is a package with its types.
type checkedPackage struct {
	pkg  *types.Package
	info *types.Info
}

func check(files *token.FileSet, imports types.Importer, p goPackage) (c checkedPackage, syntax []*ast.File, err error) {
	for _, name := range p.files {
		file, err := parser.ParseFile(files, filepath.Join(p.folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return c, nil, err
		}
		syntax = append(syntax, file)
	}
	c.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	c.pkg, err = (&types.Config{Importer: imports}).Check(p.path, files, syntax, c.info)
	return c, syntax, err
}

// counted is a name with how many methods it has.
type counted struct {
	name string
	n    int
}

// largest sorts by number, largest first, each name once.
func largest(all []counted) []counted {
	slices.SortFunc(all, func(a, b counted) int {
		if a.n != b.n {
			return b.n - a.n
		}
		return strings.Compare(a.name, b.name)
	})
	return append(slices.Compact(all), counted{})
}

// above lists the names and counts larger than a goal.
func above(all []counted, goal int) string {
	var words []string
	for _, c := range all {
		if c.n > goal {
			words = append(words, fmt.Sprintf("%s %d", c.name, c.n))
		}
	}
	return strings.Join(words, ", ")
}

// namedInterfaces returns the interfaces of this module that parameters and fields of a package name, with all their methods.
func namedInterfaces(c checkedPackage, syntax []*ast.File) (found []counted) {
	for _, file := range syntax {
		ast.Inspect(file, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok {
				return true
			}
			t := c.info.Types[field.Type].Type
			named, ok := t.(*types.Named)
			if !ok || named.Obj().Pkg() == nil || !isOurs(named.Obj().Pkg().Path(), c.pkg.Path()) {
				return true
			}
			if i, ok := named.Underlying().(*types.Interface); ok {
				found = append(found, counted{named.Obj().Pkg().Name() + "." + named.Obj().Name(), i.NumMethods()})
			}
			return true
		})
	}
	return found
}

// isOurs reports whether two packages are of one module, whose path here has no dot.
func isOurs(a, b string) bool {
	first := func(path string) string { module, _, _ := strings.Cut(path, "/"); return module }
	return first(a) == first(b)
}

// exportedTypes returns the exported types of a package with their exported methods, promoted ones included, and how many exported
// names the package has, methods included.
func exportedTypes(pkg *types.Package) (found []counted, names int) {
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		if !object.Exported() {
			continue
		}
		names++
		typeName, ok := object.(*types.TypeName)
		if !ok || typeName.IsAlias() || types.IsInterface(typeName.Type()) {
			continue
		}
		methods := types.NewMethodSet(types.NewPointer(typeName.Type()))
		n := 0
		for i := range methods.Len() {
			if methods.At(i).Obj().Exported() {
				n++
			}
		}
		names += n
		found = append(found, counted{pkg.Name() + "." + name, n})
	}
	return found, names
}
