package cli

import (
	"context"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// auditCommand lists the records of changes, by default all of them. With --json it prints a line for each as they come, for
// export.
func (p *program) auditCommand() *cli.Command {
	r, q := p.remote(), client.AuditQuery{}
	return r.command("audit", "list who changed what, newest first; with --json a line for each, to keep them elsewhere", "", func(ctx context.Context, _ []string) error {
		return showList(ctx, &r, list{
			operation: "listAudit", query: q, head: []string{"TIME", "ACTOR", "ACTION", "BOARD", "MEMBER", "BEFORE", "AFTER", "REQUEST"}, details: 3,
		}, func(t *terminal.Table, e *client.AuditEntry) {
			t.Row(e.Time, e.Actor, e.Action, e.Board, e.Member, string(e.Before), string(e.After), e.RequestID)
		})
	},
		boardFlag(&q.Board),
		memberFlag(&q.Member),
		actorFlag(&q.Actor),
		&cli.StringFlag{Name: "action", Usage: "only changes of this kind, such as board.update", Destination: (*string)(&q.Action)},
		&cli.StringFlag{Name: "since", Usage: "only what was at this `time` or later, as in 2026-11-20T13:00:00Z", Destination: &q.Since},
		&cli.StringFlag{Name: "until", Usage: "only changes before this `time`", Destination: &q.Until},
	)
}
