package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

func (p *program) standingsCommand() *cli.Command {
	var on boardSelection
	var q client.BoardsQuery
	return question(p, "standings", "show the ranks of a member on many boards at once", "MEMBER",
		func(ctx context.Context, c *client.Client, args []string) (client.Standings, error) {
			if !on.given() {
				return client.Standings{}, usagef("give --boards or --labels, as in: leaderboard standings alice --boards moba,card")
			}
			q.Boards, q.Labels = on.boards(), on.labels
			return c.Standings(ctx, args[0], q)
		}, func(r *remote, s *client.Standings) error { return r.printStandings(s, q.Metadata) },
		on.boardsFlag(), p.labelsFlag(&on.labels),
		windowFlag(&q.Window), periodFlag(&q.Period), p.modeFlag(&q.Mode, string(leaderboard.ModeAll)), metadataFlag(&q.Metadata))
}

func (r *remote) printStandings(s *client.Standings, metadata bool) error {
	all := len(s.Standings) > 0 && s.Standings[0].Mode == leaderboard.ModeAll
	head := []string{"BOARD", "RANK"}
	if all {
		head = []string{"BOARD", "STRICT", "TIED"}
	}
	head = append(head, "OF", "SCORE", "CREATED", "PERIOD", "SEQ")
	if metadata {
		head = append(head, "METADATA")
	}
	t := terminal.NewTable(r.out, head...)
	for i := range s.Standings {
		on := &s.Standings[i]
		cells := []any{on.Board, on.Rank}
		if all {
			cells = []any{on.Board, on.StrictRank, on.TiedRank}
		}
		cells = append(cells, on.Total, on.Score, on.CreatedTime, on.Period, on.Seq)
		if metadata {
			cells = append(cells, cmp.Or(string(on.Metadata), "-"))
		}
		t.Row(cells...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var b strings.Builder
	if len(s.NotRanked) > 0 {
		fmt.Fprintf(&b, "not ranked on %s\n", strings.Join(s.NotRanked, ", "))
	}
	if len(s.Absent) > 0 {
		fmt.Fprintf(&b, "no such period: %s\n", strings.Join(s.Absent, ", "))
	}
	fmt.Fprintf(&b, "%s on %s, from %s%s\n", terminal.Printable(s.Member), counted(len(s.Standings), "board"), s.Source, staleText(s.Stale))
	_, err := fmt.Fprint(r.out, b.String())
	return err
}
