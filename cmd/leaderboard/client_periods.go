package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
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

// boardPeriods walks all pages. With --json it prints a line for each period.
func (p *program) boardPeriods(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one board, as in: leaderboard board periods demo")
	}
	c, t := newClient(&cfg), newTable(io.Discard)
	if !cfg.json {
		t = newTable(p.out, "WINDOW", "PERIOD", "STATE", "RANKED", "SEQ", "FROM", "TO")
	}
	query := url.Values{"limit": {"1000"}}
	if cfg.window != "" {
		query.Set("window", cfg.window)
	}
	for {
		answer, _, err := c.do(ctx, request{method: http.MethodGet, path: boardPath(args[0], "periods"), query: query})
		if err != nil {
			return err
		}
		var page struct {
			Periods []json.RawMessage `json:"periods"`
			Next    string            `json:"next_cursor"`
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		for _, raw := range page.Periods {
			if err := p.periodLine(&cfg, t, raw); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return t.flush()
		}
		query.Set("cursor", page.Next)
	}
}

func (p *program) periodLine(cfg *config, t *table, raw json.RawMessage) error {
	if cfg.json {
		return passJSON(p.out, raw)
	}
	var v periodView
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	from, to := "-", "-"
	if v.StartsAt != nil {
		from = *v.StartsAt
	}
	if v.EndsAt != nil {
		to = *v.EndsAt
	}
	t.row(v.Window, v.Period, v.State, v.Total, v.Seq, from, to)
	return nil
}
