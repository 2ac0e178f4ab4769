package cli

import (
	"context"
	"net/url"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// periodView is a period of a board.
type periodView struct {
	Window   string  `json:"window"`
	Period   string  `json:"period"`
	StartsAt *string `json:"starts_at"`
	EndsAt   *string `json:"ends_at"`
	State    string  `json:"state"`
	Seq      int64   `json:"seq"`
	Total    int64   `json:"total"`
}

func (p *program) boardPeriods(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one board, as in: leaderboard board periods demo")
	}
	query := url.Values{}
	if cfg.window != "" {
		query.Set("window", cfg.window)
	}
	return showList(ctx, p, &cfg, listing{
		path: client.Path("boards", args[0], "periods"), query: query, member: "periods",
		head: []string{"WINDOW", "PERIOD", "STATE", "RANKED", "SEQ", "FROM", "TO"},
	}, func(t *terminal.Table, v *periodView) {
		from, to := "-", "-"
		if v.StartsAt != nil {
			from = *v.StartsAt
		}
		if v.EndsAt != nil {
			to = *v.EndsAt
		}
		t.Row(v.Window, v.Period, v.State, v.Total, v.Seq, from, to)
	})
}
