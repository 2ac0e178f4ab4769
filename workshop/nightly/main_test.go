package main

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLeftOut changes one file after another of a module with a test of the package top, which imports low, and with a package
// whose tests are left out whole.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	const none, long, whole, both = "-skip=^()$", "-skip=^(TestLong|TestLonger)$", "-skip=^()$ without slow", "-skip=^(TestLong|TestLonger)$ without slow"
	for name, c := range map[string]struct {
		file string // that changes
		text string // that is added to it
		want string
		said string
	}{
		"nothing":                        {"", "", both, "LEFT OUT: TestLong TestLonger of all: nothing of top has changed since"},
		"a package that is not tested":   {"other/other.go", "\n", both, "LEFT OUT: * of slow: nothing of other.md"},
		"a document":                     {"README.md", "\n", both, ""},
		"a document that is tested":      {"other.md", "\n", long, "run: * of slow: other.md has changed"},
		"a test of what is tested":       {"low/low_test.go", "\n", both, ""},
		"what is tested":                 {"top/top.go", "\n", whole, "run: TestLong TestLonger of all: top/top.go has changed"},
		"what that imports":              {"low/low.go", "\n", whole, "low/low.go has changed"},
		"what is new, and in no commit":  {"low/new.go", "package low\n", whole, "low/new.go has changed"},
		"a migration":                    {"low/00001_baseline.sql", "\n", whole, "low/00001_baseline.sql has changed"},
		"a script in a folder of it":     {"low/scripts/apply.lua", "\n", whole, "low/scripts/apply.lua has changed"},
		"the package of the module":      {"root.go", "\n", whole, "root.go has changed"},
		"the package of the tests":       {"all/all_test.go", "\n", whole, "all/all_test.go has changed"},
		"what tests import":              {"helper/helper.go", "\n", long, "run: * of slow: helper/helper.go has changed"},
		"the versions of other modules":  {"go.mod", "\n", none, "go.mod has changed"},
		"what starts servers":            {"internal/testenv/testenv.go", "\n", none, "internal/testenv/testenv.go has changed"},
		"what cannot be listed any more": {"low/low.go", "import _ \"leaderboard/gone\"\n", whole, "run: TestLong TestLonger of all: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := module(t)
			if c.file != "" {
				write(t, root, c.file, tree()[c.file]+c.text)
			}
			check(t, root, c.want, c.said)
		})
	}
}

// TestChangedPackages changes a file, and finds the packages that it is part of.
func TestChangedPackages(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"": "", "other.md": "", "other/other.go": "", "low/low.go": "./low ./top", "low/low_test.go": "./low", "root.go": "./low ./top .", "root_test.go": ".",
		"helper/helper.go": "./slow", "go.mod": "./low ./top ./slow .",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			root := module(t)
			if file != "" {
				write(t, root, file, tree()[file]+"\n")
			}
			if got := strings.Join(changedPackages(root, []string{"./low", "./top", "./slow", "."}, t.Output()), " "); got != want {
				t.Errorf("%s is part of %q, want %q", file, got, want)
			}
		})
	}
}

// TestFilesAlone: a row may name files and no package.
func TestFilesAlone(t *testing.T) {
	t.Parallel()
	got, err := subjectOf(module(t), row{"all", []string{"TestLong"}, []string{"other.md"}})
	if want := (subject{"all": true, "other.md": true}); err != nil || !maps.Equal(got, want) {
		t.Errorf("the subject is %v, %v, want %v", got, err, want)
	}
}

// TestAllRunInDoubt: no test is left out if the changes are not known.
func TestAllRunInDoubt(t *testing.T) {
	t.Parallel()
	for said, change := range map[string]func(t *testing.T, root string){
		"this clone lacks 1111": func(t *testing.T, root string) { write(t, root, ".ci/green", strings.Repeat("1", 40)) },
		"no .ci/green names":    func(t *testing.T, root string) { remove(t, root, ".ci/green") },
		"this clone lacks":      func(t *testing.T, root string) { remove(t, root, ".git") },
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			root := module(t)
			change(t, root)
			check(t, root, "-skip=^()$", "all tests run, none is left out: "+said)
		})
	}
	root := module(t)
	write(t, root, ".ci/nightly", "all TestLong\n")
	if args, err := arguments(root, choice{}, t.Output()); err == nil {
		t.Errorf("a row without a subject is read as %q", args)
	}
}

