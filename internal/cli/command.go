package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
)

// The exit statuses.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3
	exitUnknown = 4

	exitInterrupted = 128 // and the number of the signal
)

// stdio are the streams of a run: answers go to out, everything else to err.
type stdio struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// program is one run of the command line.
type program struct {
	stdio
	env    func(string) string // as os.Getenv
	faults []string            // faults of values of flags and variables
	given  map[string]origin   // checked flags that have a value which is not empty, by name
	before map[string]string   // values of flags before the command
	config map[string]string   // values in the file of --config, by the names of flags

	unhelped error // help was asked for a command that does not exist
}

// say prints progress worth a person's attention.
func (p *program) say(format string, args ...any) { fmt.Fprintf(p.err, format+"\n", args...) }

// errQuiet is a failure that the command's output has reported already.
var errQuiet = errors.New("reported")

// errRefused means that an import is complete except for refused lines, which it has reported.
var errRefused = errors.New("lines were refused")

// uncomparedError means that a comparison could not be made, so that there may be differences or not.
type uncomparedError struct{ err error }

func (u *uncomparedError) Error() string { return u.err.Error() }
func (u *uncomparedError) Unwrap() error { return u.err }

// failure marks an error that is not about usage: the command was understood and did not work.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usageError is a command line or environment that asks for something impossible.
type usageError struct {
	command string // full name of the command, for the hint
	detail  string
}

func (u *usageError) Error() string { return u.detail }

// usagef returns a usageError. Its text says the mistake and the right form.
func usagef(format string, args ...any) error {
	return &usageError{detail: fmt.Sprintf(format, args...)}
}

// mistaken returns the full name of the command whose help to suggest.
func mistaken(err error) string {
	if usage, ok := errors.AsType[*usageError](err); ok {
		return usage.command
	}
	return "leaderboard"
}

// action carries out a command with its positional arguments. Its flags are read before.
type action func(ctx context.Context, args []string) error

// leaf makes a command without subcommands. args are its positional arguments, which checkArguments counts: "" for flags
// only.
func (p *program) leaf(name, usage, args string, do action, flags ...cli.Flag) *cli.Command {
	text := "leaderboard " + name + " [OPTIONS]"
	if args != "" {
		text += " " + args
	}
	return &cli.Command{
		Name: lastWord(name), Usage: usage, UsageText: text, ArgsUsage: args,
		HideHelpCommand: true, // an argument may be "help"
		Flags:           flags,
		OnUsageError:    onUsageError,
		CommandNotFound: func(_ context.Context, cmd *cli.Command, _ string) { printHelp(p.out, "", cmd) }, // of --help after an argument
		Action: func(ctx context.Context, cmd *cli.Command) error {
			err := cmp.Or(p.checkBefore(cmd), p.checkOld(), checkArguments(name, args, cmd.Args().Slice()))
			if p.faults != nil {
				err = usagef("%s", strings.Join(p.faults, "\n  "))
			}
			if err == nil {
				err = do(ctx, cmd.Args().Slice())
			}
			return classify(cmd, namingFlags(cmd, err))
		},
	}
}

// checkBefore fails when a flag was given before a command that has no such flag.
func (p *program) checkBefore(cmd *cli.Command) error {
	for _, name := range slices.Sorted(maps.Keys(p.before)) {
		if findFlag(cmd, name) == nil {
			return usagef("unknown option --%s: %s asks no server", name, cmd.FullName())
		}
	}
	return nil
}

func findFlag(c *cli.Command, name string) cli.Flag {
	for _, f := range c.Flags {
		if slices.Contains(f.Names(), name) {
			return f
		}
	}
	return nil
}

// checkArguments checks the number of arguments against the form of a command, such as BOARD MEMBER [MEMBER …]. A command with a
// choice of several forms checks them itself.
func checkArguments(command, args string, given []string) error {
	if strings.Contains(args, "|") {
		return nil
	}
	most, nouns, sample := 0, []string(nil), "leaderboard "+command
	for word := range strings.FieldsSeq(args) {
		switch {
		case word == "…]":
			most = len(given)
		case word[0] == '[':
			most++
		default:
			most++
			noun, like := argumentLike(word)
			nouns, sample = append(nouns, noun), sample+" "+like
		}
	}
	switch {
	case args == "" && len(given) > 0:
		return usagef("unexpected argument %q: this command takes options only", given[0])
	case len(given) >= len(nouns) && len(given) <= max(most, len(nouns)):
		return nil
	case len(nouns) == 0:
		return usagef("unexpected argument %q", given[most])
	case most == 1:
		return usagef("want one %s, as in: %s", nouns[0], sample)
	default:
		return usagef("want a %s, as in: %s", strings.Join(nouns, " and a "), sample)
	}
}

