// Command moves takes the files of the tree to other folders, step by step, with a commit for each. It works on whatever the tree is
// now, so a rebase is a second run: on a clean checkout of main
//
//	go run -C tools ./moves "$PWD"
//
// Steps that are done are passed over. What it cannot do it prints, to be done by hand.
package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// step is one commit.
type step struct {
	name    string
	done    func(*tree) bool
	do      func(*tree) error
	subject string
	body    string
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: moves FOLDER [STEP …]; steps are", strings.Join(names(), " "))
		os.Exit(2)
	}
	if err := runAll(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "moves:", err)
		os.Exit(1)
	}
}

func names() (all []string) {
	for _, s := range steps() {
		all = append(all, s.name)
	}
	return all
}

func runAll(root string, only []string) error {
	left := 0
	say := func(format string, args ...any) {
		left++
		fmt.Printf("BY HAND: "+format+"\n", args...)
	}
	for _, s := range steps() {
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		began := time.Now()
		t, err := openTree(root, say)
		if err != nil {
			return err
		}
		if s.done(t) {
			fmt.Printf("%s: done before\n", s.name)
			continue
		}
		if err := s.do(t); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if err := t.format(); err != nil {
			return err
		}
		if _, err := run(root, "git", "add", "-A"); err != nil {
			return err
		}
		if _, err := run(root, "git", "commit", "-q", "-m", s.subject, "-m", s.body); err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", s.name, time.Since(began).Round(time.Second/10))
	}
	if left > 0 {
		return fmt.Errorf("%d things are left to do by hand", left)
	}
	return nil
}

// format formats the Go files that are changed, each by the linter's own formatter.
func (t *tree) format() error {
	out, err := run(t.root, "git", "status", "--porcelain", "--untracked-files=all", "--no-renames", "-z")
	if err != nil {
		return err
	}
	var files []string
	for line := range strings.SplitSeq(strings.TrimRight(out, "\x00"), "\x00") {
		if len(line) < 4 || !strings.HasSuffix(line, ".go") || line[0] == 'D' || line[1] == 'D' {
			continue
		}
		files = append(files, filepath.Join(t.root, line[3:]))
	}
	if len(files) == 0 {
		return nil
	}
	lint := "tools/go.mod"
	if _, err := os.Stat(filepath.Join(t.root, lint)); err != nil {
		lint = "workshop/tools/go.mod"
	}
	_, err = run(t.root, "go", append([]string{"tool", "-modfile=" + filepath.Join(t.root, lint), "golangci-lint", "fmt"}, files...)...)
	return err
}

// change is a piece of text that takes the place of another one, which is there once.
type change struct{ file, old, new string }

// apply makes changes, and says which cannot be made: somebody else has changed that text.
func (t *tree) apply(changes ...change) error {
	for _, c := range changes {
		found := 0
		err := t.edit(c.file, func(text string) string {
			if found = strings.Count(text, c.old); found != 1 {
				return text
			}
			return strings.Replace(text, c.old, c.new, 1)
		})
		if err != nil {
			return err
		}
		if found != 1 {
			t.said("%s: %q is there %d times, it is to become %q", c.file, c.old, found, c.new)
		}
	}
	return nil
}

// pattern is a regular expression that matches once in a file, where others may change the text beside it.
type pattern struct{ file, find, put string }

// match makes changes that patterns say, and says which cannot be made.
func (t *tree) match(patterns ...pattern) error {
	for _, p := range patterns {
		find := regexp.MustCompile("(?m)" + p.find)
		if err := t.edit(p.file, func(text string) string {
			if n := len(find.FindAllString(text, -1)); n != 1 {
				t.said("%s: %s matches %d times, it is to become %q", p.file, p.find, n, p.put)
			}
			return find.ReplaceAllString(text, p.put)
		}); err != nil {
			return err
		}
	}
	return nil
}

