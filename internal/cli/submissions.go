package cli

import (
	"cmp"
	"context"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

func (p *program) submissionsCommand() *cli.Command {
	r := p.remote()
	return r.command("submissions", "list what was submitted for a member, on boards that record it, newest first", "BOARD MEMBER",
		func(ctx context.Context, args []string) error {
			if len(args) != 2 {
				return usagef("want a board and a member, as in: leaderboard submissions demo alice")
			}
			return showList(ctx, &r, list{
				path: client.Path("boards", args[0], "members", args[1], "submissions"), member: "submissions",
				head: []string{"TIME", "STATUS", "SCORE", "BEFORE", "AFTER", "SEQ", "KEY", "REQUEST", "WHY"},
			}, func(t *terminal.Table, v *client.SubmissionRecord) {
				t.Row(timeText(v.Time), v.Status, v.Score, orNone(v.PreviousScore), orNone(v.NewScore), v.Seq, v.Actor, terminal.Printable(v.RequestID), cmp.Or(v.Code, "-"))
			})
		})
}

// orNone returns a number, a dash for none.
func orNone(v *int64) any {
	if v == nil {
		return "-"
	}
	return *v
}