// TestTable checks that the rows of this tree name tests that exist, each with a unique name, since -skip knows no packages. A row
// of a whole package must name the files elsewhere that its tests read.
func TestTable(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readRows(root)
	if err != nil {
		t.Fatal(err)
	}
	packages, reads := map[string][]string{}, map[string][]string{}
	files, err := command(root, "git", "ls-files", "--cached", "--others", "--exclude-standard", "*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue // it was removed
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing`).FindAllStringSubmatch(string(text), -1) {
			packages[m[1]] = append(packages[m[1]], path.Dir(file))
		}
		for _, m := range regexp.MustCompile(`"(\.\./[^"]+)"`).FindAllStringSubmatch(string(text), -1) {
			reads[path.Dir(file)] = append(reads[path.Dir(file)], path.Join(path.Dir(file), m[1]))
		}
	}
	for _, r := range rows {
		for _, name := range r.tests {
			if in := packages[name]; !r.whole() && (len(in) != 1 || in[0] != r.own) {
				t.Errorf("%s of %s is a test of %q", name, r.own, in)
			}
		}
		for _, file := range reads[r.own] {
			if r.whole() && !slices.Contains(r.subjects, file) {
				t.Errorf("%s: they read %s, which is not named", &r, file)
			}
		}
		if subject, err := subjectOf(root, r); err != nil || len(subject) < 2 {
			t.Errorf("%s: its subject is %v, %v", &r, subject, err)
		}
	}
}

// tree is the files of a small module.
func tree() map[string]string {
	return map[string]string{
		"go.mod": "module leaderboard\n", "root.go": "package leaderboard\n", "root_test.go": "package leaderboard\n", "README.md": "text\n", "other.md": "text\n", "other/other.go": "package other\n",
		"top/top.go": "package top\nimport _ \"leaderboard/low\"\n", "low/low.go": "package low\nimport _ \"leaderboard\"\n",
		"low/low_test.go": "package low\n", "low/00001_baseline.sql": "SELECT 1\n", "low/scripts/apply.lua": "return 1\n",
		"all/all_test.go": "package all\n", "internal/testenv/testenv.go": "package testenv\n",
		"helper/helper.go": "package helper\n", "slow/slow_test.go": "package slow\nimport _ \"leaderboard/helper\"\n",
		".ci/nightly": "# a comment\n\nall TestLong TestLonger: top\nslow *: other.md\n", ".gitignore": ".ci/green\n",
	}
}

// module makes the small module, whose tests were green at its only commit.
func module(t *testing.T) (root string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range tree() {
		write(t, root, name, text)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "all"}} {
		if _, err := command(root, "git", args...); err != nil {
			t.Fatal(err)
		}
	}
	head, err := command(root, "git", "rev-parse", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, ".ci/green", head[0]+"\n")
	return root
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, root, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(root, name)); err != nil {
		t.Fatal(err)
	}
}

// check checks that the tests in want are skipped, all packages run but the packages after "without", and the output contains
// said.
func check(t *testing.T, root, want, said string) {
	t.Helper()
	var out strings.Builder
	args, err := arguments(root, choice{}, &out)
	if err != nil {
		t.Fatal(err)
	}
	packages := []string{"./all", "./slow", "./.", "./helper", "./internal/testenv", "./low", "./other", "./top"} // packages with rows come first
	want, without, _ := strings.Cut(want, " without ")
	if i := slices.Index(packages, "./"+without); i >= 0 {
		packages = slices.Delete(packages, i, i+1)
	}
	if args[0] != want || !slices.Equal(args[1:], packages) {
		t.Errorf("arguments are %q, want %s and %q", args, want, packages)
	}
	if !strings.Contains(out.String(), said) {
		t.Errorf("it said %q, want %q", out.String(), said)
	}
}