// argumentLike returns the noun for an argument, and an example of one.
func argumentLike(word string) (noun, sample string) {
	switch word {
	case "BOARD":
		return "board", "demo"
	case "MEMBER":
		return "member", "alice"
	case "FRIEND":
		return "friend", "bob"
	case "MEMBER=SCORE":
		return "score", "alice=90"
	case "NAME":
		return "name", "'game1 backend'"
	default:
		return strings.ToLower(word), word
	}
}

// group makes a command that only has subcommands.
func group(name, usage string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, UsageText: "leaderboard " + name + " COMMAND [OPTIONS] [ARGUMENTS]", Commands: commands,
		Action: unknownCommand, OnUsageError: onUsageError,
	}
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// classify separates usage errors, which get a hint to the right help, from failures.
func classify(cmd *cli.Command, err error) error {
	if err == nil {
		return nil
	}
	if usage, ok := errors.AsType[*usageError](err); ok {
		return &usageError{command: cmd.FullName(), detail: usage.detail}
	}
	return &failure{err}
}

func onUsageError(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	detail := err.Error()
	if flag, ok := strings.CutPrefix(detail, "flag provided but not defined: -"); ok {
		detail = "unknown option --" + flag
		if near := nearest(flag, visibleNames(cmd)); near != "" {
			detail += ": did you mean --" + near + "?"
		}
	}
	return &usageError{command: cmd.FullName(), detail: detail}
}

// visibleNames returns the names of the options that the help of a command shows.
func visibleNames(cmd *cli.Command) (names []string) {
	for _, f := range cmd.VisibleFlags() {
		names = append(names, f.Names()...)
	}
	return names
}

// unknownCommand fails because no subcommand was named, or a subcommand that does not exist.
func unknownCommand(_ context.Context, cmd *cli.Command) error {
	if cmd.Args().Present() {
		return noCommand(cmd, cmd.Args().First())
	}
	return classify(cmd, usagef("no command given: %s", wantCommand(cmd)))
}

// noCommand returns the error for the name of a subcommand that does not exist.
func noCommand(cmd *cli.Command, name string) error {
	if near := nearest(name, commandNames(cmd)); near != "" {
		return classify(cmd, usagef("unknown command %q: did you mean %q?", name, near))
	}
	return classify(cmd, usagef("unknown command %q: %s", name, wantCommand(cmd)))
}

func wantCommand(cmd *cli.Command) string {
	return "want one of " + strings.Join(commandNames(cmd), ", ")
}

func commandNames(cmd *cli.Command) (names []string) {
	for _, c := range cmd.VisibleCommands() {
		names = append(names, c.Name)
	}
	return names
}

// namingFlags renames the places in a problem to the flags that they come from. Places that come from no flag keep their names.
func namingFlags(cmd *cli.Command, err error) error {
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || len(p.Errors) == 0 {
		return err
	}
	places, named := make([]client.InputError, len(p.Errors)), *p
	for i, e := range p.Errors {
		if flag := flagOf(cmd, cmp.Or(e.Pointer, e.Parameter)); flag != "" {
			e = client.InputError{Pointer: "--" + flag, Detail: e.Detail}
		}
		places[i] = e
	}
	named.Errors = places
	return reword(err, "%s", named.Error())
}

// flagOf returns the flag on the command line that gave a place of a request its value, "" for none: /limits/max_score is
// --max-score, /refresh/full is --refresh-full, /windows/1 is --windows; q is --find of a command that has that.
func flagOf(cmd *cli.Command, place string) string {
	if place == "q" {
		place = "find"
	}
	parts := strings.Split(strings.ReplaceAll(strings.TrimPrefix(place, "/"), "_", "-"), "/")
	for n := len(parts); n > 0; n-- {
		for _, name := range []string{strings.Join(parts[:n], "-"), parts[n-1]} {
			if name != "url" && name != "key" && cmd.IsSet(name) { // those two say which server is asked
				return name
			}
		}
	}
	return ""
}
