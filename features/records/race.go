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

// race answers GET …/race: the places and scores of the first members since a period began, as their submissions are
// recorded, or else at the ends of shorter periods.
func (h *handlers) race(c *httpapi.Call) error {
	window, period := c.Params.Window(), c.Params.Text("period")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	ref, board, err := h.Resolve(c, window, period)
	if err != nil {
		return err
	}
	c.NotePeriod(ref.ID)
	out := api.Race{
		Board: board.Name, Window: ref.Window, Period: ref.Name, Record: string(cmp.Or(board.Rules.Record, "none")),
		Moments: []time.Time{}, Runners: []api.Runner{},
	}
	if ref.HasRow() {
		if err := h.run(c, board, &ref, &out); err != nil {
			return err
		}
	}
	return c.SendJSON(http.StatusOK, out)
}

// run puts the places and scores of the first members into an answer.
func (h *handlers) run(c *httpapi.Call, board *leaderboard.Board, ref *leaderboard.PeriodRef, out *api.Race) error {
	q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: ref.LastSeq}, Limit: leaderboard.MaxRunners}
	page, err := h.rankings.Page(c.Ctx, *ref, q)
	if err != nil || len(page.Entries) == 0 {
		return err
	}
	if board.Rules.Record != leaderboard.RecordNone && ref.Window == board.Rules.Windows[0] {
		if now, _, err := h.Resolve(c, "", ""); err == nil && now.ID == ref.ID { // the records are of the current period
			if err := h.recorded(c, ref, page, out); err != nil || len(out.Moments) > 0 {
				return err
			}
		}
	}
	err = h.lap(c, board, ref, page, out)
	if h.Renewed(c.Ctx, err, board.Name) {
		return h.lap(c, board, ref, page, out) // without the laps that were given up meanwhile
	}
	return err
}

// recorded puts the recorded scores of the members of a page into an answer.
func (h *handlers) recorded(c *httpapi.Call, ref *leaderboard.PeriodRef, page *leaderboard.Page, out *api.Race) error {
	q := RaceQuery{PeriodID: ref.ID}
	for i := range page.Entries {
		q.Members = append(q.Members, page.Entries[i].Member)
	}
	found, err := h.records.Race(c.Ctx, q)
	if err == nil && len(found.Moments) > 0 {
		answer(page, ref.Rules.Order, &found, out)
	}
	return err
}

// answer puts the scores of the members of a page at moments into an answer. The scores of the last moment are on the page.
func answer(page *leaderboard.Page, order leaderboard.Order, found *Race, out *api.Race) {
	for _, m := range found.Moments {
		out.Moments = append(out.Moments, m.Time())
	}
	for i := range page.Entries {
		found.Scores[i][len(found.Moments)-1] = &page.Entries[i].Score
		runner := api.Runner{Member: page.Entries[i].Member, Places: make([]*int, len(found.Moments)), Points: []api.RunnerPoint{}}
		for moment, score := range found.Scores[i] {
			if score != nil {
				runner.Points = append(runner.Points, api.RunnerPoint{Time: out.Moments[moment], Score: *score})
			}
		}
		out.Runners = append(out.Runners, runner)
	}
	for moment := range found.Moments {
		for place, runner := range placesAt(found.Scores, moment, order) {
			out.Runners[runner].Places[moment] = new(place + 1)
		}
	}
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
