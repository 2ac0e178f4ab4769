// Command house prints how much of the tree one must hold in the head, each measure with its goal:
//
//	make house
//	make house ARGS='-change HEAD -feature features/review'
//
// The measures of structure come from git, go list and the types of the packages. The measures of a request come from a
// server that is built with coverage: the blocks that run for it, without the blocks that run in an idle server. With
// -change it prints the files that a commit, or a range of commits, touches outside of a feature's folder, and stops.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"leaderboard/workshop/program"
)

// measure is a line of the table.
type measure struct {
	name  string
	value int
	goal  int    // the greatest value allowed
	note  string // the remarkable parts, in words
}

func main() {
	change := flag.String("change", "", "a commit, or a range A..B: print the files that it touches")
	feature := flag.String("feature", "", "with -change: the folder of the feature, whose files do not count")
	requests := flag.Bool("requests", true, "measure the code that runs for a request, which takes the servers of bin/testenv")
	flag.Parse()
	program.Main(func(ctx context.Context) (int, error) {
		if *change != "" {
			return 0, printChange(ctx, os.Stdout, *change, *feature)
		}
		return printMeasures(ctx, os.Stdout, *requests)
	})
}

// printMeasures prints the table and returns how many measures miss their goals. A missed goal is no fault of the command.
func printMeasures(ctx context.Context, out io.Writer, requests bool) (int, error) {
	all, err := structure(ctx)
	if err != nil {
		return 0, err
	}
	if requests {
		ran, err := requestMeasures(ctx)
		if err != nil {
			return 0, err
		}
		all = append(all, ran...)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "measure\tnow\tgoal\t\tnote")
	for _, m := range all {
		missed := ""
		if m.value > m.goal {
			missed = "missed"
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\n", m.name, m.value, m.goal, missed, m.note)
	}
	return 0, table.Flush()
}
