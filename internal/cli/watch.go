package cli

import (
	"bytes"
	"context"

	"github.com/urfave/cli/v3"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// watchOptions say what is watched.
type watchOptions struct {
	readOptions
	around int
}

func (p *program) watchCommand() *cli.Command {
	o := &watchOptions{readOptions: readOptions{remote: p.remote(), limit: 10}, around: leaderboard.DefaultAround}
	around := whole(o.option("around", "show that many entries on each side of the member, 0 to 500; with watch to 49"), &o.around, 0, 49)
	around.HideDefault = true
	return o.command("watch", "show the top of a board, or who is around a member, as it changes, until Ctrl-C", "BOARD [MEMBER]", o.run,
		whole(o.option("limit", "entries to show, 1 to 1000; with watch to 100"), &o.limit, 1, 100),
		around, o.modeFlag(&o.mode, string(leaderboard.ModeAll)), windowFlag(&o.window))
}

func (o *watchOptions) run(ctx context.Context, args []string) error {
	if len(args) != 1 && len(args) != 2 {
		return usagef("want a board, as in: leaderboard watch demo; or a member of it, as in: leaderboard watch demo alice")
	}
	c, err := o.connect(client.WithMaxWait(client.DefaultMaxWait))
	if err != nil {
		return err
	}
	q := client.WatchQuery{Window: leaderboard.Window(o.window), Mode: leaderboard.Mode(o.mode), Limit: o.limit}
	if len(args) == 2 {
		q.Member, q.Before, q.After = args[1], o.around, o.around
	}
	for page, err := range c.Watch(ctx, args[0], q) {
		switch {
		case ctx.Err() != nil:
			return nil // as asked
		case err != nil:
			return err
		}
		if err := o.show(&page); err != nil {
			return err
		}
	}
	return nil
}

// show prints a page: over the one before on a terminal, below it elsewhere.
func (o *watchOptions) show(page *client.Page) error {
	if o.json {
		return terminal.PrintJSON(o.out, page)
	}
	var text bytes.Buffer
	inner, program := o.readOptions, *o.program
	program.out = &text
	inner.program = &program
	if err := inner.printEntries(page.Entries, nil, &page.State); err != nil {
		return err
	}
	return terminal.Replace(o.out, text.Bytes())
}
