package cli

import (
	"cmp"
	"context"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/settings"
	"leaderboard/internal/terminal"
)

func (p *program) runCommand() *cli.Command {
	return group("run", "rebuilds and refreshes of copies and boards, those under way too", p.runListCommand(), p.runShowCommand())
}

func (p *program) runListCommand() *cli.Command {
	board := ""
	return listing(p, "run list", "list the runs, newest first", "", func([]string) list {
		return list{path: client.Path("runs"), query: optionalValues("board", board), member: "runs", head: runHead()}
	}, addRun, boardFlag(&board))
}

func (p *program) runShowCommand() *cli.Command {
	return question(p, "run show", "show a run", "ID", func(ctx context.Context, c *client.Client, args []string) (run client.Run, err error) {
		id, ok := settings.WholeNumber(args[0])
		if !ok {
			return run, usagef("want the number of a run, not %q", args[0])
		}
		return c.Run(ctx, id)
	}, func(r *remote, run *client.Run) error {
		t := terminal.NewTable(r.out, runHead()...)
		addRun(t, run)
		return t.Flush()
	})
}

func runHead() []string {
	return []string{"ID", "STARTED", "BOARD", "PERIOD", "KIND", "REASON", "BY", "STATE", "FROM SEQ", "TO SEQ", "ROWS", "TOOK", "ERROR"}
}

func addRun(t *terminal.Table, r *client.Run) {
	t.Row(r.ID, r.StartedAt, cmp.Or(r.Board, "-"), r.Period, r.Kind, r.Reason, cmp.Or(r.Actor, "-"), r.State,
		r.FromSeq, r.ToSeq, r.Rows, r.Took, cmp.Or(r.Error, "-"))
}
