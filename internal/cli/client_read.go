package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// The parts of the server's answers that are shown to people.

type stateView struct {
	Board  string `json:"board"`
	Window string `json:"window"`
	Period string `json:"period"`
	Mode   string `json:"mode"`
	Total  int64  `json:"total"`
	Seq    int64  `json:"seq"`
	AsOf   string `json:"as_of"`
	Source string `json:"source"`
	Stale  bool   `json:"stale"`
}

// line names the state that the answer is exact at.
func (s *stateView) line() string {
	stale := ""
	if s.Stale {
		stale = ", stale"
	}
	return fmt.Sprintf("%s, %s: %d ranked, %s, seq %d as of %s, from %s%s", s.Board, s.Period, s.Total, s.Mode, s.Seq, s.AsOf, s.Source, stale)
}

type entryView struct {
	Rank        int64   `json:"rank"`
	Position    int64   `json:"position"`
	Member      string  `json:"member"`
	Score       int64   `json:"score"`
	Tiebreak    int64   `json:"tiebreak"`
	CreatedTime string  `json:"created_time"`
	Percentile  float64 `json:"percentile"`

	Fields fieldsView `json:"fields"`
}

// cells are those of a table with entryHead; more come behind them.
func (e *entryView) cells(more ...any) []any {
	cells := append([]any{e.Rank, e.Member, e.Score}, e.Fields.cells(e.Tiebreak)...)
	return append(append(cells, e.CreatedTime), more...)
}

// entryHead are the columns of a table of entries that have these fields.
func entryHead(fields fieldsView, more ...string) []string {
	return append(append(append([]string{"RANK", "MEMBER", "SCORE"}, fields.head()...), "CREATED"), more...)
}

type pageView struct {
	stateView
	Entries   []entryView `json:"entries"`
	NotRanked []string    `json:"not_ranked"`
}

// top shows the best entries of a board, or of several.
func (p *program) top(ctx context.Context, cfg config, args []string) error {
	several := cfg.boards != "" || cfg.labels != nil
	switch {
	case several && len(args) > 0:
		return usagef("give one board, or --boards, or --labels")
	case several && cfg.minSeq > 0:
		return usagef("--min-seq goes with one board: each counts its own changes")
	case !several && len(args) != 1:
		return usagef("want one board, as in: leaderboard top demo; or several, as in: leaderboard top --boards moba,card")
	}
	query := readQuery(&cfg)
	query.Set("limit", strconv.Itoa(cfg.limit))
	if cfg.offset > 0 {
		query.Set("offset", strconv.FormatInt(cfg.offset, 10))
	}
	if several {
		return p.mergedTop(ctx, &cfg, query)
	}
	return p.showPage(ctx, &cfg, client.Request{Method: http.MethodGet, Path: client.Path("boards", args[0], "top"), Query: query})
}

// rank shows where members are, or where a score would be.
func (p *program) rank(ctx context.Context, cfg config, args []string) error {
	query := readQuery(&cfg)
	switch {
	case len(args) == 0:
		return usagef("want a board and members, as in: leaderboard rank demo alice bob")
	case cfg.score != nil && (len(args) > 1 || cfg.around != nil):
		return usagef("--score asks for the rank of a score: give no members and no --around")
	case cfg.score != nil:
		query.Del("mode") // the answer has them all
		tiebreakQuery(&cfg, query)
		return p.scoreRank(ctx, &cfg, args[0], query)
	case cfg.tiebreak != nil || cfg.fields != nil:
		return usagef("--tiebreak and --field go with --score")
	case len(args) == 1:
		return usagef("want members after the board, or --score, as in: leaderboard rank %s alice bob", args[0])
	case cfg.friends && (len(args) > 2 || cfg.around != nil):
		return usagef("--friends goes with one member, and not with --around")
	case cfg.friends:
		query.Set("limit", strconv.Itoa(cfg.limit))
		query.Set("offset", strconv.FormatInt(cfg.offset, 10))
		return p.friendsRank(ctx, &cfg, args[0], args[1], query)
	case cfg.around != nil && len(args) > 2:
		return usagef("--around goes with one member")
	case cfg.around != nil:
		query.Set("before", strconv.Itoa(*cfg.around))
		query.Set("after", strconv.Itoa(*cfg.around))
		return p.showPage(ctx, &cfg, client.Request{Method: http.MethodGet, Path: client.Path("boards", args[0], "members", args[1], "around"), Query: query})
	case len(args) == 2:
		return p.memberRank(ctx, &cfg, args[0], args[1], query)
	default:
		return p.memberRanks(ctx, &cfg, args[0], args[1:], query)
	}
}

