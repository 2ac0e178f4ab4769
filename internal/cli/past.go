package cli

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"github.com/urfave/cli/v3"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// historyOptions say which periods of a member's past are looked at.
type historyOptions struct {
	remote
	limit  int
	minSeq int64
	window string
	cursor string
}

func (p *program) historyCommand() *cli.Command {
	o := &historyOptions{remote: p.remote(), limit: leaderboard.DefaultPast}
	minSeq := whole(o.option("min-seq", "answer from a state at least this new, as a submit's answer names it"), &o.minSeq, 0, math.MaxInt64)
	minSeq.HideDefault = true
	return o.command("history", "show what a member had in the latest periods of a window", "BOARD MEMBER", o.run,
		whole(o.option("periods", "periods to look at, 1 to 100"), &o.limit, 1, leaderboard.MaxPast), windowFlag(&o.window), minSeq,
		&cli.StringFlag{Name: "cursor", Usage: "go on where an answer before ended", Destination: &o.cursor})
}

func (o *historyOptions) run(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return usagef("want a board and a member, as in: leaderboard history demo alice")
	}
	query := optionalValues("window", o.window, "cursor", o.cursor)
	query.Set("limit", strconv.Itoa(o.limit))
	if o.minSeq > 0 {
		query.Set("min_seq", strconv.FormatInt(o.minSeq, 10))
	}
	var past client.History
	done, err := o.ask(ctx, client.Request{Method: http.MethodGet, Path: client.Path("boards", args[0], "members", args[1], "history"), Query: query}, &past)
	if done || err != nil {
		return err
	}
	t := terminal.NewTable(o.out, "PERIOD", "STRICT", "TIED", "OF", "SCORE", "CREATED", "STATE")
	for i := range past.Periods {
		p := &past.Periods[i]
		state := leaderboard.PeriodStateOpen
		if p.Closed {
			state = leaderboard.PeriodStateClosed
		}
		t.Row(p.Period, p.StrictRank, p.TiedRank, p.Total, p.Score, timeText(p.CreatedTime), state)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "%s by %s on %s, as of %s, from %s%s\n", terminal.Printable(past.Member), past.Window, past.Board, timeText(past.AsOf),
		past.Source, staleText(past.Stale))
	if err == nil && past.NextCursor != "" {
		_, err = fmt.Fprintf(o.out, "older periods: --cursor %s\n", past.NextCursor)
	}
	return err
}
