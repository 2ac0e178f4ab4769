package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// span is a part of a text, and what takes its place.
type span struct {
	from, to int
	text     string
}

// replaced returns the text with each part replaced.
func replaced(text string, spans []span) string {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(b.from, a.from) })
	for _, s := range spans {
		text = text[:s.from] + s.text + text[s.to:]
	}
	return text
}

// goFile is a parsed file, whose positions are offsets.
type goFile struct {
	*ast.File
	base int
	text string
}

func parse(text string) (*goFile, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	return &goFile{file, fset.File(file.Pos()).Base(), text}, nil
}

func (f *goFile) at(p token.Pos) int { return int(p) - f.base }

func (f *goFile) span(n ast.Node, text string) span { return span{f.at(n.Pos()), f.at(n.End()), text} }

// goFiles changes each Go file of the tree that may; change returns the text as it was when there is nothing to do.
func (t *tree) goFiles(change func(name string, f *goFile) (string, error)) error {
	if err := t.list(); err != nil {
		return err
	}
	for _, name := range t.files {
		if path.Ext(name) != ".go" || generated(name) {
			continue
		}
		var problem error
		if err := t.edit(name, func(text string) string {
			f, err := parse(text)
			if err != nil {
				problem = err
				return text
			}
			after, err := change(name, f)
			if err != nil {
				problem = err
				return text
			}
			return after
		}); err != nil || problem != nil {
			return cmp.Or(err, problem)
		}
	}
	return nil
}

// importPath changes the import of the package old to that of to, in all Go files. Unlike paths it takes the root's too.
func (t *tree) importPath(old, to string) error {
	return t.goFiles(func(_ string, f *goFile) (string, error) {
		var spans []span
		for _, spec := range f.Imports {
			if spec.Path.Value == strconv.Quote(old) {
				spans = append(spans, f.span(spec.Path, strconv.Quote(to)))
			}
		}
		return replaced(f.text, spans), nil
	})
}

// qualifier gives the package of an import another name, wherever it is used: in code, and in comments that name what it exports.
func qualifier(f *goFile, imported, old, to string) (spans []span) {
	there := slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == strconv.Quote(imported) && s.Name == nil })
	if !there {
		return nil
	}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == old && x.Obj == nil {
				spans = append(spans, f.span(x, to))
			}
		}
		return true
	})
	said := regexp.MustCompile(`\b` + old + `\.[A-Z]`)
	for _, group := range f.Comments {
		for _, c := range group.List {
			for _, m := range said.FindAllStringIndex(c.Text, -1) {
				spans = append(spans, span{f.at(c.Pos()) + m[0], f.at(c.Pos()) + m[0] + len(old), to})
			}
		}
	}
	return spans
}

// renamePackage calls the package at an import path by another name, in its own files and in those that import it.
func (t *tree) renamePackage(dir, old, to string) error {
	return t.goFiles(func(name string, f *goFile) (string, error) {
		if isMutants(name) {
			return regexp.MustCompile(`\b`+old+`(\.[A-Z])`).ReplaceAllString(f.text, to+"$1"), nil
		}
		spans := qualifier(f, t.module+"/"+dir, old, to)
		if path.Dir(name) == dir {
			if f.Name.Name == old || f.Name.Name == old+"_test" {
				spans = append(spans, f.span(f.Name, strings.Replace(f.Name.Name, old, to, 1)))
			}
			for _, group := range f.Comments {
				for _, c := range group.List {
					if i := strings.Index(c.Text, "Package "+old+" "); i >= 0 {
						spans = append(spans, span{f.at(c.Pos()) + i + len("Package "), f.at(c.Pos()) + i + len("Package "+old), to})
					}
				}
			}
		}
		return replaced(f.text, spans), nil
	})
}

// alias gives an imported package a name of its own in the files of a folder.
func (t *tree) alias(dir, imported, old, to string) error {
	return t.goFiles(func(name string, f *goFile) (string, error) {
		if path.Dir(name) != dir {
			return f.text, nil
		}
		spans := qualifier(f, imported, old, to)
		for _, s := range f.Imports {
			if s.Name == nil && s.Path.Value == strconv.Quote(imported) {
				spans = append(spans, f.span(s.Path, to+" "+s.Path.Value))
			}
		}
		return replaced(f.text, spans), nil
	})
}

