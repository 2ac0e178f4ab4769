// Command stress runs each package's tests many times with the race detector while threads keep every core busy, to find
// tests whose verdict depends on speed:
//
//	make stress ARGS='-n 20 -for 30m ./cache ./refresher'
//	make stress ARGS='-in workshop ./e2e'
//
// Each test program is built once. Runs go round the packages, so that every package has run when a slice of time ends.
// Runs are noted in a folder: the next slice continues where the last one stopped. Runs of a package count as long as its
// test program is the same, so a change repeats only the packages that depend on it. Documents that tests read are no part
// of a program: do not change the working tree meanwhile. The output of failed runs is kept next to the notes.
//
// With -days it runs them once on each of several days and machines instead, without the race detector: see
// circumstances.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"leaderboard/workshop/program"
)

// options are the options of the command line.
type options struct {
	count    int
	threads  int           // that are kept busy
	slice    time.Duration // 0: until all is done
	timeout  time.Duration // of one run
	dir      string
	tests    string         // a regular expression; "" for all
	days     bool           // one run under each circumstance, in place of many next to busy threads
	only     *regexp.Regexp // names circumstances
	in       string         // folder of the module of the packages
	packages []string
}

func main() {
	o := options{only: new(regexp.Regexp)}
	flag.IntVar(&o.count, "n", 20, "runs of each package")
	flag.IntVar(&o.threads, "busy", runtime.NumCPU(), "threads that keep the machine busy meanwhile")
	flag.DurationVar(&o.slice, "for", 0, "start no run after this time; the next call goes on (default: until all is done)")
	flag.DurationVar(&o.timeout, "timeout", 20*time.Minute, "limit of one run")
	flag.StringVar(&o.in, "in", ".", "folder of the module whose packages are run")
	flag.StringVar(&o.dir, "dir", ".stress", "folder of the notes and of the output of failed runs; delete it to start anew")
	flag.StringVar(&o.tests, "run", "", "regular expression that names the tests to run (default: all)")
	flag.BoolVar(&o.days, "days", false, "one run on each of several days and machines, on an idle machine; the databases' clocks take libfaketime")
	flag.TextVar(o.only, "only", regexp.MustCompile(""), "with -days: regular expression that names some of them")
	flag.Parse()
	if o.days {
		o.threads = 0
	}
	if o.packages = flag.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	// The busy threads and the thread that waits for the tests, whatever GOMAXPROCS says, which is for the tests.
	runtime.GOMAXPROCS(o.threads + 1)
	program.Main(func(ctx context.Context) (int, error) { return stress(ctx, o, os.Stdout) })
}

// stress makes the runs that are left, prints the table, and returns the number of failed runs.
func stress(ctx context.Context, o options, stdout io.Writer) (failures int, err error) {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return 0, err
	}
	o.dir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	programs, err := build(ctx, o)
	if err != nil {
		return 0, err
	}
	notes, err := program.OpenNotes(filepath.Join(dir, "runs.tsv"))
	if err != nil {
		return 0, err
	}
	defer notes.Close()
	if o.days {
		return days(ctx, o, programs, notes, stdout)
	}
	if err := rounds(ctx, o, programs, notes, stdout); err != nil {
		return 0, err
	}
	return table(stdout, programs, notes), nil
}

// rounds runs every program that has runs left once, again and again, until no runs are left or the time is over.
func rounds(ctx context.Context, o options, programs []pkg, notes *program.Notes, stdout io.Writer) error {
	end := time.Now().Add(o.slice)
	for round := 1; round <= o.count; round++ {
		for _, p := range programs {
			done := len(notes.Of(p.ID))
			if done >= round {
				continue
			}
			if ctx.Err() != nil || (o.slice > 0 && time.Now().After(end)) {
				return nil //nolint:nilerr // the time is over, which is no failure
			}
			n, err := p.run(ctx, o, done+1)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // broken off, which says nothing
			}
			if err != nil {
				return err
			}
			if err := notes.Add(n); err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%s  %s %d/%d  %s\n", time.Now().Format(time.TimeOnly), p.name, done+1, o.count, show(n))
		}
	}
	return nil
}
