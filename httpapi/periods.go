package httpapi

import (
	"net/http"

	"leaderboard"
)

// periodJSON is a period as it is shown. Of all_time, which has no start and no end, both are null.
type periodJSON struct {
	Window   leaderboard.Window      `json:"window"`
	Period   string                  `json:"period"`
	StartsAt *leaderboard.Micros     `json:"starts_at"`
	EndsAt   *leaderboard.Micros     `json:"ends_at"`
	State    leaderboard.PeriodState `json:"state"`
	Seq      int64                   `json:"seq"`
	Total    int64                   `json:"total"`
	AsOf     leaderboard.Micros      `json:"as_of"`
}

func showPeriod(p *leaderboard.Period) periodJSON {
	out := periodJSON{Window: p.Window, Period: p.Name(), State: p.State, Seq: p.LastSeq, Total: p.EntryCount, AsOf: p.Committed}
	if p.Window != leaderboard.WindowAllTime {
		out.StartsAt = &p.StartsAt
	}
	if p.EndsAt != leaderboard.Forever {
		out.EndsAt = &p.EndsAt
	}
	return out
}

// listPeriods answers GET …/periods: newest first.
func listPeriods(c *call) error {
	limit := int(c.integer("limit", defaultList, 1, maxList))
	window, cursor := c.window(), c.text("cursor")
	if err := c.badInput(); err != nil {
		return err
	}
	_, board, err := c.resolve("", "")
	if err != nil {
		return err
	}
	of := list{"periods", board.ID}
	var before int64
	if cursor != "" {
		var ok bool
		if before, ok = of.afterID(cursor); !ok {
			return malformed(badCursor())
		}
	}
	periods, err := c.api.cfg.Periods.Periods(c.ctx, board.ID, leaderboard.Window(window), before, limit+1)
	if err != nil {
		return err
	}
	out := struct {
		Periods []periodJSON `json:"periods"`
		Next    string       `json:"next_cursor,omitempty"`
	}{Periods: []periodJSON{}}
	for i := range periods {
		if i == limit {
			out.Next = of.cursorID(periods[i-1].ID)
			break
		}
		out.Periods = append(out.Periods, showPeriod(&periods[i]))
	}
	return c.sendJSON(http.StatusOK, out)
}
