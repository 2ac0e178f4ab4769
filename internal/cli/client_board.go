package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

func (p *program) boardCommand() *cli.Command {
	return p.group(
		"board", "create, show, list and delete boards",
		p.leaf("board put", "create a board, or set all its rules; what is left out gets its default", "BOARD", p.boardPut,
			append(clientSettings(), rulesSettings()...)...),
		p.leaf("board get", "show a board and its rules", "BOARD", p.boardGet, clientSettings()...),
		p.leaf("board list", "list the boards", "", p.boardList, append(clientSettings(), "labels")...),
		p.leaf("board periods", "list a board's periods, newest first", "BOARD", p.boardPeriods, append(clientSettings(), "window")...),
		p.leaf("board delete", "delete a board with all its entries", "BOARD", p.boardDelete, clientSettings()...),
	)
}

// boardView is what people see of a board.
type boardView struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Order       string `json:"order"`
	Policy      string `json:"policy"`
	Mode        string `json:"mode"`
	Visibility  string `json:"visibility"`
	TopN        int    `json:"top_n"`
	CreatedTime string `json:"created_time"`
}

func (p *program) boardPut(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one board, as in: leaderboard board put demo --policy best")
	}
	body, err := p.rulesBody(&cfg)
	if err != nil {
		return err
	}
	answer, err := p.do(ctx, &cfg, client.Request{Method: http.MethodPut, Path: client.Path("boards", args[0]), Body: body})
	if err != nil {
		return err
	}
	if cfg.json {
		return terminal.PassJSON(p.out, answer.Body)
	}
	done := "has these rules now"
	if answer.Status == http.StatusCreated {
		done = "is created"
	}
	_, err = fmt.Fprintf(p.out, "board %s %s\n", args[0], done)
	return err
}

// rulesBody is the body of PUT /v1/boards/{board}: the file as it is, or what the options said.
func (p *program) rulesBody(cfg *config) (any, error) {
	if cfg.mode != "" {
		cfg.setRule("mode", cfg.mode)
	}
	if cfg.labels != nil {
		cfg.setRule("labels", cfg.labels)
	}
	if cfg.rulesFile == "" {
		if cfg.rules == nil {
			return struct{}{}, nil
		}
		return cfg.rules, nil
	}
	if cfg.rules != nil {
		return nil, usagef("give the rules in the file or as options, not both")
	}
	var content []byte
	var err error
	if cfg.rulesFile == "-" {
		content, err = io.ReadAll(p.in)
	} else {
		content, err = os.ReadFile(cfg.rulesFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	if !json.Valid(content) {
		return nil, fmt.Errorf("the rules in %s are not JSON", cfg.rulesFile)
	}
	return json.RawMessage(content), nil
}

func (p *program) boardGet(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one board, as in: leaderboard board get demo")
	}
	answer, err := p.do(ctx, &cfg, client.Request{Method: http.MethodGet, Path: client.Path("boards", args[0])})
	if err != nil {
		return err
	}
	if cfg.json {
		return terminal.PassJSON(p.out, answer.Body)
	}
	indented, err := json.MarshalIndent(json.RawMessage(answer.Body), "", "  ")
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return terminal.PassJSON(p.out, indented)
}

func (p *program) boardList(ctx context.Context, cfg config, _ []string) error {
	query := url.Values{}
	if cfg.labels != nil {
		query.Set("labels", cfg.labels.String())
	}
	return showList(ctx, p, &cfg, listing{
		path: "/v1/boards", query: query, member: "boards",
		head: []string{"BOARD", "ORDER", "POLICY", "MODE", "VISIBILITY", "TOP N", "CREATED", "TITLE"},
	}, func(t *terminal.Table, b *boardView) {
		title := ""
		if b.Title != "" {
			title = terminal.Printable(b.Title)
		}
		t.Cells(b.Name, b.Order, b.Policy, b.Mode, b.Visibility, fmt.Sprint(b.TopN), b.CreatedTime, title)
	})
}

func (p *program) boardDelete(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one board, as in: leaderboard board delete demo")
	}
	if _, err := p.do(ctx, &cfg, client.Request{Method: http.MethodDelete, Path: client.Path("boards", args[0])}); err != nil {
		return err
	}
	if cfg.json {
		return terminal.PrintJSON(p.out, map[string]string{"deleted": args[0]})
	}
	_, err := fmt.Fprintf(p.out, "board %s is deleted\n", args[0])
	return err
}
