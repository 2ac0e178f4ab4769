// Command stress runs each package's tests many times with the race detector beside threads that keep every core busy,
// to find tests whose verdict depends on speed:
//
//	make stress ARGS='-n 20 -for 30m ./cache ./refresher'
//
// Each test program is built once. Runs go round the packages, so that every package has been run when a slice of time
// ends, and what was run is noted in a folder: the next slice goes on where the last one stopped. Runs of a package
// count for as long as its test program is the same, so a change starts the packages that it reaches again, and no
// others. Documents that tests read are no part of a program: leave the working tree alone meanwhile. The output of
// runs that failed is kept beside the notes.
//
// With -days it runs them once on each of several days and machines instead, without the race detector: see
// circumstances.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// options are what the command line says.
type options struct {
	count    int
	threads  int           // that are kept busy
	slice    time.Duration // 0: until all is done
	timeout  time.Duration // of one run
	dir      string
	tests    string // a regular expression; "" for all
	days     bool   // one run under each circumstance, in place of many beside busy threads
	only     string // a regular expression that names circumstances
	packages []string
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 when every run that is noted succeeded, 1 when one failed or nothing could be run.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := readOptions(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		return 2
	}
	// The busy threads and the one that waits for the tests, whatever GOMAXPROCS says: that is meant for the tests.
	runtime.GOMAXPROCS(o.threads + 1)
	failures, err := stress(ctx, o, stdout)
	if err != nil {
		fmt.Fprintln(stderr, "stress:", err)
		return 1
	}
	return min(failures, 1)
}

func readOptions(args []string, stderr io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("stress", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.count, "n", 20, "runs of each package")
	f.IntVar(&o.threads, "busy", runtime.NumCPU(), "threads that keep the machine busy meanwhile")
	f.DurationVar(&o.slice, "for", 0, "start no run after this time; the next call goes on (default: until all is done)")
	f.DurationVar(&o.timeout, "timeout", 20*time.Minute, "limit of one run")
	f.StringVar(&o.dir, "dir", ".stress", "folder of the notes and of the output of failed runs; delete it to start anew")
	f.StringVar(&o.tests, "run", "", "regular expression that names the tests to run (default: all)")
	f.BoolVar(&o.days, "days", false, "one run on each of several days and machines, on an idle machine; the databases' clocks take libfaketime")
	f.StringVar(&o.only, "only", "", "with -days: regular expression that names some of them")
	f.Usage = func() {
		fmt.Fprintln(stderr, "usage: stress [FLAG ...] [PACKAGE ...]")
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		return options{}, err
	}
	if o.days {
		o.threads = 0
	}
	if o.packages = f.Args(); len(o.packages) == 0 {
		o.packages = []string{"./..."}
	}
	return o, nil
}

// stress runs what is not yet run, prints the table, and returns the number of failed runs.
func stress(ctx context.Context, o options, stdout io.Writer) (failures int, err error) {
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return 0, err
	}
	o.dir = dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	programs, env, err := build(ctx, o)
	if err != nil {
		return 0, err
	}
	notes, err := openNotes(filepath.Join(dir, "runs.tsv"))
	if err != nil {
		return 0, err
	}
	defer notes.close()
	if o.days {
		if err := buildServers(ctx, o); err != nil {
			return 0, err
		}
		return days(ctx, o, programs, env, notes, stdout)
	}
	if err := rounds(ctx, o, programs, env, notes, stdout); err != nil {
		return 0, err
	}
	return table(stdout, programs, notes), nil
}

// rounds runs every program that has runs left once, again and again, until none has or the time is over.
func rounds(ctx context.Context, o options, programs []program, env []string, notes *notes, stdout io.Writer) error {
	end := time.Now().Add(o.slice)
	for round := 1; round <= o.count; round++ {
		for _, p := range programs {
			done := len(notes.of(p))
			if done >= round {
				continue
			}
			if ctx.Err() != nil || (o.slice > 0 && time.Now().After(end)) {
				return nil //nolint:nilerr // the time is over, which is no failure
			}
			n, err := p.run(ctx, o, env, done+1)
			if ctx.Err() != nil {
				return nil //nolint:nilerr // broken off, which says nothing
			}
			if err != nil {
				return err
			}
			if err := notes.add(n); err != nil {
				return err
			}
			fmt.Fprintf(stdout, "%s  %s %d/%d  %s\n", time.Now().Format(time.TimeOnly), p.name, done+1, o.count, n)
		}
	}
	return nil
}
