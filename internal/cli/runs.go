package cli

import (
	"cmp"
	"context"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/settings"
	"leaderboard/internal/terminal"
)

func (p *program) runCommand() *cli.Command {
	return group("run", "rebuilds and refreshes of copies and boards, those under way too", p.runListCommand(), p.runShowCommand())
}

func (p *program) runListCommand() *cli.Command {
	q := api.RunsQuery{}
	return listing(p, "run list", "list the runs, newest first", "listRuns", &q, runHead(), addRun, boardFlag(&q.Board))
}

func (p *program) runShowCommand() *cli.Command {
	return question(p, "run show", "show a run", "ID", func(ctx context.Context, c *client.Client, args []string) (run client.Run, err error) {
		id, ok := settings.WholeNumber(args[0])
		if !ok {
			return run, usagef("want the number of a run, not %q", args[0])
		}
		return c.Run(ctx, id)
	}, only(runHead(), addRun))
}

func runHead() []string {
	return []string{"ID", "STARTED", "BOARD", "PERIOD", "KIND", "REASON", "BY", "STATE", "FROM SEQ", "TO SEQ", "ROWS", "TOOK", "ERROR"}
}

func addRun(t *terminal.Table, r *client.Run) {
	t.Row(r.ID, r.StartedAt, cmp.Or(r.Board, "-"), r.Period, r.Kind, r.Reason, cmp.Or(r.Actor, "-"), r.State,
		r.FromSeq, r.ToSeq, r.Rows, r.Took, cmp.Or(r.Error, "-"))
}
