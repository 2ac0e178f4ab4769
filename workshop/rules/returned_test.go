package rules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// concreteErrors returns the exported functions that may return a type of errors: they make one, and never return nil
// in its place, or take one out of an error, which is not passed on.
func concreteErrors() []string {
	return []string{"AsRule", "In", "NoBoard", "NotToDerived", "SeasonConflict"}
}

// TestErrorsAreErrors: a check, and whatever else is exported, returns an error and no pointer to a type of errors. A
// nil *RuleError in an error is not a nil error.
func TestErrorsAreErrors(t *testing.T) {
	t.Parallel()
	found, excepted := 0, map[string]bool{}
	for _, file := range goFiles(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range returning(parsed) {
			found++
			switch {
			case !f.concrete():
			case slices.Contains(concreteErrors(), f.name):
				excepted[f.name] = true
			default:
				t.Errorf("%s: %s returns a %s, want an error", file, f.name, f.last)
			}
		}
	}
	if found < 500 {
		t.Errorf("found %d functions, the search is broken", found)
	}
	for _, name := range concreteErrors() {
		if !excepted[name] {
			t.Errorf("%s returns no type of errors any more", name)
		}
	}
}

// TestConcreteErrorsAreFound shows that TestErrorsAreErrors can fail.
func TestConcreteErrorsAreFound(t *testing.T) {
	t.Parallel()
	parsed, err := parser.ParseFile(token.NewFileSet(), "p.go", `package p
		func A() *RuleError { return nil }
		func (T) B() (int, *x.ConflictError) { return 0, nil }
		func checkC() *RuleError { return nil }
		func D() (*RuleError, error) { return nil, nil }
		func E() *Error { return nil }
		func F() []*RuleError { return nil }
		func g() *RuleError { return nil }`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range returning(parsed) {
		if f.concrete() {
			got = append(got, f.name)
		}
	}
	if want := []string{"A", "B", "checkC", "E"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// function is an exported function or a check, with the type of its last result.
type function struct{ name, last string }

func (f function) concrete() bool {
	return strings.HasPrefix(f.last, "*") && strings.HasSuffix(f.last, "Error")
}

// returning lists the functions and methods of a file that are exported or checks, and return something.
func returning(file *ast.File) []function {
	var found []function
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Type.Results == nil || !(f.Name.IsExported() || strings.HasPrefix(f.Name.Name, "check")) {
			continue
		}
		results := f.Type.Results.List
		found = append(found, function{f.Name.Name, types.ExprString(results[len(results)-1].Type)})
	}
	return found
}
