package main

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

func apiStep() step {
	return step{
		"api", func(t *tree) bool { return t.there["api"] }, (*tree).api,
		"api: the contract, openapi.yaml and the documents of the client",
		"The types of documents move from client to api, file by file; client keeps\naliases. openapi.yaml stands with them, and httpapi takes it from there.",
	}
}

// api moves the contract out of httpapi and client.
func (t *tree) api() error {
	if err := t.move(move{"httpapi/openapi.yaml", "api/openapi.yaml"}); err != nil {
		return err
	}
	if err := t.documents(); err != nil {
		return err
	}
	if err := t.add("api/doc.go", `// Package api is the contract of the HTTP API: its OpenAPI document, and the Go types of the documents that requests and answers
// carry. Package client has an alias of each type.
package api

import _ "embed"

//go:embed openapi.yaml
var openAPI string

// OpenAPI returns openapi.yaml.
func OpenAPI() []byte { return []byte(openAPI) }
`); err != nil {
		return err
	}
	if err := t.list(); err != nil {
		return err
	}
	for _, name := range t.in("httpapi") {
		if path.Ext(name) != ".go" {
			continue
		}
		if err := t.edit(name, func(text string) string { return t.takesOpenAPI(text) }); err != nil {
			return err
		}
	}
	if err := t.may(map[string][]string{"httpapi": {"api"}, "client": {"api"}}); err != nil {
		return err
	}
	if err := t.match(
		pattern{"workshop/rules/imports_test.go", `^(\t\t\{dir: "client",)`, "\t\t{dir: \"api\", may: []string{nounsPkg}},\n$1"},
		pattern{"ARCHITECTURE.md", "^(\\| `client` \\|)", "| `api` | the contract: openapi.yaml, and the Go types of its documents | `leaderboard` |\n$1"},
		pattern{"docs/decisions/concepts.md", "^(\\| `httpapi`, )", "| `api` | the contract |\n$1"},
		pattern{"CONTRIBUTING.md", "`leaderboard/client`(,?\\s(?:and\\s)?)`leaderboard/leaderboard`", "`leaderboard/api`, `leaderboard/client`$1`leaderboard/leaderboard`"},
	); err != nil {
		return err
	}
	return t.apply(
		change{"workshop/rename/install_test.go", `[]string{path + "/client", path + "/leaderboard"}`, `[]string{path + "/api", path + "/client", path + "/leaderboard"}`},
		change{"client/doc.go", "those of package leaderboard; the answers are here, since they\n// hold what the API shows.", "those of package leaderboard; the answers are those of package api."},
	)
}

// takesOpenAPI has a file of httpapi take openapi.yaml from package api.
func (t *tree) takesOpenAPI(text string) string {
	const embedded = "\t//go:embed openapi.yaml\n\topenAPIYAML []byte\n"
	before := text
	text = strings.Replace(text, embedded, "", 1)
	f, err := parse(text)
	if err != nil {
		return before
	}
	var spans []span
	ast.Inspect(f.File, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Body != nil {
				ast.Inspect(n.Body, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						return s.Sel.Name != "openAPIYAML"
					}
					if id, ok := n.(*ast.Ident); ok && id.Name == "openAPIYAML" {
						spans = append(spans, f.span(id, "api.OpenAPI()"))
					}
					return true
				})
			}
			return false
		case *ast.GenDecl:
			for _, s := range n.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for _, value := range v.Values {
						ast.Inspect(value, func(n ast.Node) bool {
							if id, ok := n.(*ast.Ident); ok && id.Name == "openAPIYAML" {
								spans = append(spans, f.span(id, "api.OpenAPI()"))
							}
							return true
						})
					}
				}
			}
		}
		return true
	})
	if len(spans) == 0 {
		return text
	}
	return withImport(replaced(text, spans), t.module+"/api")
}

// withImport adds an import of the module's own to the last group of a file.
func withImport(text, imported string) string {
	f, err := parse(text)
	if err != nil || slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"`+imported+`"` }) {
		return text
	}
	if len(f.Imports) == 0 {
		end := f.at(f.Name.End())
		return text[:end] + "\n\nimport \"" + imported + "\"" + text[end:]
	}
	last := f.Imports[len(f.Imports)-1]
	end := f.at(last.Path.End())
	own := strings.HasPrefix(last.Path.Value, `"`+strings.SplitN(imported, "/", 2)[0])
	gap := "\n\t\""
	if !own {
		gap = "\n\n\t\""
	}
	if f.Decls[0].(*ast.GenDecl).Lparen == 0 { // one import without parentheses
		from := f.at(f.Decls[0].Pos())
		return text[:from] + "import (\n\t" + text[f.at(last.Pos()):end] + gap + imported + "\"\n)" + text[end:]
	}
	return text[:end] + gap + imported + "\"" + text[end:]
}

