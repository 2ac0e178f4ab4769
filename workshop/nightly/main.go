// Command nightly finds the slow tests that make test may leave out: tests whose subject has not changed since make nightly
// last ran all tests and they were green. The file .ci/green names the commit of that run, and .ci/nightly has a row for
// each such test. The command prints the arguments for go test, and to stderr the tests that are left out and why:
//
//	go run -C workshop ./nightly "$PWD"
//	go run -C workshop ./nightly -in workshop "$PWD"
//
// The second is about the tests of the module in that folder. With -all no test is left out. With packages it prints the
// packages that have changed since, or that import a changed package, also in their tests. make fuzz takes their targets:
//
//	go run -C workshop ./nightly "$PWD" ./rank ./httpapi
//
// When in doubt, all run: without .ci/green, without git, in a clone that lacks the commit, when a package cannot be listed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	var c choice
	flag.StringVar(&c.in, "in", "", "folder of the module whose tests are chosen (default: that of the product)")
	flag.BoolVar(&c.all, "all", false, "leave nothing out")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: nightly [-in MODULE] [-all] FOLDER [PACKAGE …]")
		os.Exit(2)
	}
	if flag.NArg() > 1 {
		fmt.Println(strings.Join(changedPackages(flag.Arg(0), flag.Args()[1:], os.Stderr), "\n"))
		return
	}
	args, err := arguments(flag.Arg(0), c, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightly:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(args, " "))
}

// choice says which tests are looked at.
type choice struct {
	in  string // folder of their module below the root, "" for the root's own
	all bool   // leave none out
}

// has reports whether a package is of the module.
func (c choice) has(pkg string) bool {
	return strings.HasPrefix(pkg, c.in) && (c.in != "" || !strings.HasPrefix(pkg, "workshop/"))
}

// apart are packages with their own target: the browser's tests are make test-web.
var apart = []string{"workshop/webtest"}

// row names tests and their subjects. The package of the tests is one of the subjects too.
type row struct {
	own      string // package of the tests
	tests    []string
	subjects []string // packages, with all their imports, and files
}

// whole reports whether a row is about all tests of its package.
func (r *row) whole() bool { return r.tests[0] == "*" }

func (r *row) String() string { return strings.Join(r.tests, " ") + " of " + r.own }

// always are the folders and files whose change makes all tests run, since all tests depend on them.
var always = []string{"go.mod", "go.sum", "workshop/go.mod", "workshop/go.sum", "Makefile", ".ci/nightly", "internal/testenv", "internal/devserver"}

// arguments returns the arguments for go test: the tests to skip, and the packages. Packages with slow tests come first, so that
// they do not run alone at the end.
func arguments(root string, c choice, said io.Writer) ([]string, error) {
	rows, err := readRows(root)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !c.has(r.own) })
	var skip, first []string
	out := map[string]bool{} // whole packages
	for _, name := range apart {
		out[name] = true
	}
	var left []row
	if !c.all {
		left = leftOut(root, rows, said)
	}
	for _, r := range left {
		if out[r.own] = r.whole(); !r.whole() {
			skip = append(skip, r.tests...)
		}
	}
	for _, r := range rows {
		first = append(first, r.own)
	}
	dirs, err := command(filepath.Join(root, c.in), "go", "list", "-e", "-f", "{{.Dir}}", "./...")
	if err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		if dirs[i], err = relative(root, dir); err != nil {
			return nil, err
		}
	}
	args := []string{"-skip=^(" + strings.Join(skip, "|") + ")$"} // ^()$ is no test
	for _, name := range append(first, dirs...) {
		if !out[name] {
			args, out[name] = append(args, "./"+strings.TrimPrefix(name, c.in+"/")), true
		}
	}
	return args, nil
}

// changedPackages returns the packages that have changed since all tests were green.
func changedPackages(root string, packages []string, said io.Writer) []string {
	rows := make([]row, len(packages))
	for i, name := range packages {
		rows[i] = row{path.Clean(name), []string{"*"}, []string{path.Clean(name)}}
	}
	left := leftOut(root, rows, said)
	return slices.DeleteFunc(packages, func(name string) bool {
		return slices.ContainsFunc(left, func(r row) bool { return r.own == path.Clean(name) })
	})
}

