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
