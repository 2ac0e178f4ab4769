package records

import (
	"cmp"
	"net/http"
	"slices"

	"leaderboard/httpapi"
	"leaderboard/leaderboard"
)

// activityHourJSON is an hour as it is shown.
type activityHourJSON struct {
	StartsAt    leaderboard.Micros `json:"starts_at"`
	Submissions int                `json:"submissions"`
	Applied     int                `json:"applied"`
	NewMembers  int                `json:"new_members"`
	Entries     *int64             `json:"entries"`
}

// activityJSON is the answer.
type activityJSON struct {
	Board   string             `json:"board"`
	Window  leaderboard.Window `json:"window"`
	Record  leaderboard.Record `json:"record"`
	Hours   []activityHourJSON `json:"hours"`
	Partial bool               `json:"partial"`
}

// activity answers GET …/activity: what was submitted hour by hour, newest first.
func (h *handlers) activity(c *httpapi.Call) error {
	hours := int(c.Params.Integer("hours", leaderboard.DefaultActivityHours, 1, leaderboard.MaxActivityHours))
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	board, err := h.ResolveBoard(c) // also between two seasons
	if err != nil {
		return err
	}
	out := activityJSON{Board: board.Name, Window: board.Rules.Windows[0], Record: cmp.Or(board.Rules.Record, "none"), Hours: []activityHourJSON{}}
	if board.Rules.Record != leaderboard.RecordNone {
		found, err := h.records.Activity(c.Ctx, ActivityQuery{
			BoardID: board.ID, Window: out.Window, Hours: hours, Records: leaderboard.MaxActivityRecords,
		})
		if err != nil {
			return err
		}
		out.Partial = found.Partial
		for _, hour := range found.Hours {
			out.Hours = append(out.Hours, activityHourJSON(hour))
		}
	}
	return c.SendJSON(http.StatusOK, out)
}

// runnerJSON is a member of a race.
type runnerJSON struct {
	Member string `json:"member"`
	Places []*int `json:"places"`
}

// raceJSON is the answer.
type raceJSON struct {
	Board   string               `json:"board"`
	Window  leaderboard.Window   `json:"window"`
	Period  string               `json:"period"`
	Record  leaderboard.Record   `json:"record"`
	Moments []leaderboard.Micros `json:"moments"`
	Runners []runnerJSON         `json:"runners"`
}

// race answers GET …/race: the places of the first members among themselves since the period began, as their submissions are
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
	out := raceJSON{
		Board: board.Name, Window: ref.Window, Period: ref.Name, Record: cmp.Or(board.Rules.Record, "none"),
		Moments: []leaderboard.Micros{}, Runners: []runnerJSON{},
	}
	if board.Rules.Record != leaderboard.RecordNone && ref.HasRow() {
		if err := h.run(c, &ref, &out); err != nil {
			return err
		}
	}
	return c.SendJSON(http.StatusOK, out)
}

// run puts the places of the first members into an answer.
func (h *handlers) run(c *httpapi.Call, ref *leaderboard.PeriodRef, out *raceJSON) error {
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
	out.Moments = found.Moments
	for i, member := range q.Members {
		found.Scores[i][len(found.Moments)-1] = &page.Entries[i].Score
		out.Runners = append(out.Runners, runnerJSON{member, make([]*int, len(found.Moments))})
	}
	for moment := range found.Moments {
		for place, runner := range placesAt(found.Scores, moment, ref.Rules.Order) {
			out.Runners[runner].Places[moment] = new(place + 1)
		}
	}
	return nil
}

// placesAt returns the runners that had a score at a moment, the best first. Those with equal scores are in the order of now.
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