// documents moves the types of documents from client to api.
func (t *tree) documents() error {
	if err := t.list(); err != nil {
		return err
	}
	declared := map[string]ast.Decl{} // types and functions of the client
	files := map[string]*goFile{}
	for _, name := range t.in("client") {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if err := t.edit(name, func(text string) string {
			if f, err := parse(text); err == nil {
				files[name] = f
			}
			return text
		}); err != nil {
			return err
		}
		for _, p := range files[name].parts() {
			if d, ok := p.decl.(*ast.FuncDecl); ok && d.Recv != nil {
				continue
			}
			for _, n := range p.names {
				declared[n] = p.decl
			}
		}
	}
	chosen := t.choose(declared, files)
	var aliases []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, p := range files[name].parts() {
			if !chosen[p.names[0]] {
				continue
			}
			switch d := p.decl.(type) {
			case *ast.GenDecl:
				if ast.IsExported(p.names[0]) {
					aliases = append(aliases, fmt.Sprintf("// %s\ntype %s = api.%s\n", sentence(d.Doc.Text()), p.names[0], p.names[0]))
				}
			case *ast.FuncDecl:
				if d.Recv == nil && ast.IsExported(p.names[0]) {
					f := files[name]
					head := f.text[f.at(d.Pos()):f.at(d.Body.Pos())]
					aliases = append(aliases, fmt.Sprintf("// %s\n%s{ return api.%s(%s) }\n", sentence(d.Doc.Text()), head, p.names[0], d.Type.Params.List[0].Names[0].Name))
				}
			}
		}
		if err := t.split(name, "api/"+path.Base(name), "package api", func(p part) bool { return chosen[p.names[0]] }); err != nil {
			return err
		}
	}
	fmt.Printf("%d documents\n", len(aliases))
	return t.add("client/documents.go", "package client\n\nimport \""+t.module+"/api\"\n\n// The documents of the API are types of package api.\n\n"+strings.Join(aliases, "\n"))
}

// choose returns the names of types with members in JSON, and of what they and their methods need.
func (t *tree) choose(declared map[string]ast.Decl, files map[string]*goFile) map[string]bool {
	chosen := map[string]bool{}
	var take func(name string)
	var needs func(ast.Node)
	needs = func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Field: // not its name
				needs(n.Type)
				return false
			case *ast.KeyValueExpr:
				needs(n.Value)
				return false
			case *ast.SelectorExpr:
				ast.Inspect(n.X, func(x ast.Node) bool {
					if id, ok := x.(*ast.Ident); ok {
						take(id.Name)
					}
					return true
				})
				return false
			case *ast.Ident:
				take(n.Name)
			}
			return true
		})
	}
	take = func(name string) {
		if declared[name] == nil || chosen[name] || name == "Client" {
			return
		}
		chosen[name] = true
		switch d := declared[name].(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					needs(s.Type)
				}
			}
		case *ast.FuncDecl:
			needs(d.Type)
			needs(d.Body)
		}
		for _, f := range files {
			for _, p := range f.parts() {
				if d, ok := p.decl.(*ast.FuncDecl); ok && d.Recv != nil && receiver(d) == name {
					needs(d.Type)
					needs(d.Body)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		d, ok := declared[name].(*ast.GenDecl)
		if !ok || !ast.IsExported(name) {
			continue
		}
		s, ok := d.Specs[0].(*ast.TypeSpec)
		if !ok {
			continue
		}
		if st, ok := s.Type.(*ast.StructType); ok && slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, "json:") }) {
			take(name)
		}
	}
	return chosen
}

// sentence returns the first sentence of a comment, on one line.
func sentence(comment string) string {
	text := strings.Join(strings.Fields(comment), " ")
	for i := 0; i < len(text); i++ {
		if text[i] == '.' && (i+1 == len(text) || text[i+1] == ' ') {
			return text[:i+1]
		}
	}
	return text
}
