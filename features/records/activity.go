package records

import (
	"cmp"
	"net/http"
	"slices"
	"time"

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

// race answers GET …/race: the places and scores of the first members since the period began, as their submissions are
// recorded.
func (h *handlers) race(c *httpapi.Call) error {
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	ref, board, err := h.Resolve(c, "", "")
	if err != nil {
		return err
	}
	c.NotePeriod(ref.ID)
	out := api.Race{
		Board: board.Name, Window: ref.Window, Period: ref.Name, Record: string(cmp.Or(board.Rules.Record, "none")),
		Moments: []time.Time{}, Runners: []api.Runner{},
	}
	if board.Rules.Record != leaderboard.RecordNone && ref.HasRow() {
		if err := h.run(c, &ref, &out); err != nil {
			return err
		}
	}
	return c.SendJSON(http.StatusOK, out)
}

// run puts the places and scores of the first members into an answer.
func (h *handlers) run(c *httpapi.Call, ref *leaderboard.PeriodRef, out *api.Race) error {
	page, err := h.rankings.Page(c.Ctx, *ref, leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict}, Limit: leaderboard.MaxRunners})
	if err != nil {
		return err
	}
	q := RaceQuery{PeriodID: ref.ID}
	for i := range page.Entries {
		q.Members = append(q.Members, page.Entries[i].Member)
	}
	found, err := h.records.Race(c.Ctx, q)
	if err != nil || len(found.Moments) == 0 {
		return err
	}
	for _, m := range found.Moments {
		out.Moments = append(out.Moments, m.Time())
	}
	for i, member := range q.Members {
		found.Scores[i][len(found.Moments)-1] = &page.Entries[i].Score
		runner := api.Runner{Member: member, Places: make([]*int, len(found.Moments)), Points: []api.RunnerPoint{}}
		for moment, score := range found.Scores[i] {
			if score != nil {
				runner.Points = append(runner.Points, api.RunnerPoint{Time: out.Moments[moment], Score: *score})
			}
		}
		out.Runners = append(out.Runners, runner)
	}
	for moment := range found.Moments {
		for place, runner := range placesAt(found.Scores, moment, ref.Rules.Order) {
			out.Runners[runner].Places[moment] = new(place + 1)
		}
	}
	return nil
}

// placesAt returns the runners that had a score at a moment, the best first. Runners with equal scores are in the present
// order.
func placesAt(scores [][]*int64, moment int, order leaderboard.Order) []int {
	var runners []int
	for i := range scores {
		if scores[i][moment] != nil {
			runners = append(runners, i)
		}
	}
	slices.SortStableFunc(runners, func(a, b int) int {
		n := cmp.Compare(*scores[b][moment], *scores[a][moment])
		if order == leaderboard.OrderAsc {
			return -n
		}
		return n
	})
	return runners
}