func readQuery(cfg *config) url.Values {
	query := url.Values{}
	if cfg.mode != "" {
		query.Set("mode", cfg.mode)
	}
	if cfg.window != "" {
		query.Set("window", cfg.window)
	}
	if cfg.period != "" {
		query.Set("period", cfg.period)
	}
	if cfg.minSeq > 0 {
		query.Set("min_seq", strconv.FormatInt(cfg.minSeq, 10))
	}
	return query
}

func (p *program) showPage(ctx context.Context, cfg *config, r client.Request) error {
	var page pageView
	if done, err := p.ask(ctx, cfg, r, &page); done || err != nil {
		return err
	}
	return p.printPage(&page)
}

func (p *program) printPage(page *pageView) error {
	var fields fieldsView // all entries of a board have the same ones
	if len(page.Entries) > 0 {
		fields = page.Entries[0].Fields
	}
	t := terminal.NewTable(p.out, entryHead(fields)...)
	for i := range page.Entries {
		t.Row(page.Entries[i].cells()...)
	}
	for _, member := range page.NotRanked {
		cells := []any{"-", member, "-"}
		for range fields.head() {
			cells = append(cells, "-")
		}
		t.Row(append(cells, "not ranked")...)
	}
	return p.endTable(t, &page.stateView)
}

func (p *program) endTable(t *terminal.Table, state *stateView) error {
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "%s\n", state.line())
	return err
}

// memberRanks shows the ranks of several members. As grep does, it fails when it finds none of them.
func (p *program) memberRanks(ctx context.Context, cfg *config, board string, members []string, query url.Values) error {
	var page pageView
	err := p.askAndShow(ctx, cfg, client.Request{
		Method: http.MethodPost, Path: client.Path("boards", board, "ranks"), Query: query, Body: map[string]any{"members": members},
	}, &page, func() error { return p.printPage(&page) })
	if err == nil && len(page.Entries) == 0 {
		err = fmt.Errorf("none of these members is ranked on %s", board)
	}
	return err
}

func (p *program) memberRank(ctx context.Context, cfg *config, board, member string, query url.Values) error {
	var one struct {
		stateView
		entryView
	}
	done, err := p.ask(ctx, cfg, client.Request{Method: http.MethodGet, Path: client.Path("boards", board, "members", member), Query: query}, &one)
	var answer *client.Problem
	if errors.As(err, &answer) && answer.Type == "/problems/not-ranked" {
		return fmt.Errorf("%s is not ranked on %s", terminal.Printable(member), board)
	}
	if done || err != nil {
		return err
	}
	t := terminal.NewTable(p.out, entryHead(one.Fields, "PERCENTILE")...)
	t.Row(one.cells(one.Percentile)...)
	return p.endTable(t, &one.stateView)
}

func (p *program) scoreRank(ctx context.Context, cfg *config, board string, query url.Values) error {
	path := client.Path("boards", board, "scores", strconv.FormatInt(*cfg.score, 10), "rank")
	var answer struct {
		stateView
		Strict int64 `json:"strict_rank"`
		Tied   int64 `json:"tied_rank"`
	}
	if done, err := p.ask(ctx, cfg, client.Request{Method: http.MethodGet, Path: path, Query: query}, &answer); done || err != nil {
		return err
	}
	t := terminal.NewTable(p.out, "SCORE", "STRICT RANK", "TIED RANK")
	t.Row(*cfg.score, answer.Strict, answer.Tied)
	return p.endTable(t, &answer.stateView)
}