// identifier gives one identifier of the files of a folder another name, where the file does not declare it itself.
func (t *tree) identifier(file, old, to string) error {
	word := regexp.MustCompile(`\b` + old + `\b`)
	return t.edit(file, func(text string) string { return word.ReplaceAllString(text, to) })
}

// importName returns the name by which a file uses an import.
func importName(s *ast.ImportSpec) string {
	if s.Name != nil {
		return s.Name.Name
	}
	name, _ := strconv.Unquote(s.Path.Value)
	if last := path.Base(name); len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		name = path.Dir(name)
	}
	return strings.TrimSuffix(path.Base(name), ".go")
}

// used returns which unresolved names a text uses in front of a dot.
func (f *goFile) used() map[string]bool {
	names := map[string]bool{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Obj == nil {
				names[x.Name] = true
			}
		}
		return true
	})
	return names
}

// pruned returns the text of a file without those imports that it does not use and that may go.
func pruned(text string, may func(imported string) bool) (string, error) {
	f, err := parse(text)
	if err != nil {
		return "", err
	}
	used := f.used()
	var spans []span
	left := 0
	for _, s := range f.Imports {
		if name := importName(s); name == "_" || name == "." || used[name] || !may(strings.Trim(s.Path.Value, `"`)) {
			left++
			continue
		}
		from, to := f.at(s.Pos()), f.at(s.End())
		for from > 0 && text[from-1] == '\t' {
			from--
		}
		if to < len(text) && text[to] == '\n' {
			to++
		}
		spans = append(spans, span{from, to, ""})
	}
	if left == 0 {
		spans = nil
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				spans = append(spans, f.span(g, ""))
			}
		}
	}
	return replaced(text, spans), nil
}

// part is a declaration with its comment.
type part struct {
	names    []string // that it declares; of a method its type
	from, to int
	decl     ast.Decl
}

// parts lists the declarations of a file, without imports.
func (f *goFile) parts() (all []part) {
	for _, d := range f.Decls {
		p := part{from: f.at(d.Pos()), to: f.at(d.End()), decl: d}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				p.from = f.at(d.Doc.Pos())
			}
			p.names = []string{d.Name.Name}
			if d.Recv != nil {
				p.names = []string{receiver(d)}
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			if d.Doc != nil {
				p.from = f.at(d.Doc.Pos())
			}
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					p.names = append(p.names, s.Name.Name)
				case *ast.ValueSpec:
					for _, n := range s.Names {
						p.names = append(p.names, n.Name)
					}
				}
			}
		}
		if rest := f.text[p.to:]; strings.HasPrefix(rest, " //") { // a comment on the same line
			p.to += strings.IndexByte(rest, '\n')
		}
		all = append(all, p)
	}
	return all
}

func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if x, ok := t.(*ast.IndexExpr); ok {
		t = x.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// importBlock returns the imports of a file as they stand there.
func (f *goFile) importBlock() string {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			return f.text[f.at(g.Pos()):f.at(g.End())] + "\n\n"
		}
	}
	return ""
}

// split takes the declarations that chosen names out of a file into a new one, which begins with head.
func (t *tree) split(from, to, head string, chosen func(part) bool) error {
	var problem error
	var taken []string
	err := t.edit(from, func(text string) string {
		f, err := parse(text)
		if err != nil {
			problem = err
			return text
		}
		var spans []span
		for _, p := range f.parts() {
			if chosen(p) {
				taken = append(taken, text[p.from:p.to])
				end := p.to
				for end < len(text) && text[end] == '\n' {
					end++
				}
				spans = append(spans, span{p.from, end, ""})
			}
		}
		if len(taken) == 0 {
			return text
		}
		all := func(string) bool { return true }
		made, err := pruned(head+"\n\n"+f.importBlock()+strings.Join(taken, "\n\n")+"\n", all)
		if err == nil {
			err = t.add(to, made)
		}
		left, err2 := pruned(strings.TrimRight(replaced(text, spans), "\n")+"\n", all)
		if problem = cmp.Or(err, err2); problem != nil {
			return text
		}
		return left
	})
	return cmp.Or(err, problem)
}

func ownStep() step {
	return step{
		"own", func(t *tree) bool { return t.there["internal/csvcell"] }, (*tree).own,
		"internal: cells of CSV and faults of servers are no nouns of rankings",
		"Exports and imports use the first, the packages that talk to servers the\nsecond. Only the names of the packages change.",
	}
}

