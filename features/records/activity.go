package records

import (
	"cmp"
	"net/http"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// activity answers GET …/activity: the submissions hour by hour, newest first.
func (h *handlers) activity(c *httpapi.Call) error {
	hours := int(c.Params.Integer("hours"))
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	board, err := h.ResolveBoard(c) // also between two seasons
	if err != nil {
		return err
	}
	out := api.Activity{Board: board.Name, Window: board.Rules.Windows[0], Record: string(cmp.Or(board.Rules.Record, "none")), Hours: []api.ActivityHour{}}
	if board.Rules.Record != leaderboard.RecordNone {
		found, err := h.records.Activity(c.Ctx, ActivityQuery{
			BoardID: board.ID, Window: out.Window, Hours: hours, Records: leaderboard.MaxActivityRecords,
		})
		if err != nil {
			return err
		}
		out.Partial = found.Partial
		for _, h := range found.Hours {
			out.Hours = append(out.Hours, api.ActivityHour{
				StartsAt: h.StartsAt.Time(), Submissions: h.Submissions, Applied: h.Applied, NewMembers: h.NewMembers, Entries: h.Entries,
			})
		}
	}
	return c.SendJSON(http.StatusOK, out)
}
