// Command mutants breaks the lines of the program that carry its promises, one at a time. The test that is named with each must
// turn red:
//
//	make test KIND=mutants ARGS='-only lease'
//
// It works on a copy of the tree in a temporary folder, with the servers of internal/testenv/run. The tests must be green
// before a line is broken. A line is found by its text, which must be in its file exactly once; so a change of it fails
// TestMutants. Verdicts are noted in a file, and the next call continues where the last one stopped: a verdict holds as
// long as the mutant and the test program of its package are the same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"leaderboard/workshop/program"
)

// mutant is a broken line.
type mutant struct {
	promise string // that the line carries, as in docs/promises.md
	name    string // the broken promise
	file    string
	old     string // in file exactly once
	new     string
	test    string // that must turn red: package, space, name or name/subtest
}

// packageOf returns the folder of the package of the test.
func (m *mutant) packageOf() string { dir, _, _ := strings.Cut(m.test, " "); return dir }

// testName returns the name of the test, with the name of a subtest.
func (m *mutant) testName() string { _, name, _ := strings.Cut(m.test, " "); return name }

// apply returns the text of a file with the line broken.
func (m *mutant) apply(text string) (string, error) {
	if n := strings.Count(text, m.old); n != 1 {
		return "", fmt.Errorf("%s: the text to break is %d times in %s, want once: %q", m.name, n, m.file, m.old)
	}
	return strings.Replace(text, m.old, m.new, 1), nil
}

// options are the options of the command line.
type options struct {
	only    *regexp.Regexp
	notes   string
	timeout time.Duration // of one run of a test
}

func main() {
	o := options{only: new(regexp.Regexp)}
	flag.TextVar(o.only, "only", regexp.MustCompile(""), "regular expression: mutants whose promise, name, file or test match it (default: all)")
	flag.StringVar(&o.notes, "notes", ".mutants.tsv", "file of what was found; delete it to begin again")
	flag.DurationVar(&o.timeout, "timeout", 2*time.Minute, "limit of one run of a test; one that takes longer is red")
	flag.Parse()
	program.Main(func(ctx context.Context) (int, error) { return breakAll(ctx, o, os.Stdout) })
}

// breakAll tries the mutants package by package, prints each verdict, and returns how many mutants no test noticed.
func breakAll(ctx context.Context, o options, stdout io.Writer) (survived int, err error) {
	tree, err := copyTree(".")
	if err != nil {
		return 0, err
	}
	defer tree.remove()
	notes, err := openNotes(o.notes)
	if err != nil {
		return 0, err
	}
	defer notes.Close()
	began := time.Now()
	var all []verdict
	for _, group := range byPackage(o.only) {
		verdicts, err := tree.breakPackage(ctx, o, group, notes, stdout)
		if err != nil {
			return 0, err
		}
		all = append(all, verdicts...)
	}
	for _, v := range all {
		if v.what != verdictRed {
			survived++
		}
	}
	table(stdout, all)
	fmt.Fprintf(stdout, "%d mutants, %d of them red, in %s\n", len(all), len(all)-survived, time.Since(began).Round(time.Second))
	return survived, nil
}

// byPackage groups the mutants that match by the packages of their tests, so that each is built unbroken only once.
func byPackage(only *regexp.Regexp) [][]mutant {
	var groups [][]mutant
	at := map[string]int{}
	for _, m := range mutants() {
		if !only.MatchString(strings.Join([]string{m.promise, m.name, m.file, m.test}, "\n")) {
			continue
		}
		i, ok := at[m.packageOf()]
		if !ok {
			i = len(groups)
			at[m.packageOf()] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}

// breakPackage checks that the tests of one package are green, and then that each turns red for its mutant.
func (t *tree) breakPackage(ctx context.Context, o options, group []mutant, notes notes, stdout io.Writer) ([]verdict, error) {
	dir := group[0].packageOf()
	whole, err := t.build(ctx, dir)
	if err != nil {
		return nil, err
	}
	var tests []string
	for i := range group {
		name, _, _ := strings.Cut(group[i].testName(), "/")
		tests = append(tests, name)
	}
	slices.Sort(tests)
	tests = slices.Compact(tests)
	green := verdict{mutant: mutant{name: dir, test: dir + " " + strings.Join(tests, "|")}, key: whole.ID}
	if _, ok := notes.find(&green); !ok {
		out, took, err := test(ctx, &whole, "^("+strings.Join(tests, "|")+")$", 4*o.timeout)
		if err != nil {
			return nil, errors.Join(ctx.Err(), fmt.Errorf("unbroken, the tests of %s fail: %w\n%s", dir, err, out))
		}
		green.what, green.took = verdictGreen, took
		if err := notes.add(&green); err != nil {
			return nil, err
		}
		fmt.Fprintln(stdout, green.line())
	}
	var verdicts []verdict
	for _, m := range group {
		v := verdict{mutant: m, key: whole.ID}
		if found, ok := notes.find(&v); ok {
			verdicts = append(verdicts, found)
			continue
		}
		if err := t.breakOne(ctx, o, &v); err != nil {
			return nil, err
		}
		if err := notes.add(&v); err != nil {
			return nil, err
		}
		fmt.Fprintln(stdout, v.line())
		verdicts = append(verdicts, v)
	}
	return verdicts, nil
}

// breakOne breaks a line, runs the test, and restores the line.
func (t *tree) breakOne(ctx context.Context, o options, v *verdict) (err error) {
	path := filepath.Join(t.dir, filepath.FromSlash(v.file))
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	broken, err := v.apply(string(text))
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(broken), 0o644); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o644)) }()
	broke, err := t.build(ctx, v.packageOf())
	if err != nil {
		v.what = verdictNone
		return errors.Join(ctx.Err(), os.WriteFile(filepath.Join(os.TempDir(), "leaderboard-mutant.log"), []byte(err.Error()), 0o644))
	}
	out, took, failed := test(ctx, &broke, pattern(v.testName()), o.timeout)
	v.took, v.what = took, verdictOf(v.testName(), out, failed)
	return ctx.Err()
}

// test runs tests of a program until one fails. No test at all is an error too.
func test(ctx context.Context, p *program.Program, pattern string, timeout time.Duration) (string, time.Duration, error) {
	out, took, err := p.Run(ctx, pattern, timeout, []string{"-test.failfast"}, nil)
	if err == nil && strings.Contains(out, "no tests to run") {
		err = fmt.Errorf("no test is called %s", pattern)
	}
	return out, took, err
}

// pattern returns the regular expression that names one test, or one subtest.
func pattern(test string) string { return "^" + strings.ReplaceAll(test, "/", "$/^") + "$" }

// verdictOf returns the verdict of a test's run on a broken program. A program that could not run its tests proves nothing.
func verdictOf(test, out string, failed error) string {
	if failed == nil {
		return verdictGreen
	}
	name, _, _ := strings.Cut(test, "/")
	for _, sign := range []string{"--- FAIL: " + name, "panic: ", "fatal error: "} {
		if strings.Contains(out, sign) {
			return verdictRed
		}
	}
	return verdictNone
}

// table prints a line per mutant, by promise.
func table(w io.Writer, all []verdict) {
	slices.SortStableFunc(all, func(a, b verdict) int { return strings.Compare(a.promise, b.promise) })
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "promise\tbroken\tfile\ttest\tverdict\tafter")
	for _, v := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", v.promise, v.name, v.file, v.test, v.what, v.took.Round(100*time.Millisecond))
	}
	_ = t.Flush()
}
