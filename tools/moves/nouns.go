package main

import (
	"go/ast"
	"path"
	"regexp"
	"strings"
)

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
