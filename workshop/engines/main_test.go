package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/internal/devserver"
)

// world makes the working directory one of two packages with tests, fine and broken, and a document. The tests of broken
// fail, and skip, while there is a file named broken. They want the program and no address.
func world(t *testing.T) options {
	t.Helper()
	const head = "package x\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n"
	for name, text := range map[string]string{
		"go.mod": "module world\n\ngo 1.26\n",
		"fine/fine_test.go": head + "func TestGiven(t *testing.T) {\n" +
			"\tif os.Getenv(\"LEADERBOARD_TEST_REDIS_PROGRAM\") == \"\" || os.Getenv(\"LEADERBOARD_TEST_REDIS_URL\") != \"\" {\n\t\tt.Fatal(os.Environ())\n\t}\n}\n\n" +
			"func TestOther(t *testing.T) {}\n\nfunc BenchmarkX(b *testing.B) {}\n",
		"broken/broken_test.go": head + "func TestFails(t *testing.T) {\n\tt.Run(\"inner\", func(t *testing.T) {\n" +
			"\t\tif _, err := os.Stat(\"../broken.txt\"); err == nil {\n\t\t\tt.Error(\"no\")\n\t\t}\n\t})\n}\n\n" +
			"func TestSkips(t *testing.T) {\n\tif _, err := os.Stat(\"../broken.txt\"); err == nil {\n\t\tt.Skip()\n\t}\n}\n",
		"panics/panics_test.go": head + "func TestPanics(t *testing.T) {\n\tif os.Getenv(\"HOME\") != \"\" || true {\n\t\tpanic(\"x\")\n\t}\n}\n",
		"broken.txt":            "",
		"engines.md":            "# Engines\n\n" + beginMark + "\n" + header + "| Old | 1 | then | 1 of 1 | none | | |\n| Gone | 1 | | | | | |\n" + endMark + "\n\nMore.\n",
		"redis-server":          "#!/bin/sh\necho 'Redis server v=9.9.9 sha=0'\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return options{only: regexp.MustCompile("new"), timeout: time.Minute, dir: "notes", doc: "engines.md"}
}

// fake is a list of engines with one of the suites.
func fake(suites ...suite) []engine {
	program := func(context.Context, fetcher) (string, error) { return filepath.Abs("redis-server") }
	return []engine{
		{name: "old", title: "Old"},
		{name: "new", title: "New", program: program, as: []devserver.Kind{devserver.KindRedis}, suites: suites, differs: "all"},
	}
}

func mustRun(t *testing.T, o options, list []engine) (failures int, said, doc string) {
	t.Helper()
	var out bytes.Buffer
	failures, err := run(t.Context(), o, list, &out)
	if err != nil {
		t.Fatalf("%s\n%s", err, out.String())
	}
	text, err := os.ReadFile(o.doc)
	if err != nil {
		t.Fatal(err)
	}
	return failures, out.String(), string(text)
}

func wantLines(t *testing.T, doc string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !regexp.MustCompile("(?m)^" + line + "$").MatchString(doc) {
			t.Errorf("no line %q in\n%s", line, doc)
		}
	}
}

// TestFailedTestsAreShown: the row of an engine names failed and skipped tests, and other rows stay. Suites that are done do not run
// again, and a test that failed once is still named when it passes later.
func TestFailedTestsAreShown(t *testing.T) {
	t.Chdir(t.TempDir())
	o := world(t)
	t.Setenv("LEADERBOARD_TEST_REDIS_URL", "redis://nowhere/")
	list := fake(suite{pkg: "fine"}, suite{pkg: "broken"}, suite{pkg: "fine", tests: "Other"})
	failures, said, doc := mustRun(t, o, list)
	if failures != 1 || !strings.Contains(said, "failed: TestFails") {
		t.Errorf("%d suites failed, want 1:\n%s", failures, said)
	}
	wantLines(t, doc, `\| Old \| 1 \| then \| 1 of 1 \| none \| \| \|`,
		`\| New \| Redis 9\.9\.9 \| 20\d\d-\d\d-\d\d[^|]* \| 4 of 6; skipped broken TestSkips \| broken TestFails \| all \|  \|`, "More.")
	if strings.Contains(doc, "Gone") {
		t.Errorf("an engine that is no more has a row:\n%s", doc)
	}
	output, err := os.ReadFile("notes/new-broken.txt")
	if err != nil || !strings.Contains(string(output), "broken_test.go:11: no") {
		t.Errorf("what the failed test said is not kept: %q, %v", output, err)
	}
	if err := os.Remove("broken.txt"); err != nil {
		t.Fatal(err)
	}
	failures, said, doc = mustRun(t, o, list)
	if failures != 0 || strings.Contains(said, ": fine …") {
		t.Errorf("the second call: %d suites failed:\n%s", failures, said)
	}
	wantLines(t, doc, `\| New .*\| 5 of 6 \| broken TestFails, not when run again \| all .*`)
	if _, said, again := mustRun(t, o, list); strings.Contains(said, "…") || again != doc {
		t.Errorf("the third call:\n%s%s", said, again)
	}
}