// add writes a new file.
func (t *tree) add(name, text string) error {
	name = filepath.Join(t.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}

// houseTests are the tests at the top of the tree that are about all of it.
func houseTests() []string {
	return []string{"docs_test.go", "house_test.go", "imports_test.go", "knots_test.go", "promises_test.go", "returned_test.go"}
}

func steps() []step {
	return []step{
		{
			"leaderboard", func(t *tree) bool { return t.there["leaderboard"] }, (*tree).nouns,
			"leaderboard: the package moves into a folder of that name",
			"Its files stood between the folders that were asked for, three screens of\nthem. The import path is leaderboard/leaderboard; nothing else changes.",
		},
		{
			"internal", func(t *tree) bool { return t.there["internal/wire"] }, (*tree).shared,
			"internal: entries, wire, guard and the connections to MySQL move here",
			"Features will need them, and an internal folder of store or httpapi does\nnot let them. Import paths and paths change, and nothing else.",
		},
		{
			"mysql", func(t *tree) bool {
				return t.there["internal/mysql"] && !t.declares("internal/mysql/db.go", "package db\n")
			}, (*tree).mysql,
			"mysql: package db is called what it is about",
			"Only the name of the package changes, and that of the driver's inside it.",
		},
		workshopStep(),
		apiStep(),
		ownStep(),
		shortStep(),
	}
}

func (t *tree) declares(file, text string) bool {
	found := false
	_ = t.edit(file, func(had string) string { found = strings.Contains(had, text); return had })
	return found
}

// nouns moves the package at the top.
func (t *tree) nouns() error {
	// A test of all packages goes to the other ones of that kind.
	after := false
	if err := t.split("check_test.go", "returned_test.go", "package leaderboard_test", func(p part) bool {
		after = after || slices.Contains(p.names, "concreteErrors")
		return after
	}); err != nil {
		return err
	}
	if _, err := run(t.root, "git", "add", "returned_test.go"); err != nil {
		return err
	}
	if err := t.list(); err != nil {
		return err
	}
	var moves []move
	inTests := map[string]bool{}
	for _, name := range t.in(".") {
		if path.Ext(name) == ".go" && !slices.Contains(houseTests(), name) {
			moves = append(moves, move{name, "leaderboard/" + name})
			_ = t.edit(name, func(text string) string {
				for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(text, -1) {
					inTests[m[1]] = true
				}
				return text
			})
		}
	}
	if err := t.move(moves...); err != nil {
		return err
	}
	ofRoot := regexp.MustCompile("`\\.`(:? )(Test\\w+)")
	for _, name := range t.files {
		if path.Ext(name) != ".md" {
			continue
		}
		if err := t.edit(name, func(text string) string {
			text = regexp.MustCompile(`(?m)^(\s*)"`+t.module+`"$`).ReplaceAllString(text, `${1}"`+t.module+`/leaderboard"`)
			return ofRoot.ReplaceAllStringFunc(text, func(found string) string {
				if m := ofRoot.FindStringSubmatch(found); inTests[m[2]] {
					return "`leaderboard`" + m[1] + m[2]
				}
				return found
			})
		}); err != nil {
			return err
		}
	}
	if err := t.mutantTests(inTests); err != nil {
		return err
	}
	if err := t.importPath(t.module, t.module+"/leaderboard"); err != nil {
		return err
	}
	if err := t.edit("imports_test.go", func(text string) string {
		head, rules, _ := strings.Cut(text, "\nfunc importRules()")
		head = strings.Replace(head, "\tmodule   = \""+t.module+"\"\n", "\tmodule   = \""+t.module+"\"\n\tnounsPkg = \""+t.module+"/leaderboard\"\n", 1)
		rules = regexp.MustCompile(`(\w\()?\bmodule(,|\}|: true)`).ReplaceAllStringFunc(rules, func(found string) string {
			if strings.Contains(found, "(") {
				return found
			}
			return strings.Replace(found, "module", "nounsPkg", 1)
		})
		return head + "\nfunc importRules()" + rules
	}); err != nil {
		return err
	}
	return t.apply(
		change{"imports_test.go", `{dir: "."},`, `{dir: "leaderboard"},`},
		change{"docs_test.go", "\tif imported == module {\n\t\treturn \"leaderboard\" // the package, whatever the module's path is\n\t}\n", ""},
		change{"knots_test.go", `readDoc(t, "doc.go")`, `readDoc(t, "leaderboard/doc.go")`},
		change{"knots_test.go", `newChecker(t).leans(".")`, `newChecker(t).leans("leaderboard")`},
		change{"knots_test.go", "TestReadingOrder holds the root package to the layers", "TestReadingOrder holds package leaderboard to the layers"},
		change{"ARCHITECTURE.md", "| `.` | package leaderboard: boards,", "| `leaderboard` | the nouns: boards,"},
		change{".gitignore", "/leaderboard\n", ""},
		change{"CONTRIBUTING.md", "takes the packages `leaderboard` and\n`leaderboard/client` and nothing else", "takes the packages `leaderboard/client` and\n`leaderboard/leaderboard` and nothing else"},
		change{"docs/decisions/concepts.md", "types of the root package", "types of package leaderboard"},
		change{"tools/rename/main.go", "build\n// files and documents, and its repository's address in what is published. The root package is called leaderboard as before.\n", "build\n// files and documents, and its repository's address in what is published.\n"},
		change{"tools/rename/install_test.go", "\t\"`+path+`\"\n", "\t\"`+path+`/leaderboard\"\n"},
		change{"tools/rename/install_test.go", "[]string{path, path + \"/client\"}", "[]string{path + \"/client\", path + \"/leaderboard\"}"},
	)
}

// mutantTests has the lists of lines to break name the package of the tests that have moved.
func (t *tree) mutantTests(moved map[string]bool) error {
	test := regexp.MustCompile(`"\. (Test\w+)`)
	for _, name := range t.files {
		if !isMutants(name) {
			continue
		}
		if err := t.edit(name, func(text string) string {
			return test.ReplaceAllStringFunc(text, func(found string) string {
				if moved[found[3:]] {
					return `"leaderboard ` + found[3:]
				}
				return found
			})
		}); err != nil {
			return err
		}
	}
	return nil
}

// shared moves the packages that features need.
func (t *tree) shared() error {
	if err := t.move(
		move{"store/internal/db", "internal/mysql"},
		move{"store/internal/entries", "internal/entries"},
		move{"store/internal/plantest", "internal/plantest"}, // the tests of entries take it
		move{"httpapi/internal/wire", "internal/wire"},
		move{"httpapi/internal/guard", "internal/guard"},
	); err != nil {
		return err
	}
	for old, to := range map[string]string{"storeDB": "mysqlPkg", "storeEntries": "entriesPkg"} {
		if err := t.identifier("imports_test.go", old, to); err != nil {
			return err
		}
	}
	return nil
}

// mysql renames package db.
func (t *tree) mysql() error {
	if err := t.alias("internal/mysql", "github.com/go-sql-driver/mysql", "mysql", "gomysql"); err != nil {
		return err
	}
	return t.renamePackage("internal/mysql", "db", "mysql")
}