// leftOut returns the rows whose subject has not changed, and prints for each row why it is left out or not.
func leftOut(root string, rows []row, said io.Writer) (left []row) {
	since, changed, err := changes(root)
	if err != nil {
		fmt.Fprintf(said, "all tests run, none is left out: %s\n", err)
		return nil
	}
	for _, r := range rows {
		subject, err := subjectOf(root, r)
		if err != nil {
			fmt.Fprintf(said, "run: %s: %s\n", &r, err)
			continue
		}
		if i := slices.IndexFunc(changed, subject.has); i >= 0 {
			fmt.Fprintf(said, "run: %s: %s has changed since %s\n", &r, changed[i], since)
			continue
		}
		fmt.Fprintf(said, "LEFT OUT: %s: nothing of %s has changed since %s, where all tests were green; make nightly runs all\n", &r, strings.Join(r.subjects, ", "), since)
		left = append(left, r)
	}
	return left
}

// readRows reads .ci/nightly, which says what a row is.
func readRows(root string) ([]row, error) {
	text, err := os.ReadFile(filepath.Join(root, ".ci", "nightly"))
	if err != nil {
		return nil, err
	}
	var rows []row
	for line := range strings.Lines(string(text)) {
		tests, subjects, _ := strings.Cut(line, ":")
		names, of := strings.Fields(tests), strings.Fields(subjects)
		switch {
		case len(names) == 0 || names[0][0] == '#':
		case len(names) < 2 || len(of) == 0:
			return nil, fmt.Errorf(".ci/nightly: %q is no row", strings.TrimSpace(line))
		default:
			rows = append(rows, row{names[0], names[1:], of})
		}
	}
	return rows, nil
}

// changes lists the files of the folder that differ from the last commit at which all tests were green, with untracked files.
func changes(root string) (since string, files []string, err error) {
	green, err := os.ReadFile(filepath.Join(root, ".ci", "green"))
	if err != nil {
		return "", nil, errors.New("no .ci/green names a commit at which all were green")
	}
	since = strings.TrimSpace(string(green))
	differ, err := command(root, "git", "diff", "--name-only", "--no-renames", "--relative", since, "--")
	if err != nil {
		return "", nil, fmt.Errorf("this clone lacks %s, at which all were green", since)
	}
	unknown, err := command(root, "git", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return "", nil, err
	}
	return since[:min(12, len(since))], append(differ, unknown...), nil
}

// subject is the folders and files that a test tests. In folders that are true, test files count too.
type subject map[string]bool

// subjectOf lists the parts of a subject: packages with all their imports, for whole packages also the imports of their
// tests. Other modules change with go.mod.
func subjectOf(root string, r row) (subject, error) {
	all := subject{r.own: true}
	var packages []string
	if r.whole() {
		packages = append(packages, "-test", "./"+r.own)
	}
	for _, name := range r.subjects {
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && !info.IsDir() {
			all[name] = true
			continue
		}
		packages = append(packages, "./"+name)
	}
	if packages == nil {
		return all, nil
	}
	dirs, err := command(root, "go", append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.Dir}}{{end}}"}, packages...)...)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if name, err := relative(root, dir); err == nil && !all[name] {
			all[name] = false
		}
	}
	return all, nil
}

// relative returns the name of a folder below root.
func relative(root, dir string) (string, error) {
	name, err := filepath.Rel(root, dir)
	if err == nil && !filepath.IsLocal(name) {
		err = fmt.Errorf("%s is not in %s", dir, root)
	}
	return filepath.ToSlash(name), err
}

// has reports whether a file is of the subject. It belongs to the package of its folder, or of the next folder above:
// scripts, migrations and embedded files. In the folder of the module only Go files do.
func (s subject) has(file string) bool {
	if slices.ContainsFunc(always, func(name string) bool { return file == name || strings.HasPrefix(file, name+"/") }) {
		return true
	}
	isTest := strings.HasSuffix(file, "_test.go")
	for name := file; name != "."; name = path.Dir(name) {
		if withTests, ok := s[name]; ok {
			return withTests || !isTest
		}
	}
	withTests, ok := s["."]
	return ok && path.Dir(file) == "." && path.Ext(file) == ".go" && (withTests || !isTest)
}

// command runs a program in a folder and returns the lines that it prints, sorted.
func command(dir, name string, args ...string) ([]string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", name, strings.Join(args[:2], " "), err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		lines[strings.TrimSpace(line)] = true
	}
	delete(lines, "")
	return slices.Sorted(maps.Keys(lines)), nil
}