// TestBrokenRunsAreShown: a program that panics, a suite of no tests and an engine that cannot be fetched are failures.
func TestBrokenRunsAreShown(t *testing.T) {
	t.Chdir(t.TempDir())
	o := world(t)
	failures, _, doc := mustRun(t, o, fake(suite{pkg: "panics"}, suite{pkg: "fine", tests: "None"}))
	if failures != 2 {
		t.Errorf("%d suites failed, want 2", failures)
	}
	wantLines(t, doc, `\| New \| Redis 9\.9\.9 .*\| 1 of 3 \| panics TestPanics.*; fine no test ran \|.*`)
	list := fake(suite{pkg: "fine"})
	for i := range list {
		list[i].program = func(context.Context, fetcher) (string, error) { return "", errors.New("nowhere to be had") }
	}
	list[1].name, list[1].title = "newest", "Newest"
	o.only = regexp.MustCompile("old|newest")
	if failures, _, doc = mustRun(t, o, list); failures != 2 {
		t.Errorf("%d failures, want 2", failures)
	}
	wantLines(t, doc, `\| Newest \| not run \|  \| none: nowhere to be had \|.*`, `\| Old \| 1 \| then .*`)
}

// TestTimeIsBounded: no suite starts after the time limit, and then there is no row.
func TestTimeIsBounded(t *testing.T) {
	t.Chdir(t.TempDir())
	o := world(t)
	o.slice = time.Nanosecond
	_, said, doc := mustRun(t, o, fake(suite{pkg: "fine"}))
	if !strings.Contains(said, errLater.Error()) || strings.Contains(doc, "New") {
		t.Errorf("%s\n%s", said, doc)
	}
}

// TestQuick: a quick run has the tests that a suite names for it, and the row says so.
func TestQuick(t *testing.T) {
	t.Chdir(t.TempDir())
	o := world(t)
	o.quick = true
	_, _, doc := mustRun(t, o, fake(suite{pkg: "fine", quick: "Other"}))
	wantLines(t, doc, `\| New .*\| 1 of 2 \| none .*`)
	o.tests = "Given|Other"
	_, _, doc = mustRun(t, o, fake(suite{pkg: "fine", quick: "Other"}))
	wantLines(t, doc, `\| New .*\| 2 of 2 \| none .*`)
}

// TestFullRunsStay: a quick run leaves the row of a run of more tests, unless that was of another version or the quick one failed; a
// full run replaces any.
func TestFullRunsStay(t *testing.T) {
	t.Chdir(t.TempDir())
	o := world(t)
	full := suite{pkg: "fine", quick: "Other"}
	mustRun(t, o, fake(full))
	text, err := os.ReadFile(o.doc)
	if err != nil {
		t.Fatal(err)
	}
	o.quick = true
	_, said, doc := mustRun(t, o, fake(full))
	if doc != string(text) || !strings.Contains(said, "keeps the row") {
		t.Errorf("after a quick run:\n%s%s", said, doc)
	}
	_, _, doc = mustRun(t, o, fake(full, suite{pkg: "broken", quick: "Fails"}))
	wantLines(t, doc, `\| New .*\| 2 of 4 \| broken TestFails .*`)
	o.quick = false
	mustRun(t, o, fake(full, suite{pkg: "fine", tests: "Given"}))
	_, _, doc = mustRun(t, o, fake(full))
	wantLines(t, doc, `\| New .*\| 2 of 2 \| none .*`)
	if err := os.WriteFile("redis-server", []byte("#!/bin/sh\necho 'Redis server v=10.0.0 sha=0'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	o.quick = true
	_, _, doc = mustRun(t, o, fake(full))
	wantLines(t, doc, `\| New \| Redis 10\.0\.0 .*\| 1 of 2 \| none .*`)
}

// TestCount: a test that began and did not end has failed, like a program that ended badly with no test to blame.
func TestCount(t *testing.T) {
	s := suite{pkg: "p"}
	got := count(s, 3, []event{{"start", ""}, {"run", "TestA"}, {"run", "TestB"}, {"run", "TestB/x"}, {"pass", "TestA"}}, errors.New("exit status 2"))
	if got.Ran != 2 || !slices.Equal(got.Failed, []string{"TestB (did not end)"}) {
		t.Errorf("hung: %+v", got)
	}
	if got := count(s, 1, []event{{"run", "TestA"}, {"pass", "TestA"}, {"fail", ""}}, errors.New("exit status 1")); len(got.Failed) != 1 {
		t.Errorf("a goroutine that was left: %+v", got)
	}
	if got := count(s, 1, []event{{"run", "TestA"}, {"run", "TestA/x"}, {"skip", "TestA/x"}, {"pass", "TestA"}}, nil); len(got.Failed) != 0 || len(got.Skipped) != 1 || got.Ran != 1 {
		t.Errorf("skipped inside: %+v", got)
	}
}

// TestListOfEngines: names and titles of engines are distinct, and each engine has suites that are packages, with
// expressions that are right.
func TestListOfEngines(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range engines() {
		if seen[e.name] || seen[e.title] || len(e.suites) == 0 {
			t.Errorf("engine %s (%s), of %d suites, is there twice or runs nothing", e.name, e.title, len(e.suites))
		}
		seen[e.name], seen[e.title] = true, true
		for _, s := range e.suites {
			if files, err := filepath.Glob(filepath.Join("../..", s.dir(), "*_test.go")); err != nil || len(files) == 0 {
				t.Errorf("%s: no tests in %s: %v", e.name, s.pkg, err)
			}
			for _, tests := range []string{s.tests, s.quick} {
				if _, err := regexp.Compile(tests); err != nil {
					t.Error(err)
				}
			}
		}
	}
}