// own moves what has few users out of package leaderboard.
func (t *tree) own() error {
	if err := t.moveOut("formula.go", "internal/csvcell", "csvcell"); err != nil {
		return err
	}
	if err := t.moveOut("server_fault.go", "internal/serverfault", "serverfault"); err != nil {
		return err
	}
	for _, pkg := range []string{"csvcell", "serverfault"} {
		if err := t.edit("workshop/rules/imports_test.go", func(text string) string {
			text = strings.Replace(text, "\t\t{dir: \"internal/child\"},\n", "\t\t{dir: \"internal/child\"},\n\t\t{dir: \"internal/"+pkg+"\"},\n", 1)
			return text
		}); err != nil {
			return err
		}
	}
	if err := t.may(map[string][]string{
		"httpapi": {"internal/csvcell"}, "internal/transfer": {"internal/csvcell"},
		"internal/mysql": {"internal/serverfault"}, "cache/topn": {"internal/serverfault"}, "store": {"internal/serverfault"},
	}); err != nil {
		return err
	}
	if err := t.match(
		pattern{"ARCHITECTURE.md", "^(\\| [^|]*`internal/bounded`[^|]*) \\| ([^|]*) \\| nothing \\|$", "$1, `internal/csvcell`, `internal/serverfault` | $2; cells of CSV that no spreadsheet takes for formulas; what is wrong with a server, and its remedy | nothing |"},
		pattern{"docs/decisions/concepts.md", "^(\\| [^|]*`internal/bounded`[^|]*) \\| ([^|]*) \\|$", "$1, `internal/csvcell`, `internal/serverfault` | $2; cells of CSV; faults of servers |"},
	); err != nil {
		return err
	}
	return t.apply(
		change{"internal/csvcell/csvcell.go", "package csvcell\n", "// Package csvcell writes and reads cells of CSV that no spreadsheet takes for formulas.\npackage csvcell\n"},
		change{"internal/serverfault/serverfault.go", "package serverfault\n", "// Package serverfault names what is wrong with a server of MySQL or Redis, or with the machine of the service.\npackage serverfault\n"},
	)
}

