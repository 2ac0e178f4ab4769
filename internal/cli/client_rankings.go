package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// mergedView is an answer about several boards, as far as people see it.
type mergedView struct {
	Boards []struct {
		Board  string `json:"board"`
		Period string `json:"period"`
		Total  int64  `json:"total"`
		Seq    int64  `json:"seq"`
		AsOf   string `json:"as_of"`
	} `json:"boards"`
	Absent  []string `json:"absent"`
	Mode    string   `json:"mode"`
	Total   int64    `json:"total"`
	Source  string   `json:"source"`
	Stale   bool     `json:"stale"`
	Entries []struct {
		entryView
		Board string `json:"board"`
	} `json:"entries"`
}

// lines say what the answer is exact at, a line for each board.
func (v *mergedView) lines() string {
	var b strings.Builder
	stale := ""
	if v.Stale {
		stale = ", stale"
	}
	fmt.Fprintf(&b, "%d ranked on %d boards, %s, from %s%s\n", v.Total, len(v.Boards), v.Mode, v.Source, stale)
	for _, s := range v.Boards {
		fmt.Fprintf(&b, "%s, %s: %d ranked, seq %d as of %s\n", s.Board, s.Period, s.Total, s.Seq, s.AsOf)
	}
	for _, board := range v.Absent {
		fmt.Fprintf(&b, "%s: no such period\n", board)
	}
	return b.String()
}

// mergedTop shows the best entries of several boards.
func (p *program) mergedTop(ctx context.Context, cfg *config, query url.Values) error {
	if cfg.boards != "" {
		query.Set("boards", cfg.boards)
	}
	if cfg.labels != nil {
		query.Set("labels", cfg.labels.String())
	}
	var page mergedView
	if done, err := p.ask(ctx, cfg, client.Request{Method: http.MethodGet, Path: "/v1/rankings/top", Query: query}, &page); done || err != nil {
		return err
	}
	var fields fieldsView // all boards that are ranked as one have the same ones
	if len(page.Entries) > 0 {
		fields = page.Entries[0].Fields
	}
	t := terminal.NewTable(p.out, entryHead(fields, "BOARD")...)
	for i := range page.Entries {
		t.Row(page.Entries[i].cells(page.Entries[i].Board)...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprint(p.out, page.lines())
	return err
}
