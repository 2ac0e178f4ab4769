package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"leaderboard/workshop/program"
)

func TestFailingTestsAreNamed(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		"--- FAIL: TestA (0.01s)\n    a_test.go:1: no\n--- FAIL: TestB (0s)\n    --- FAIL: TestB/c (0s)\nFAIL": "TestA TestB/c",
		"--- FAIL: TestA (0s)\n--- FAIL: TestAB (0s)\n":                                                        "TestA TestAB",
		"panic: test timed out after 1s\n\trunning tests:\n\t\tTestA (1s)":                                     "(timeout)",
		"WARNING: DATA RACE\n--- FAIL: TestA (0s)\n    testing.go:1: race detected":                            "TestA (race)",
		"exit status 3": "(no test)",
	} {
		if got := strings.Join(failing(out), " "); got != want {
			t.Errorf("of %q: %s, want %s", out, got, want)
		}
	}
}

// fake returns a test program that fails with "--- FAIL: TestOdd" every second time.
func fake(t *testing.T, dir, id string) pkg {
	t.Helper()
	path := filepath.Join(dir, "fake.test")
	script := "#!/bin/sh\necho . >>runs\n[ $(($(wc -l <runs) % 2)) = 0 ] || { echo '--- FAIL: TestOdd (0s)'; exit 1; }\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return pkg{program.Program{Dir: dir, Path: path, Env: os.Environ(), ID: id}, "fake"}
}

// TestRunsAreTakenUpAgain: a second call continues where the first stopped, and another program begins from scratch.
func TestRunsAreTakenUpAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	call := func(id string, count int) (out string, failures, runs int) {
		t.Helper()
		n, err := program.OpenNotes(filepath.Join(dir, "runs.tsv"))
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		var said bytes.Buffer
		programs := []pkg{fake(t, dir, id)}
		o := options{count: count, threads: 1, timeout: time.Minute, dir: dir}
		if err := rounds(t.Context(), o, programs, n, &said); err != nil {
			t.Fatal(err)
		}
		failures = table(&said, programs, n)
		total, err := os.ReadFile(filepath.Join(dir, "runs"))
		if err != nil {
			t.Fatal(err)
		}
		return said.String(), failures, bytes.Count(total, []byte("\n"))
	}
	for _, step := range []struct {
		id                    string
		count, failures, runs int
	}{{"one", 3, 2, 3}, {"one", 3, 2, 3}, {"one", 4, 2, 4}, {"two", 1, 1, 5}} {
		out, failures, runs := call(step.id, step.count)
		if failures != step.failures || runs != step.runs || !strings.Contains(out, "TestOdd (") {
			t.Errorf("%+v: %d failures, %d runs in all:\n%s", step, failures, runs, out)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	for i := range logs {
		logs[i] = filepath.Base(logs[i])
	}
	if want := []string{"fake-one-1.log", "fake-one-3.log", "fake-two-1.log"}; err != nil || !slices.Equal(logs, want) {
		t.Errorf("logs %v, want those of the failures: %v", logs, want)
	}
}

// TestCircumstances: a circumstance changes only its own variables in the environment of the command.
func TestCircumstances(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 28, 0, 0, 0, 0, time.UTC)
	c := circumstance{clock: "2028-02-29T00:00:00Z", env: []string{"HOME", "TZ=Europe/Berlin"}, umask: "077"}
	got := c.environment([]string{"HOME=/h", "TZ=UTC", "HOMER=x", "LEADERBOARD_TEST_REDIS_URL=busy"}, now)
	for _, want := range []string{"HOMER=x", "TZ=Europe/Berlin", "LEADERBOARD_TEST_CLOCK=29203200"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, v := range got {
		if name, _, _ := strings.Cut(v, "="); name == "HOME" || name == "LEADERBOARD_TEST_REDIS_URL" || v == "TZ=UTC" {
			t.Errorf("%s is still there", v)
		}
	}
	out, err := exec.Command("sh", append(c.wrap(options{dir: t.TempDir()})[1:3], "sh", "sh", "-c", "umask")...).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "0077" {
		t.Errorf("umask %s, %v", out, err)
	}
	for _, c := range circumstances() {
		c.environment(nil, now)
	}
}
