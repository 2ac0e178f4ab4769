// Package cli is the command line of leaderboard: commands that serve, commands that work on MySQL and Redis directly,
// and commands that ask a server through the public client.
//
// It reads in layers: command.go (what a command is) and flags.go (what a flag is), settings.go and client.go (the
// flags that servers and clients share), a file for each family of commands, and this one, which puts them together.
package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/redis/go-redis/v9"
	"github.com/urfave/cli/v3"

	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
)

// Main runs the command line of this process and returns the exit status: 0 done, 1 failed, 2 wrong usage, 3 done but
// for lines that an import refused, 4 a comparison that found no difference and could not be made in full; 130 and 143
// interrupted by SIGINT (Ctrl-C) and SIGTERM, as a shell says it.
func Main() int {
	redis.SetLogger(silence{}) // its errors are returned too, and logged once by the caller
	cli.HelpPrinter = printHelp
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		// The first signal asks for an orderly end. A second one finds the default behaviour, which ends the process at once.
		signal.Stop(signals)
		cancel(&signalError{s})
	}()
	return run(ctx, os.Args, stdio{os.Stdin, terminal.NewScreen(os.Stdout, os.Getenv), os.Stderr}, os.Getenv)
}

// signalError is a signal that asked for the end.
type signalError struct{ signal os.Signal }

func (s *signalError) Error() string { return s.signal.String() + " received" }

// interruptedStatus returns the exit status of an interrupted command: 128 and the number of the signal.
func interruptedStatus(ctx context.Context) int {
	if s, ok := errors.AsType[*signalError](context.Cause(ctx)); ok {
		if number, ok := s.signal.(syscall.Signal); ok {
			return exitInterrupted + int(number)
		}
	}
	return exitFailed
}

// silence is a logger that drops all lines.
type silence struct{}

// Printf drops a line.
func (silence) Printf(context.Context, string, ...any) {}

// run runs the program without its process: args as in os.Args, env as os.Getenv. It returns the exit status, ends early if ctx
// does, and prints errors to std.err.
func run(ctx context.Context, args []string, std stdio, env func(string) string) int {
	p := &program{stdio: std, env: env}
	if len(args) > 2 && args[1] == "help" { // the library's help command looks at the first name only
		args = slices.Concat(args[:1], args[2:], []string{"--help"})
	}
	err := p.root().Run(ctx, args)
	if err == nil {
		err = p.unhelped
	}
	if err == nil {
		return exitOK
	}
	failed, ok := errors.AsType[*failure](err)
	status := exitFailed
	if _, uncompared := errors.AsType[*uncomparedError](err); uncompared {
		status = exitUnknown
	}
	switch {
	case !ok:
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		p.say("leaderboard: interrupted")
		return interruptedStatus(ctx)
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, errQuiet):
		return exitFailed
	default:
		p.say("leaderboard: %s", failed.err)
		return status
	}
	p.say("leaderboard: %s\nTry: %s --help", err, mistaken(err))
	return exitUsage
}

// root returns the tree of commands.
func (p *program) root() *cli.Command {
	root := &cli.Command{
		Name:      "leaderboard",
		Usage:     "exact rankings in MySQL, with Redis as a cache",
		UsageText: "leaderboard [--url URL] [--key KEY] [--context NAME] COMMAND [OPTIONS] [ARGUMENTS]",
		Description: "Start with `leaderboard dev`: it brings its own servers and a demo board.\n" +
			"Options with a name in brackets, as in [$LEADERBOARD_URL], are environment variables too.\n" +
			"--url, --key and --context may stand before a command that asks a server, or behind it with its other options.",
		Flags: p.rootFlags(),
		Commands: slices.Concat(
			under("Start here", p.devCommand(), p.contextCommand(), p.completionCommand(), p.manCommand(), p.versionCommand()),
			under("Scores",
				p.submitCommand(), p.topCommand(), p.rankCommand(), p.standingsCommand(), p.historyCommand(), p.submissionsCommand(), p.heldCommand(), p.playCommand(),
				p.distributionCommand(), p.activityCommand(), p.watchCommand(), p.followCommand()),
			under("Boards", p.boardCommand(), p.refreshCommand(), p.runCommand(), p.verifyCommand(), p.indexCommand()),
			under("Members", p.memberCommand(), p.removeCommand(), p.hideCommand(), p.restoreCommand(), p.hiddenCommand(), p.tokenCommand(), p.issuerCommand()),
			under("Run it", p.serveCommand(), p.migrateCommand(), p.statusCommand(), p.healthCommand(), p.keyCommand(), p.endpointCommand(), p.auditCommand()),
			under("Data", p.exportCommand(), p.importCommand()),
		),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			if cmd.Args().Present() {
				return unknownCommand(ctx, cmd)
			}
			printHelp(p.out, "", cmd)
			return nil
		},
		Reader:         p.in,
		Writer:         p.out,
		ErrWriter:      p.err,
		Version:        app.ReadBuildInfo().String(),
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // run decides
		OnUsageError:   onUsageError,
	}
	for _, c := range append([]*cli.Command{root}, root.Commands...) {
		if len(c.Commands) > 0 {
			c.CommandNotFound = func(_ context.Context, cmd *cli.Command, name string) { p.unhelped = noCommand(cmd, name) }
		}
	}
	return root
}

// under puts commands under a heading of the help.
func under(heading string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = heading
	}
	return commands
}