// may lets packages import more, in the rules and in the table of ARCHITECTURE.md.
func (t *tree) may(more map[string][]string) error {
	for dir, imports := range more {
		for _, imported := range imports {
			rule := regexp.MustCompile(`(dir:\s+"` + dir + `",\s+may:\s+\[\]string\{\s*)`)
			if err := t.edit("workshop/rules/imports_test.go", func(text string) string {
				if !rule.MatchString(text) {
					t.said("imports_test.go: no rule of %s for %s", dir, imported)
				}
				return rule.ReplaceAllString(text, `${1}"`+t.module+`/`+imported+`", `)
			}); err != nil {
				return err
			}
			row := regexp.MustCompile("(?m)^(\\| `" + dir + "` \\|.*\\| )(`[^|]*\\|)$")
			if err := t.edit("ARCHITECTURE.md", func(text string) string {
				if !row.MatchString(text) {
					t.said("ARCHITECTURE.md: no row of %s for %s", dir, imported)
				}
				return row.ReplaceAllString(text, "${1}`"+imported+"`, ${2}")
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveOut makes a package of a file of package leaderboard and its test, and has all that use it say so.
func (t *tree) moveOut(file, dir, pkg string) error {
	if err := t.list(); err != nil {
		return err
	}
	stem := strings.TrimSuffix(file, ".go")
	if err := t.move(move{"leaderboard/" + file, dir + "/" + pkg + ".go"}, move{"leaderboard/" + stem + "_test.go", dir + "/" + pkg + "_test.go"}); err != nil {
		return err
	}
	mine := map[string]bool{}
	if err := t.list(); err != nil {
		return err
	}
	for _, name := range t.in(dir) {
		if err := t.edit(name, func(text string) string {
			if f, err := parse(text); err == nil && !strings.HasSuffix(name, "_test.go") {
				for _, p := range f.parts() {
					if d, ok := p.decl.(*ast.FuncDecl); ok && d.Recv != nil {
						continue
					}
					for _, n := range p.names {
						mine[n] = true
					}
				}
			}
			text = regexp.MustCompile(`(?m)^package leaderboard$`).ReplaceAllString(text, "package "+pkg)
			return regexp.MustCompile(`(?m)^package leaderboard_test$`).ReplaceAllString(text, "package "+pkg+"_test")
		}); err != nil {
			return err
		}
	}
	word := regexp.MustCompile(`(?m)^(//\t(?:.*, )?)` + stem + `(, |  )(.*)`)
	gap := strings.Repeat(" ", len(stem)+2)
	if err := t.edit("leaderboard/doc.go", func(text string) string {
		text = regexp.MustCompile(`(?m)^//\t`+stem+`  .*\n`).ReplaceAllString(text, "")
		return word.ReplaceAllStringFunc(text, func(found string) string {
			m := word.FindStringSubmatch(found)
			if m[2] == ", " { // what it is about stays in its column
				return m[1] + strings.Replace(m[3], "  ", "  "+gap, 1)
			}
			return strings.TrimSuffix(m[1], ", ") + m[2] + gap + m[3]
		})
	}); err != nil {
		return err
	}
	return t.goFiles(func(name string, f *goFile) (string, error) { return t.qualified(name, f, mine, dir, pkg) })
}

// qualified has a file take names from another package of the module.
func (t *tree) qualified(name string, f *goFile, mine map[string]bool, dir, pkg string) (string, error) {
	const from = "leaderboard"
	if isMutants(name) {
		return regexp.MustCompile(`\bleaderboard\.(\w+)`).ReplaceAllStringFunc(f.text, func(found string) string {
			if n := strings.TrimPrefix(found, "leaderboard."); mine[n] {
				return pkg + "." + n
			}
			return found
		}), nil
	}
	var spans []span
	ast.Inspect(f.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == from && x.Obj == nil && mine[s.Sel.Name] {
				spans = append(spans, f.span(x, pkg))
			}
		}
		return true
	})
	if len(spans) == 0 {
		return f.text, nil
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			for _, m := range regexp.MustCompile(`\bleaderboard\.(\w+)`).FindAllStringSubmatchIndex(c.Text, -1) {
				if mine[c.Text[m[2]:m[3]]] {
					spans = append(spans, span{f.at(c.Pos()) + m[0], f.at(c.Pos()) + m[0] + len(from), pkg})
				}
			}
		}
	}
	text := replaced(f.text, spans)
	if path.Dir(name) == dir && !strings.HasSuffix(name, "_test.go") {
		return strings.ReplaceAll(text, pkg+".", ""), nil
	}
	return pruned(withImport(text, t.module+"/"+dir), func(imported string) bool { return imported == t.module+"/leaderboard" })
}

func shortStep() step {
	return step{
		"short", func(t *tree) bool { return t.declares("internal/csvcell/csvcell.go", "func Quote(") }, (*tree).short,
		"internal: names of csvcell and serverfault do not say the package again",
		"csvcell.Quote and serverfault.Fault, not csvcell.QuoteFormula and\nserverfault.ServerFault.",
	}
}

// short renames what both packages export.
func (t *tree) short() error {
	if err := t.shorten("internal/csvcell", "csvcell", "Formula"); err != nil {
		return err
	}
	if err := t.shorten("internal/serverfault", "serverfault", "Server"); err != nil {
		return err
	}
	return t.apply(change{"internal/app/servers_test.go", "`ServerCheck = \"(.+)\"`", "`Check += \"(.+)\"`"})
}

// shorten takes a word out of the exported names of a package.
func (t *tree) shorten(dir, pkg, word string) error {
	exported := regexp.MustCompile(`\b` + pkg + `\.([A-Z]\w*)`)
	var names []string
	if err := t.list(); err != nil {
		return err
	}
	for _, name := range t.in(dir) {
		if err := t.edit(name, func(text string) string {
			if f, err := parse(text); err == nil && !strings.HasSuffix(name, "_test.go") {
				for _, p := range f.parts() {
					if d, ok := p.decl.(*ast.FuncDecl); !ok || d.Recv == nil {
						names = append(names, p.names...)
					}
				}
			}
			return text
		}); err != nil {
			return err
		}
	}
	return t.goFiles(func(name string, f *goFile) (string, error) {
		if path.Dir(name) != dir {
			return exported.ReplaceAllStringFunc(f.text, func(found string) string { return pkg + "." + strings.Replace(found[len(pkg)+1:], word, "", 1) }), nil
		}
		text := f.text
		for _, n := range names {
			if ast.IsExported(n) {
				text = regexp.MustCompile(`\b`+n+`\b`).ReplaceAllString(text, strings.Replace(n, word, "", 1))
			}
		}
		return text, nil
	})
}
