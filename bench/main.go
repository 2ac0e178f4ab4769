// Command bench measures the service as its users meet it: a process of its own on real servers with their durable
// defaults, asked over HTTP, on a machine that the load shares. Every figure is held against a yardstick that runs in
// turn with it, so the ratios hold where the absolute numbers drift. `make bench` writes docs/benchmarks.md with it.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, log io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(log)
	bare := flags.String("bare", "", "serve the bytes of this file and nothing else (used by bench itself)")
	program := flags.String("program", "bin/leaderboard", "the service's binary")
	dir := flags.String("dir", defaultDir(), "folder of the servers' data; the next run uses it again")
	members := flags.Int("members", 1_000_000, "entries of the board")
	only := flags.String("only", "", "comma-separated: reads, writes, rebuild, field; empty means all")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *bare != "" {
		return exit(log, serveBare(*bare))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return exit(log, measure(ctx, *program, *dir, *members, *only, out, log))
}

func exit(log io.Writer, err error) int {
	if err != nil {
		fmt.Fprintln(log, "bench:", err)
		return 1
	}
	return 0
}

func measure(ctx context.Context, program, dir string, members int, only string, out, log io.Writer) error {
	w, err := newWorld(ctx, program, dir, members)
	if err != nil {
		return err
	}
	defer w.close()
	var rep report
	steps := []struct {
		name string
		run  func(context.Context, *report, io.Writer) error
	}{
		{"reads", w.measureReads},
		{"rebuild", w.measureRebuild},
		{"field", w.measureField},
		{"writes", w.measureWrites},
	}
	for _, step := range steps {
		if only != "" && !slices.Contains(strings.Split(only, ","), step.name) {
			continue
		}
		if err := step.run(ctx, &rep, log); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	rep.write(out)
	return nil
}

// tookOf reads the duration of a finished run.
func tookOf(body []byte) (time.Duration, error) {
	var run struct {
		State string `json:"state"`
		Took  string `json:"took"`
	}
	if err := json.Unmarshal(body, &run); err != nil {
		return 0, err
	}
	if run.State != "done" {
		return 0, fmt.Errorf("the run is %s", run.State)
	}
	return time.ParseDuration(run.Took)
}
