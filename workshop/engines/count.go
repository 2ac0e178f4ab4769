package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// result is the outcome of a suite, in tests without subtests.
type result struct {
	Pkg     string   `json:"pkg"`
	Of      int      `json:"of"` // tests that the package has
	Ran     int      `json:"ran"`
	Failed  []string `json:"failed,omitempty"`  // those, or why the program ended
	Skipped []string `json:"skipped,omitempty"` // also inside of tests
}

// event is a line of go tool test2json.
type event struct {
	Action, Test string
}

// parse turns the output of a test program with -test.v=test2json into events.
func parse(ctx context.Context, said string) ([]event, error) {
	cmd := exec.CommandContext(ctx, "go", "tool", "test2json")
	cmd.Stdin = strings.NewReader(said)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go tool test2json: %w", err)
	}
	return decode(bytes.NewReader(out))
}

// decode reads the lines of go tool test2json.
func decode(r io.Reader) ([]event, error) {
	var events []event
	for lines := json.NewDecoder(r); ; {
		var e event
		err := lines.Decode(&e)
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("events of tests: %w", err)
		}
		events = append(events, e)
	}
}

// count sums up a run of a suite's test program; ended is its error, nil for status 0. A test that began and did not end
// has failed, like a program that ended badly without a failed test, or ran no test.
func count(s suite, of int, events []event, ended error) result {
	r := result{Pkg: s.pkg, Of: of}
	open := map[string]bool{}
	for _, e := range events {
		if e.Test == "" {
			continue
		}
		top := !strings.Contains(e.Test, "/")
		switch e.Action {
		case "run":
			open[e.Test] = true
		case "pass", "fail", "skip":
			delete(open, e.Test)
			if e.Action == "skip" {
				r.Skipped = append(r.Skipped, e.Test)
			} else if top {
				r.Ran++
			}
			if e.Action == "fail" && top {
				r.Failed = append(r.Failed, e.Test)
			}
		}
	}
	for test := range open {
		if !strings.Contains(test, "/") {
			r.Ran++
			r.Failed = append(r.Failed, test+" (did not end)")
		}
	}
	slices.Sort(r.Failed)
	slices.Sort(r.Skipped)
	switch {
	case ended != nil && len(r.Failed) == 0:
		r.Failed = []string{fmt.Sprintf("the test program: %s", ended)}
	case ended == nil && r.Ran == 0:
		r.Failed = []string{"no test ran"}
	}
	return r
}

// named counts the tests, without benchmarks, in the list of a test program.
func named(list string) int {
	n := 0
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Test") || strings.HasPrefix(line, "Fuzz") || strings.HasPrefix(line, "Example") {
			n++
		}
	}
	return n
}
