package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"leaderboard/workshop/program"
)

// show prints a run.
func show(n program.Note) string {
	verdict := "ok"
	if n.Said != "" {
		verdict = "FAIL " + n.Said
	}
	return fmt.Sprintf("%s  %s", n.Took.Round(100*time.Millisecond), verdict)
}

// table prints a line per package and returns the number of failed runs.
func table(w io.Writer, programs []pkg, notes *program.Notes) (failures int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "package\truns\tfailed\ttime of one\tfailing tests")
	for _, p := range programs {
		var failed int
		var total time.Duration
		tests := map[string]int{}
		runs := notes.Of(p.ID)
		for _, r := range runs {
			total += r.Took
			if r.Said != "" {
				failed++
			}
			for _, test := range strings.Fields(r.Said) {
				tests[test]++
			}
		}
		var names []string
		for _, test := range slices.Sorted(maps.Keys(tests)) {
			names = append(names, fmt.Sprintf("%s (%d)", test, tests[test]))
		}
		mean := (total / time.Duration(max(len(runs), 1))).Round(100 * time.Millisecond)
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", p.name, len(runs), failed, mean, strings.Join(names, ", "))
		failures += failed
	}
	_ = t.Flush()
	return failures
}
