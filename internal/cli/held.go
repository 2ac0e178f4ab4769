package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/settings"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// heldCommand is about submissions that wait for an admin.
func (p *program) heldCommand() *cli.Command {
	return group("held", "submissions that the rule review of their board holds: see them, approve or reject them",
		p.heldListCommand(), p.heldShowCommand(), p.heldApproveCommand(), p.heldRejectCommand(),
	)
}

func heldHead() []string {
	return []string{"ID", "BOARD", "MEMBER", "SCORE", "WOULD BE", "SINCE", "BY", "STATE", "REASON"}
}

func addHeld(t *terminal.Table, h *client.Held) {
	state := string(h.State)
	if h.Outcome != "" {
		state += ", " + string(h.Outcome)
	}
	t.Row(h.ID, h.Board, h.Member, orDash(h.Score), h.NewScore, h.HeldTime, h.Actor, state, h.Reason)
}

func (p *program) heldListCommand() *cli.Command {
	q := api.HeldQuery{}
	return listing(p, "held list", "list the submissions that wait, newest first", "listHeld", &q, heldHead(), addHeld,
		boardFlag(&q.Board), memberFlag(&q.Member), stateFlag((*string)(&q.State)))
}

// stateFlag is for lists.
func stateFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "state", Usage: "of endpoint deliveries: only those that are waiting, delivered or failed; of held list: waiting, approved or rejected (default: waiting)", Destination: at}
}

func (p *program) heldShowCommand() *cli.Command {
	return requestCommand(p, "held show", "show one", "getHeld", only(heldHead(), addHeld))
}

func noteFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "note", Usage: "why, at most 200 characters; the audit has it", Destination: at}
}

func (p *program) heldApproveCommand() *cli.Command {
	var (
		note   string
		reopen bool
	)
	return question(p, "held approve", "enter one, in the periods that it came in", "ID", func(ctx context.Context, c *client.Client, args []string) (client.Held, error) {
		return c.ApproveHeld(ctx, args[0], note, reopen)
	}, only(heldHead(), addHeld), noteFlag(&note), reopenFlag(&reopen))
}

func (p *program) heldRejectCommand() *cli.Command {
	var note string
	return question(p, "held reject", "leave one out", "ID", func(ctx context.Context, c *client.Client, args []string) (client.Held, error) {
		return c.RejectHeld(ctx, args[0], note)
	}, only(heldHead(), addHeld), noteFlag(&note))
}

// parseHoldRules reads the flag --review.
func parseHoldRules(v string) ([]leaderboard.HoldRule, error) {
	var rules []leaderboard.HoldRule
	for text := range strings.SplitSeq(v, ",") {
		name, value, _ := strings.Cut(text, ":")
		n, ok := settings.WholeNumber(value)
		var rule leaderboard.HoldRule
		switch {
		case name == "by" && value != "":
			rule.By, ok = leaderboard.HoldBy(value), true
		case name == "above":
			rule.Above = &n
		case name == "per_second":
			rule.PerSecond = &n
		case name == "rank_within":
			rule.RankWithin = int(n)
		default:
			ok = false
		}
		if !ok {
			return nil, fmt.Errorf("want above:SCORE, rank_within:N, per_second:N or by:players, as in above:1000000,rank_within:10, not %q", text)
		}
		rules = append(rules, rule)
	}
	return rules, nil
}
