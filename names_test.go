package leaderboard_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestEnumNames holds constants of enums to carrying the name of their type: StatusApplied, not Applied. A constant of
// an enum is one in a block, with a type that has a name, whose value is a string or iota.
func TestEnumNames(t *testing.T) {
	checked := 0
	for _, file := range goFiles(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range enumConstants(parsed) {
			checked++
			if !strings.HasPrefix(c.name, c.enum) {
				t.Errorf("%s: the constant %s of type %s must be called %s…", file, c.name, c.enum, c.enum)
			}
		}
	}
	if checked < 50 {
		t.Errorf("found %d constants of enums, the search is broken", checked)
	}
}

// enumConstant is a constant of an enum.
type enumConstant struct{ name, enum string }

// enumConstants lists the constants of enums in a file. One without type and value has those of the one before.
func enumConstants(file *ast.File) []enumConstant {
	var found []enumConstant
	for _, decl := range file.Decls {
		block, ok := decl.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST || !block.Lparen.IsValid() {
			continue
		}
		enum := ""
		for _, spec := range block.Specs {
			value := spec.(*ast.ValueSpec)
			if value.Type != nil || len(value.Values) > 0 {
				enum = enumOf(value)
			}
			if enum == "" {
				continue
			}
			for _, name := range value.Names {
				found = append(found, enumConstant{name.Name, enum})
			}
		}
	}
	return found
}

// enumOf names the type of a constant that is one of an enum, "" when it is not.
func enumOf(spec *ast.ValueSpec) string {
	typ, ok := spec.Type.(*ast.Ident)
	if !ok || len(spec.Values) == 0 {
		return ""
	}
	text, isLiteral := spec.Values[0].(*ast.BasicLit)
	name, isName := spec.Values[0].(*ast.Ident)
	if (isLiteral && text.Kind == token.STRING) || (isName && name.Name == "iota") {
		return typ.Name
	}
	return ""
}
