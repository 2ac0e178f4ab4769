// Command bench measures the service as its users meet it: a process of its own on real servers with their durable
// defaults, asked over HTTP, on a machine that the load shares. Every figure is held against a yardstick that runs in
// turn with it, so the ratios hold where the absolute numbers drift. `make bench` writes docs/benchmarks.md with it.
package main

import (
	"context"
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
	var o options
	bare := flags.String("bare", "", "serve the bytes of this file and nothing else (used by bench itself)")
	only, serve := o.flagsOf(flags)
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *bare != "" {
		return exit(log, serveBare(*bare))
	}
	o.serveArgs = strings.Fields(*serve)
	if err := o.check(*only); err != nil {
		fmt.Fprintln(log, "bench:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return exit(log, measure(ctx, o, out, log))
}

// flagsOf names the options; serve is where the arguments of the servers are read from.
func (o *options) flagsOf(flags *flag.FlagSet) (only, serve *string) {
	flags.StringVar(&o.program, "program", "bin/leaderboard", "the service's binary")
	flags.StringVar(&o.dir, "dir", defaultDir(), "folder of the servers' data; the next run uses it again")
	flags.StringVar(&o.docs, "write", "", "folder to write benchmarks.md, benchmarks.json and the plot to; what was not measured stays as it is")
	flags.IntVar(&o.members, "members", defaultMembers, "entries of the board")
	flags.BoolVar(&o.huge, "huge", false, "measure the index with 10,000,000 entries too")
	flags.BoolVar(&o.giant, "giant", false, "measure 100,000,000 entries, and nothing else unless -only names it; see giant.go")
	flags.IntVar(&o.giants, "giant-members", giantMembers, "entries of the largest board of -giant; fewer for a trial")
	flags.IntVar(&o.boards, "boards", manyBoards, "boards of the section boards; fewer for a trial")
	flags.Float64Var(&o.pace, "pace", 1, "factor of how long is measured; below 1 for a trial")
	flags.Float64Var(&o.housekeeping, "housekeeping", 1, "factor of how much the housekeeping is given to do")
	flags.IntVar(&o.pairs, "pairs", defaultPairs, "rounds of reads, of the service and its yardstick in turn")
	flags.StringVar(&o.residencyOff, "residency-off", "--resident-memory=0", "arguments of a server that keeps no board in memory")
	only = flags.String("only", "", "comma-separated: "+strings.Join(sectionNames(), ", ")+"; empty means all")
	serve = flags.String("serve", "", "further arguments of every server")
	return only, serve
}

func exit(log io.Writer, err error) int {
	if err != nil {
		fmt.Fprintln(log, "bench:", err)
		return 1
	}
	return 0
}

// check takes over the names of the sections and refuses what cannot be measured.
func (o *options) check(only string) error {
	if only != "" {
		o.only = strings.Split(only, ",")
	}
	if o.giant {
		o.only = append(o.only, giantSection)
	}
	for _, name := range o.only {
		if !slices.Contains(sectionNames(), name) {
			return fmt.Errorf("there is no section %q", name)
		}
	}
	if o.members < minMembers || o.members > maxMembers || o.pace <= 0 || o.housekeeping <= 0 || o.pairs < 1 {
		return fmt.Errorf("members must be %d to %d, pace, housekeeping and pairs positive", minMembers, maxMembers)
	}
	if o.boards < 1 {
		return fmt.Errorf("boards must be 1 at least")
	}
	if o.giants < leastGiant || o.giants > giantMembers {
		return fmt.Errorf("giant-members must be %d to %d", leastGiant, giantMembers)
	}
	return nil
}

// step measures one section of the page.
type step struct {
	name string
	http bool // over HTTP, from the service as a process
	run  func(*world, context.Context, *report, io.Writer) error
}

// steps returns what is measured, in the order in which it runs, that of sectionNames: the index last, in this process,
// with the service stopped.
func steps() []step {
	return []step{
		{"reads", true, (*world).measureReads},
		{"changing", true, (*world).measureChanging},
		{"friends", true, (*world).measureFriends},
		{"categories", true, (*world).measureCategories},
		{"beyond", true, (*world).measureBeyond},
		{"loading", true, (*world).measureLoading},
		{"freshness", true, (*world).measureFreshness},
		{"rebuild", true, (*world).measureRebuild},
		{"field", true, (*world).measureField},
		{"writes", true, (*world).measureWrites},
		{"overload", true, (*world).measureOverload},
		{"quotas", true, (*world).measureQuotas},
		{"streams", true, (*world).measureStreams},
		{"windows", true, (*world).measureWindows},
		{"derived", false, (*world).measureDerived},
		{"boards", false, (*world).measureBoards},
		{"housekeeping", false, (*world).measureHousekeeping},
		{"structure", false, (*world).measureStructure},
		{"index", false, (*world).measureIndex},
		{giantSection, false, (*world).measureGiant},
	}
}

// wants says whether a section is measured.
func (o *options) wants(section string) bool {
	if len(o.only) == 0 {
		return section != giantSection
	}
	return slices.Contains(o.only, section)
}

func measure(ctx context.Context, o options, out, log io.Writer) error {
	w, err := newWorld(ctx, o, log)
	if err != nil {
		return err
	}
	defer w.close()
	env, err := environmentOf(ctx, w.mysql, w.redis)
	if err != nil {
		return err
	}
	for _, s := range steps() {
		if !o.wants(s.name) {
			continue
		}
		sec := section{Name: s.name, Date: time.Now().UTC().Format(time.DateOnly), Members: o.members, Env: env, Command: o.command(s.name)}
		if err := w.runStep(ctx, s, &sec, log); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		sec.writeTables(out)
		if o.docs == "" {
			continue
		}
		if err := writePage(o.docs, sec); err != nil {
			return err
		}
	}
	return nil
}

// runStep starts or stops the service as the step needs it, and fills in the section.
func (w *world) runStep(ctx context.Context, s step, sec *section, log io.Writer) error {
	if s.http {
		if err := w.startService(ctx, log); err != nil {
			return err
		}
	} else {
		w.stopService()
	}
	fmt.Fprintln(log, s.name)
	var rep report
	start := time.Now()
	err := s.run(w, ctx, &rep, log)
	sec.Seconds = time.Since(start).Round(time.Second).Seconds()
	sec.Rows, sec.Points, sec.Readings = rep.rows, rep.points, rep.readings
	if rep.boardless {
		sec.Members = 0
	}
	return err
}
