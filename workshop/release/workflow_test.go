package main

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
)

// workflowFile is the workflow that a tag sets off.
const workflowFile = root + "/.github/workflows/release.yml"

// pinned matches an action of GitHub's own at a commit.
var pinned = regexp.MustCompile(`uses: actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+\n`)

// faultsOf returns the faults of a workflow: actionlint's findings, targets that the Makefile lacks, actions that are not
// pinned, and jobs with more permissions than allowed here.
func faultsOf(t *testing.T, content []byte) (faults []string) {
	t.Helper()
	faults = lint(t, content)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	targets := 0
	for _, m := range regexp.MustCompile(`(?m)run: make (\S+)(?: KIND=(\S+))?`).FindAllSubmatch(content, -1) {
		targets++
		target := string(m[1])
		if kind := string(m[2]); kind != "" {
			target += "-" + kind
		}
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(makefile) {
			faults = append(faults, "the Makefile has no "+target)
		}
	}
	if targets < 7 {
		faults = append(faults, "it hardly uses the targets of the Makefile")
	}
	if all := strings.Count(string(content), "uses:"); all < 9 || all != len(pinned.FindAll(content, -1)) {
		faults = append(faults, "an action is not pinned by a commit, or not GitHub's own")
	}
	workflow, problems := actionlint.Parse(content)
	if len(problems) > 0 {
		return append(faults, problems[0].Error())
	}
	if p := workflow.Permissions; p == nil || p.All != nil || len(p.Scopes) > 0 {
		faults = append(faults, "jobs without permissions of their own have some")
	}
	may := map[string]string{
		"test": "contents: read", "build": "contents: read", "npm": "id-token: write",
		"image": "contents: read, packages: write", "publish": "contents: write, packages: write",
	}
	for name, job := range workflow.Jobs {
		var scopes []string
		if job.Permissions != nil {
			for _, scope := range slices.Sorted(maps.Keys(job.Permissions.Scopes)) {
				scopes = append(scopes, scope+": "+job.Permissions.Scopes[scope].Value.Value)
			}
		}
		if got := strings.Join(scopes, ", "); got != may[name] || may[name] == "" {
			faults = append(faults, "job "+name+" may do "+got)
		}
		if name == "image" || name == "npm" { // publish comes after image
			for _, before := range []string{"test", "build"} {
				if !slices.ContainsFunc(job.Needs, func(s *actionlint.String) bool { return s.Value == before }) {
					faults = append(faults, name+" does not wait for "+before)
				}
			}
		}
	}
	return faults
}

// lint returns actionlint's faults of a workflow.
func lint(t *testing.T, content []byte) (faults []string) {
	t.Helper()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.Lint("workflow.yml", content, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range found {
		faults = append(faults, fault.Error())
	}
	return faults
}

// TestDocumentedWorkflow: the workflow in docs/testing.md is valid, and the settings in it and in the command below exist.
func TestDocumentedWorkflow(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "testing.md"))
	if err != nil {
		t.Fatal(err)
	}
	workflow := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```").FindSubmatch(text)
	if workflow == nil {
		t.Fatal("docs/testing.md has no workflow")
	}
	if faults := lint(t, workflow[1]); len(faults) > 0 {
		t.Error(strings.Join(faults, "\n"))
	}
	settings, err := os.ReadFile(filepath.Join(root, "docs", "settings.md"))
	if err != nil {
		t.Fatal(err)
	}
	used := regexp.MustCompile(`LEADERBOARD_[A-Z_]+`).FindAllString(string(text), -1)
	if len(used) < 10 {
		t.Errorf("only %q are found", used)
	}
	for _, name := range used {
		if !strings.Contains(string(settings), "`"+name+"`") {
			t.Errorf("%s is no setting", name)
		}
	}
}

// TestPushWorkflow: a push runs what continuous integration runs, and may write nothing.
func TestPushWorkflow(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "test.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if faults := lint(t, content); len(faults) > 0 {
		t.Error(strings.Join(faults, "\n"))
	}
	for _, want := range []string{"\n  push:\n", "run: .ci/run", "\npermissions: {}", "contents: read"} {
		if !strings.Contains(string(content), want) {
			t.Errorf("the workflow has no %q", want)
		}
	}
	if strings.Contains(string(content), ": write") {
		t.Error("the workflow may write")
	}
	if all := strings.Count(string(content), "uses:"); all != len(pinned.FindAll(content, -1)) {
		t.Error("an action is not pinned by a commit, or not GitHub's own")
	}
}

// TestReleaseWorkflow: the workflow of a release is right as far as can be seen without running it, and its faults would be seen.
func TestReleaseWorkflow(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(workflowFile)
	if err != nil {
		t.Fatal(err)
	}
	if faults := faultsOf(t, content); len(faults) > 0 {
		t.Errorf("%s:\n%s", workflowFile, strings.Join(faults, "\n"))
	}
	for was, is := range map[string]string{
		"runs-on: ubuntu-24.04":                                     "runs-on: ubuntu-24",                // no such machine
		"run: make dist KIND=check":                                 "run: make dist KIND=chek",          // no such kind
		"actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683": "actions/checkout@v4",               // not pinned
		"permissions: {} #":                                         "permissions: {packages: write} #",  // for all jobs
		"      id-token: write":                                     "      contents: write",             // more than it needs
		"needs: [test, build]":                                      "needs: [build]",                    // untested
		"${{ matrix.machine }}":                                     "${{ matrix.machin }}",              // no such value
		"vars.NPM_NAME != ''":                                       "vars.NPM_NAME != '' && github.foo", // no such value
	} {
		broken := strings.Replace(string(content), was, is, 1)
		if broken == string(content) {
			t.Errorf("the workflow has no %s", was)
		}
		if faults := faultsOf(t, []byte(broken)); len(faults) == 0 {
			t.Errorf("%s is taken", is)
		}
	}
}
