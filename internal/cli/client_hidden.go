package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

func hidingTable() []setting {
	return []setting{
		{
			name: "reason", section: secHiding, usage: "why, at most 200 bytes; needed to hide",
			set: text(func(c *config) *string { return &c.reason }),
		},
		{
			name: "actor", section: secHiding, usage: "who decided it, at most 128 bytes; empty: the scope of the key",
			set: text(func(c *config) *string { return &c.actor }),
		},
		{
			name: "reopen", section: secHiding, toggle: true, usage: "closed periods too, which is recorded; otherwise they stay as they are",
			set: toggle(func(c *config) *bool { return &c.reopen }),
		},
		{
			name: "history", section: secHiding, toggle: true, usage: "what was done, newest first, instead of who is hidden now",
			set: toggle(func(c *config) *bool { return &c.history }),
		},
	}
}

// hidingPath is where a member is hidden: on a board, or everywhere.
func hidingPath(board, member string) string {
	if board == "" {
		return "/v1/members/" + url.PathEscape(member) + "/hidden"
	}
	return client.Path("boards", board, "members", member, "hidden")
}

func where(board string) string {
	if board == "" {
		return "everywhere"
	}
	return "on " + board
}

// optionalValues are the parameters that have a value.
func optionalValues(pairs ...string) url.Values {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return query
}

func (p *program) hide(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard hide --board demo --reason aimbot mallory")
	}
	if cfg.reason == "" {
		return usagef("want a reason, as in: leaderboard hide --reason aimbot mallory")
	}
	body := map[string]string{"reason": cfg.reason}
	if cfg.actor != "" {
		body["actor"] = cfg.actor
	}
	answer, err := p.do(ctx, &cfg, client.Request{
		Method: http.MethodPut, Path: hidingPath(cfg.board, args[0]), Body: body, Query: reopened(url.Values{}, cfg.reopen),
	})
	if err != nil {
		return err
	}
	if cfg.json {
		return terminal.PassJSON(p.out, answer.Body)
	}
	_, err = fmt.Fprintf(p.out, "%s is hidden %s\n", terminal.Printable(args[0]), where(cfg.board))
	return err
}

func (p *program) restore(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard restore --board demo mallory")
	}
	query := optionalValues("reason", cfg.reason, "actor", cfg.actor)
	_, err := p.do(ctx, &cfg, client.Request{
		Method: http.MethodDelete, Path: hidingPath(cfg.board, args[0]), Query: reopened(query, cfg.reopen),
	})
	if err != nil {
		return err
	}
	if cfg.json {
		return terminal.PrintJSON(p.out, map[string]string{"restored": args[0]})
	}
	_, err = fmt.Fprintf(p.out, "%s is no longer hidden %s\n", terminal.Printable(args[0]), where(cfg.board))
	return err
}

func reopened(query url.Values, reopen bool) url.Values {
	if reopen {
		query.Set("reopen", "true")
	}
	return query
}

// hidingView is a hidden member, or a record of what was done.
type hidingView struct {
	Member   string `json:"member"`
	Board    string `json:"board"`
	Reason   string `json:"reason"`
	Actor    string `json:"actor"`
	HiddenAt string `json:"hidden_at"`
	Action   string `json:"action"`
	At       string `json:"at"`
}

func (p *program) hidden(ctx context.Context, cfg config, args []string) error {
	if len(args) > 1 {
		return usagef("want one member at most, as in: leaderboard hidden mallory")
	}
	member := ""
	if len(args) == 1 {
		member = args[0]
	}
	if !cfg.history {
		return showList(ctx, p, &cfg, listing{
			path: "/v1/hidden", query: optionalValues("board", cfg.board, "member", member), member: "hidden",
			head: []string{"MEMBER", "WHERE", "SINCE", "BY", "REASON"},
		}, func(t *terminal.Table, h *hidingView) { t.Row(h.Member, where(h.Board), h.HiddenAt, h.Actor, h.Reason) })
	}
	if cfg.board != "" {
		return usagef("--history tells of all boards")
	}
	return showList(ctx, p, &cfg, listing{
		path: "/v1/hidden/log", query: optionalValues("member", member), member: "records",
		head: []string{"AT", "ACTION", "MEMBER", "WHERE", "BY", "REASON"},
	}, func(t *terminal.Table, h *hidingView) {
		t.Row(h.At, h.Action, h.Member, where(h.Board), h.Actor, h.Reason)
	})
}
