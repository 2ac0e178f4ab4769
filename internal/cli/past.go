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

func (p *program) historyCommand() *cli.Command {
	q := client.HistoryQuery{}
	return question(p, "history", "show what a member had in the latest periods of a window", "BOARD MEMBER",
		func(ctx context.Context, c *client.Client, args []string) (client.History, error) {
			return c.History(ctx, args[0], args[1], q)
		}, func(r *remote, past *client.History) error { return r.printHistory(past, q.Metadata) },
		within(p.option("periods", "periods to look at, 1 to 100"), &q.Limit, "getHistory", "limit"), windowFlag(&q.Window), p.minSeqFlag(&q.MinSeq),
		&cli.StringFlag{Name: "cursor", Usage: "continue where an earlier answer ended", Destination: &q.Cursor}, metadataFlag(&q.Metadata))
}

func (r *remote) printHistory(past *client.History, metadata bool) error {
	head := []string{"PERIOD", "STRICT", "TIED", "OF", "SCORE", "CREATED", "STATE"}
	if metadata {
		head = append(head, "METADATA")
	}
	t := terminal.NewTable(r.out, head...)
	for i := range past.Periods {
		p := &past.Periods[i]
		state := leaderboard.PeriodStateOpen
		if p.Closed {
			state = leaderboard.PeriodStateClosed
		}
		cells := []any{p.Period, p.StrictRank, p.TiedRank, p.Total, p.Score, p.CreatedTime, state}
		if metadata {
			cells = append(cells, cmp.Or(string(p.Metadata), "-"))
		}
		t.Row(cells...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(r.out, "%s by %s on %s, as of %s, from %s%s\n", terminal.Printable(past.Member), past.Window, past.Board, terminal.Time(r.out, past.AsOf),
		past.Source, staleText(past.Stale))
	if err == nil && past.NextCursor != "" {
		_, err = fmt.Fprintf(r.out, "older periods: --cursor %s\n", past.NextCursor)
	}
	return err
}

func (p *program) submissionsCommand() *cli.Command {
	return listing(p, "submissions", "list what was submitted for a member, on boards that record it, newest first", "listSubmissions", nil,
		[]string{"TIME", "STATUS", "SCORE", "BEFORE", "AFTER", "SEQ", "KEY", "REQUEST", "WHY"}, func(t *terminal.Table, v *client.SubmissionRecord) {
			t.Row(v.Time, v.Status, orDash(v.Score), orDash(v.PreviousScore), orDash(v.NewScore), v.Seq, v.Actor, terminal.Printable(v.RequestID), cmp.Or(v.Code, "-"))
		})
}

// activityCommand shows hours, the newest first; the longest bar is 40 wide.
func (p *program) activityCommand() *cli.Command {
	hours := 0
	return question(p, "activity", "show what was submitted to a board hour by hour, where it is recorded, newest first", "BOARD",
		func(ctx context.Context, c *client.Client, args []string) (client.Activity, error) {
			return c.Activity(ctx, args[0], hours)
		},
		func(r *remote, a *client.Activity) error {
			most := 1
			for i := range a.Hours {
				most = max(most, a.Hours[i].Submissions)
			}
			t := terminal.NewTable(r.out, "HOUR", "SUBMITTED", "APPLIED", "NEW", "ENTRIES", "")
			for i := range a.Hours {
				h := &a.Hours[i]
				t.Cells(t.Time(h.StartsAt), fmt.Sprint(h.Submissions), fmt.Sprint(h.Applied), fmt.Sprint(h.NewMembers), orDash(h.Entries), strings.Repeat("█", (40*h.Submissions+most-1)/most))
			}
			if err := t.Flush(); err != nil {
				return err
			}
			_, err := fmt.Fprint(r.out, activityNote(a))
			return err
		}, within(p.option("hours", "hours to count, 1 to 168"), &hours, "getActivity", "hours"))
}

// activityNote returns a line that explains missing hours, "" if no hours are missing.
func activityNote(a *client.Activity) string {
	switch {
	case a.Record == "none":
		return "the board does not record submissions: leaderboard board update " + a.Board + " --record applied\n"
	case a.Partial:
		return fmt.Sprintf("older hours are not counted: more than %d submissions are recorded\n", leaderboard.MaxActivityRecords)
	default:
		return ""
	}
}
