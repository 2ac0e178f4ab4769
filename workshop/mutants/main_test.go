package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// root is the folder of the tree.
const root = "../.."

// TestMutants: each text to break is in its file exactly once, and each test is there. A commit that changes a line that carries a
// promise must change this list, and run make test KIND=mutants (promise I2).
func TestMutants(t *testing.T) {
	names := map[string]bool{}
	all := mutants()
	for _, m := range all {
		text, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if broken, err := m.apply(string(text)); err != nil {
			t.Error(err)
		} else if broken == string(text) {
			t.Errorf("%s: breaks nothing", m.name)
		}
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		names[m.name] = true
		if !regexp.MustCompile(`^[A-I][1-9][0-9]?$`).MatchString(m.promise) {
			t.Errorf("%s: %q is no promise", m.name, m.promise)
		}
		if name, _, _ := strings.Cut(m.testName(), "/"); !isTest(t, m.packageOf(), name) {
			t.Errorf("%s: there is no test %s", m.name, m.test)
		}
	}
	if len(all) < 30 {
		t.Errorf("%d mutants, want at least 30", len(all))
	}
}

func isTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

func TestJudge(t *testing.T) {
	failed := errors.New("exit status 1")
	for _, c := range []struct {
		out  string
		err  error
		want string
	}{
		{"PASS\n", nil, verdictGreen},
		{"--- FAIL: TestX (0.1s)\nFAIL\n", failed, verdictRed},
		{"panic: test timed out after 2m0s\n", failed, verdictRed},
		{"test servers: no MySQL\n", failed, verdictNone},
	} {
		if got := verdictOf("TestX/sub", c.out, c.err); got != c.want {
			t.Errorf("%q: %s, want %s", c.out, got, c.want)
		}
	}
	if got := pattern("TestX/sub"); got != "^TestX$/^sub$" {
		t.Errorf("pattern %s", got)
	}
}

// TestVerdictsAreKept: a red verdict holds as long as mutant and program are the same; other verdicts are made again.
func TestVerdictsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes")
	n, err := openNotes(path)
	if err != nil {
		t.Fatal(err)
	}
	red := verdict{mutant: mutant{promise: "A1", name: "a", test: "p TestA"}, key: "k", what: verdictRed, took: time.Second}
	green := verdict{mutant: mutant{promise: "A1", name: "b", test: "p TestA"}, key: "k", what: verdictGreen}
	if err := errors.Join(n.add(&red), n.add(&green)); err != nil {
		t.Fatal(err)
	}
	n.Close()
	if n, err = openNotes(path); err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if got, ok := n.find(&verdict{mutant: red.mutant, key: "k"}); !ok || got.took != time.Second {
		t.Errorf("the red one: %+v, %t", got, ok)
	}
	if _, ok := n.find(&verdict{mutant: green.mutant, key: "k"}); ok {
		t.Error("the green one counts")
	}
	if _, ok := n.find(&verdict{mutant: red.mutant, key: "other"}); ok {
		t.Error("another program's counts")
	}
}
