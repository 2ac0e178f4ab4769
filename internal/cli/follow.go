package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// followOptions say which changes are followed.
type followOptions struct {
	remote
	query     client.ChangesQuery
	fromStart bool
}

func (p *program) followCommand() *cli.Command {
	o := &followOptions{remote: p.remote()}
	return o.command("follow", "print each change of a board as it is committed, until Ctrl-C", "BOARD", o.run,
		windowFlag(&o.query.Window),
		&cli.StringFlag{Name: "after", Usage: "continue after this `cursor`, of a change, of an end or of an export; empty: from the first change of the current period", Destination: &o.query.After},
		&cli.BoolFlag{Name: "once", Usage: "end when there are no more changes for now", Destination: &o.query.Once},
		&cli.BoolFlag{Name: "from-start", Usage: "begin with all entries that there are, as changes from nothing", Destination: &o.fromStart})
}

// run prints changes until ctx ends, which is no error.
func (o *followOptions) run(ctx context.Context, args []string) error {
	if o.fromStart && o.query.After != "" {
		return usagef("--from-start and --after exclude each other")
	}
	c, err := o.connect(client.WithMaxWait(maxAway), client.WithOnRetry(func(r client.Retry) { o.say("leaderboard: %s", waiting(o.url, r)) }))
	if err != nil {
		return err
	}
	if o.fromStart {
		err = o.export(ctx, c, args[0])
	}
	if err == nil {
		err = o.follow(ctx, c, args[0])
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// export prints the present entries. Only the last one has a cursor: a reader that stops before it must begin again.
func (o *followOptions) export(ctx context.Context, c *client.Client, board string) error {
	export, err := c.Export(ctx, board, client.FormatJSONL, client.ExportQuery{Window: o.query.Window})
	if err != nil {
		return err
	}
	n := int64(0)
	for e, err := range export.Entries() {
		if err != nil {
			return err
		}
		change := client.Change{
			Period: export.Period, Seq: export.Seq, CommittedAt: export.AsOf, Member: e.Member,
			After: &client.ChangedEntry{Score: e.Score, Tiebreak: e.Tiebreak, Fields: e.Fields, CreatedTime: e.CreatedTime},
		}
		if n++; n == export.Total {
			change.Cursor = export.Cursor
		}
		if err := o.print(&change); err != nil {
			return err
		}
	}
	o.query.After = export.Cursor
	return nil
}

func (o *followOptions) follow(ctx context.Context, c *client.Client, board string) error {
	for change, err := range c.Follow(ctx, board, o.query) {
		if err == nil {
			err = o.print(&change)
		}
		if err != nil {
			return err
		}
	}
	if o.query.Once {
		return nil
	}
	return errors.New("the changes ended")
}

// print prints a change on a line: as JSON, or as text for people, in columns of fixed widths, since later values are not known.
func (o *followOptions) print(c *client.Change) error {
	if o.json {
		return terminal.PrintJSON(o.out, c)
	}
	if c.End {
		_, err := fmt.Fprintf(o.out, "%s has ended; after it: %s\n", c.Period, c.Cursor)
		return err
	}
	_, err := fmt.Fprintf(o.out, "%s  %10d  %20s > %-20s  %s\n", terminal.Time(o.out, c.CommittedAt), c.Seq, scoreText(c.Before), scoreText(c.After), terminal.Printable(c.Member))
	return err
}

// scoreText returns one side of a change as text: the score, and the tiebreak fields of boards that have some.
func scoreText(e *client.ChangedEntry) string {
	if e == nil {
		return "-"
	}
	text := strconv.FormatInt(e.Score, 10)
	if len(e.Fields) > 0 {
		text += " " + e.Fields.String()
	}
	return text
}
