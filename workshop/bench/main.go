// Command bench measures the service as a separate process, over HTTP, on real servers with their durable defaults, on a
// machine that the load shares. Every figure is compared with a yardstick that runs in turn with it, so the ratios hold
// when the absolute numbers drift. `make bench` writes the tables of docs/benchmarks.md with it.
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
	flags.StringVar(&o.program, "program", "bin/leaderboard", "the service's binary")
	flags.StringVar(&o.before, "before", "", "a binary of an earlier version, which the topic "+beforeTopic+" measures beside this one")
	flags.StringVar(&o.dir, "dir", filepath.Join(".leaderboard", "bench"), "folder of the servers' data; the next run uses it again")
	flags.StringVar(&o.page, "write", "", "the page whose tables are replaced; what is not measured stays as it is")
	flags.IntVar(&o.members, "members", 0, "entries of the board; 0: 1,000,000, and 100,000,000 of giant")
	flags.Float64Var(&o.pace, "pace", 1, "factor of how long is measured; below 1 for a trial")
	only := flags.String("only", "", "comma-separated: "+strings.Join(topicNames(), ", ")+"; empty means all but "+beforeTopic+" and "+giantTopic)
	serve := flags.String("serve", "", "further arguments of every server")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if *bare != "" {
		return exit(log, serveBare(*bare))
	}
	o.only, o.serveArgs = splitNames(*only), strings.Fields(*serve)
	if err := o.check(); err != nil {
		fmt.Fprintln(log, "bench:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return exit(log, measure(ctx, o, out, log))
}

func exit(log io.Writer, err error) int {
	if err != nil {
		fmt.Fprintln(log, "bench:", err)
		return 1
	}
	return 0
}

// topic is a section of the page.
type topic struct {
	name    string
	members int // entries of its board, unless the command line gives a number
	measure func(*world, context.Context, *report) error
}

const (
	beforeTopic = "before"
	giantTopic  = "giant"
)

// topics returns all topics, in the order of the page.
func topics() []topic {
	const million = 1_000_000
	return []topic{
		{"reads", million, (*world).measureReads},
		{"cold", million, (*world).measureCold},
		{"beyond", million, (*world).measureBeyond},
		{"freshness", million, (*world).measureFreshness},
		{"copies", million, (*world).measureCopies},
		{"writes", million, (*world).measureWrites},
		{"flush", million / 10, (*world).measureFlush},
		{"group", million / 10, (*world).measureGroup},
		{"standings", million, (*world).measureStandings},
		{"metadata", million / 10, (*world).measureMetadata},
		{"feed", million, (*world).measureFeed},
		{"events", million / 10, (*world).measureEvents},
		{"notices", million / 10, (*world).measureNotices},
		{"overload", million, (*world).measureOverload},
		{"players", million, (*world).measurePlayers},
		{"records", million, (*world).measureRecords},
		{beforeTopic, million / 10, (*world).measureBefore},
		{giantTopic, 100 * million, (*world).measureGiant},
	}
}

func topicNames() (names []string) {
	for _, t := range topics() {
		names = append(names, t.name)
	}
	return names
}

const minMembers = 10_000

func splitNames(names string) []string {
	return strings.FieldsFunc(names, func(r rune) bool { return r == ',' })
}

// check fails for topics that cannot be measured.
func (o *options) check() error {
	for _, name := range o.only {
		if !slices.Contains(topicNames(), name) {
			return fmt.Errorf("there is no topic %q", name)
		}
	}
	if o.wants(beforeTopic) != (o.before != "") {
		return fmt.Errorf("-only %s and -before go together", beforeTopic)
	}
	if o.members != 0 && (o.members < minMembers || o.members > maxMembers) {
		return fmt.Errorf("members must be %d to %d", minMembers, maxMembers)
	}
	if o.pace <= 0 {
		return errors.New("pace must be positive")
	}
	return nil
}

// wants reports whether a topic is measured.
func (o *options) wants(name string) bool {
	if len(o.only) == 0 {
		return name != giantTopic && name != beforeTopic
	}
	return slices.Contains(o.only, name)
}

// command returns the ARGS of make bench that measure a topic again.
func (o *options) command(name string) string {
	args := "-only " + name
	if o.members != 0 {
		args += fmt.Sprintf(" -members %d", o.members)
	}
	if o.before != "" {
		args += " -before BINARY"
	}
	if o.pace != 1 {
		args += fmt.Sprintf(" -pace %g", o.pace)
	}
	if len(o.serveArgs) > 0 {
		args += fmt.Sprintf(" -serve %q", strings.Join(o.serveArgs, " "))
	}
	return args
}

// measure measures the wanted topics, and prints the table of each and writes it into the page.
func measure(ctx context.Context, o options, out, log io.Writer) error {
	w, err := newWorld(ctx, o, log)
	if err != nil {
		return err
	}
	defer w.close()
	machine, err := machineOf(ctx, w.db, w.redis.Version)
	if err != nil {
		return err
	}
	for _, t := range topics() {
		if !o.wants(t.name) {
			continue
		}
		fmt.Fprintln(log, t.name)
		if w.members = t.members; o.members != 0 {
			w.members = o.members
		}
		var rep report
		start := time.Now()
		err := t.measure(w, ctx, &rep)
		w.stopService()
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		section := fmt.Sprintf("%s\n%s members; %s, %.0f s; `%s`", rep.table(), thousands(w.members),
			start.UTC().Format(time.DateOnly), time.Since(start).Seconds(), o.command(t.name))
		fmt.Fprintf(out, "%s; %s.\n", section, machine)
		if o.page != "" && t.name != beforeTopic {
			if err := replaceSection(o.page, t.name, section, machine); err != nil {
				return err
			}
		}
	}
	return nil
}
