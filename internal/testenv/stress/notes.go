package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// note is one run of a test program.
type note struct {
	program string // its id
	name    string // of the package
	took    time.Duration
	failed  []string // names of tests; none when the run succeeded
}

func (n note) String() string {
	verdict := "ok"
	if len(n.failed) > 0 {
		verdict = "FAIL " + strings.Join(n.failed, " ")
	}
	return fmt.Sprintf("%s  %s", n.took.Round(100*time.Millisecond), verdict)
}

// notes is the file of all runs, a line each: program, package, duration, names of failed tests, separated by tabs.
type notes struct {
	file *os.File
	runs map[string][]note // by program
}

// openNotes reads what is noted; add appends to it.
func openNotes(path string) (*notes, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		file.Close()
		return nil, err
	}
	n := &notes{file: file, runs: map[string][]note{}}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 4 {
			continue // a line that a killed process did not finish
		}
		took, err := time.ParseDuration(field[2])
		if err != nil {
			continue
		}
		n.keep(note{field[0], field[1], took, strings.Fields(field[3])})
	}
	return n, nil
}

func (n *notes) keep(r note) { n.runs[r.program] = append(n.runs[r.program], r) }

// of returns the runs of this very program.
func (n *notes) of(p program) []note { return n.runs[p.id] }

func (n *notes) add(r note) error {
	n.keep(r)
	_, err := fmt.Fprintf(n.file, "%s\t%s\t%s\t%s\n", r.program, r.name, r.took.Round(time.Millisecond), strings.Join(r.failed, " "))
	return err
}

func (n *notes) close() { _ = n.file.Close() }

// table prints a line per package and returns the number of failed runs.
func table(w io.Writer, programs []program, notes *notes) (failures int) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "package\truns\tfailed\ttime of one\tfailing tests")
	for _, p := range programs {
		var failed int
		var total time.Duration
		tests := map[string]int{}
		runs := notes.of(p)
		for _, r := range runs {
			total += r.took
			if len(r.failed) > 0 {
				failed++
			}
			for _, test := range r.failed {
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
