package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/app"
)

// program is one run of the command line.
type program struct {
	stdio
	env func(string) string
}

// action is what a command does with its configuration and its positional arguments.
type action func(ctx context.Context, cfg config, args []string) error

// command builds the tree of commands.
func (p *program) command() *cli.Command {
	root := &cli.Command{
		Name:      "leaderboard",
		Usage:     "rankings that are exact, with MySQL as the truth and Redis as a cache",
		UsageText: "leaderboard COMMAND [OPTIONS] [ARGUMENTS]",
		Description: "Start with `leaderboard dev`: it brings its own servers and a demo board.\n" +
			"Every option is also an environment variable: --mysql-dsn is LEADERBOARD_MYSQL_DSN.",
		Commands: []*cli.Command{
			p.leaf("dev", "start private servers and a demo board under ./.leaderboard, and serve", "", p.dev,
				append(serverSettings(), "dir", "members")...),
			p.leaf("serve", "serve the API", "", p.serve, append(serverSettings(), "migrate", "fault")...),
			p.migrateCommand(),
			p.leaf("refresh", "renew Redis copies now, as a cron job does; status 1 when one fails", "", p.refresh,
				append(storeSettings(), "kind", "board", "all", "json", "fault")...),
			p.leaf("verify", "compare Redis copies with MySQL, or derived boards with their sources; status 1 on a difference", "", p.verify,
				append(storeSettings(), "against", "board", "all", "json")...),
			p.indexCommand(),
			p.boardCommand(),
			p.leaf("submit", "submit scores", "BOARD MEMBER=SCORE [MEMBER=SCORE …]", p.submit,
				append(clientSettings(), "tiebreak", "field", "idempotency-key")...),
			p.leaf("top", "show the best entries of a board, or of several", "BOARD | --boards BOARDS | --labels LABELS", p.top,
				append(clientSettings(), "limit", "offset", "window", "period", "mode", "min-seq", "boards", "labels")...),
			p.leaf("rank", "show the rank of members, or of a score; status 1 when none of the members is ranked", "BOARD MEMBER [MEMBER …] | BOARD --score SCORE", p.rank,
				append(clientSettings(), "around", "friends", "limit", "offset", "score", "tiebreak", "field", "window", "period", "mode", "min-seq")...),
			p.leaf("export", "write all entries of a period to a file, with both ranks", "BOARD", p.exportBoard,
				append(clientSettings(), "window", "period", "format", "output")...),
			p.leaf("import", "submit the entries of a file, going on where an earlier run stopped; status 3 when lines were refused", "BOARD FILE", p.importFile,
				append(clientSettings(), "format", "batch", "refused", "progress", "restart", "retry-for", "idempotency-key")...),
			p.memberCommand(),
			p.leaf("hide", "hide a member on one board, or everywhere; the entries are kept", "MEMBER", p.hide,
				append(clientSettings(), "board", "reason", "actor", "reopen")...),
			p.leaf("restore", "show a hidden member again", "MEMBER", p.restore,
				append(clientSettings(), "board", "reason", "actor", "reopen")...),
			p.leaf("hidden", "list who is hidden, or with --history what was done", "[MEMBER]", p.hidden,
				append(clientSettings(), "board", "history")...),
			p.leaf("health", "ask the server of this machine whether it is ready; status 1 when it is not", "", p.health,
				"listen", "timeout"),
			p.leaf("version", "print the version and commit", "", p.version, "json"),
		},
		Action:         p.unknownCommand,
		Reader:         p.in,
		Writer:         p.out,
		ErrWriter:      p.err,
		Version:        app.ReadBuildInfo().String(),
		ExitErrHandler: func(context.Context, *cli.Command, error) {}, // run decides
		OnUsageError:   onUsageError,
	}
	return root
}

// leaf is a command without subcommands that takes the settings named.
func (p *program) leaf(name, usage, args string, do action, settings ...string) *cli.Command {
	text := "leaderboard " + name + " [OPTIONS]"
	if args != "" {
		text += " " + args
	}
	return &cli.Command{
		Name: lastWord(name), Usage: usage, UsageText: text,
		HideHelpCommand: true, // a board may be called "help"
		Flags:           p.flags(settings),
		OnUsageError:    onUsageError,
		CommandNotFound: showHelp,
		Action: func(ctx context.Context, cmd *cli.Command) error {
			cfg, err := p.readConfig(cmd, settings)
			if err == nil && args == "" && cmd.Args().Present() {
				err = usagef("unexpected argument %q: this command takes options only", cmd.Args().First())
			}
			if err == nil {
				err = explain(&cfg, do(ctx, cfg, cmd.Args().Slice()))
			}
			return classify(cmd, err)
		},
	}
}

// showHelp shows the help of a command that was given arguments besides --help: to the library the first argument is the
// name of a subcommand, which a leaf does not have.
func showHelp(_ context.Context, cmd *cli.Command, _ string) {
	cli.HelpPrinter(cmd.Root().Writer, cli.CommandHelpTemplate, cmd)
}

// group is a command that only has subcommands.
func (p *program) group(name, usage string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{Name: name, Usage: usage, Commands: commands, Action: p.unknownCommand, OnUsageError: onUsageError}
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// classify tells usage errors, which get a hint to the right help, from failures.
func classify(cmd *cli.Command, err error) error {
	var usage *usageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &usage):
		return &usageError{command: cmd.FullName(), detail: usage.detail}
	default:
		return &failure{err}
	}
}

func onUsageError(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	detail := err.Error()
	if flag, ok := strings.CutPrefix(detail, "flag provided but not defined: -"); ok {
		detail = "unknown option --" + flag
	}
	return &usageError{command: cmd.FullName(), detail: detail}
}

// unknownCommand is reached when no subcommand was named, or one that does not exist.
func (p *program) unknownCommand(_ context.Context, cmd *cli.Command) error {
	var names []string
	for _, c := range cmd.VisibleCommands() {
		if c.Name != "help" {
			names = append(names, c.Name)
		}
	}
	want := "want one of " + strings.Join(names, ", ")
	if !cmd.Args().Present() {
		return classify(cmd, usagef("no command given: %s", want))
	}
	return classify(cmd, usagef("unknown command %q: %s", cmd.Args().First(), want))
}
