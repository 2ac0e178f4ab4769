package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/urfave/cli/v3"
)

func memberTable() []setting {
	return []setting{
		{
			name: "display-name", section: secMembers, usage: "the name that people see, at most 100 bytes",
			set: text(func(c *config) *string { return &c.displayName }),
		},
		{
			name: "avatar-url", section: secMembers, usage: "address of a picture, http or https",
			set: text(func(c *config) *string { return &c.avatarURL }),
		},
		{
			name: "attributes", section: secMembers, usage: `up to 20 strings, numbers or booleans as JSON: {"country":"DE"}`,
			set: text(func(c *config) *string { return &c.attributes }),
		},
		{
			name: "friends", section: secMembers, toggle: true, usage: "rank the member among its friends",
			set: toggle(func(c *config) *bool { return &c.friends }),
		},
	}
}

func (p *program) memberCommand() *cli.Command {
	return p.group("member", "profiles, friends, and forgetting a member",
		p.leaf("member show", "show a profile", "MEMBER", p.memberShow, clientSettings()...),
		p.leaf("member put", "set a profile; what is left out is empty", "MEMBER", p.memberPut,
			append(clientSettings(), "display-name", "avatar-url", "attributes")...),
		p.leaf("member friends", "list the friends of a member", "MEMBER", p.memberFriends, clientSettings()...),
		p.leaf("member befriend", "add friends of a member", "MEMBER FRIEND [FRIEND …]", p.memberBefriend, clientSettings()...),
		p.leaf("member unfriend", "remove a friend of a member", "MEMBER FRIEND", p.memberUnfriend, clientSettings()...),
		p.leaf("member forget", "remove a member everywhere, for good", "MEMBER", p.memberForget, clientSettings()...),
	)
}

func memberPath(parts ...string) string {
	path := "/v1/members"
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}

func (p *program) memberShow(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member show alice")
	}
	return p.showProfile(ctx, &cfg, request{method: http.MethodGet, path: memberPath(args[0])})
}

func (p *program) memberPut(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member put alice --display-name 'Alice L.'")
	}
	body := map[string]any{"display_name": cfg.displayName, "avatar_url": cfg.avatarURL}
	if cfg.attributes != "" {
		if !json.Valid([]byte(cfg.attributes)) {
			return usagef(`--attributes: want a JSON object, as in {"country":"DE"}`)
		}
		body["attributes"] = json.RawMessage(cfg.attributes)
	}
	return p.showProfile(ctx, &cfg, request{method: http.MethodPut, path: memberPath(args[0]), body: body})
}

func (p *program) showProfile(ctx context.Context, cfg *config, r request) error {
	var profile struct {
		Member      string          `json:"member"`
		DisplayName string          `json:"display_name"`
		AvatarURL   string          `json:"avatar_url"`
		Attributes  json.RawMessage `json:"attributes"`
		Updated     string          `json:"updated_time"`
	}
	if done, err := p.ask(ctx, cfg, r, &profile); done || err != nil {
		return err
	}
	t := newTable(p.out, "MEMBER", "DISPLAY NAME", "AVATAR", "ATTRIBUTES", "UPDATED")
	t.row(profile.Member, profile.DisplayName, profile.AvatarURL, string(profile.Attributes), profile.Updated)
	return t.flush()
}

func (p *program) memberFriends(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member friends alice")
	}
	return showList(ctx, p, &cfg, listing{
		path: memberPath(args[0], "friends"), member: "members", head: []string{"FRIEND"},
	}, func(t *table, friend *string) { t.row(*friend) })
}

func (p *program) memberBefriend(ctx context.Context, cfg config, args []string) error {
	if len(args) < 2 {
		return usagef("want a member and friends, as in: leaderboard member befriend alice bob carol")
	}
	body, _, err := newClient(&cfg).do(ctx, request{
		method: http.MethodPost, path: memberPath(args[0], "friends"), body: map[string]any{"members": args[1:]},
	})
	if err != nil {
		return err
	}
	if cfg.json {
		return passJSON(p.out, body)
	}
	var answer struct {
		Total int `json:"total"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	_, err = fmt.Fprintf(p.out, "%s has %d friends\n", printable(args[0]), answer.Total)
	return err
}

func (p *program) memberUnfriend(ctx context.Context, cfg config, args []string) error {
	if len(args) != 2 {
		return usagef("want a member and a friend, as in: leaderboard member unfriend alice bob")
	}
	if _, _, err := newClient(&cfg).do(ctx, request{method: http.MethodDelete, path: memberPath(args[0], "friends", args[1])}); err != nil {
		return err
	}
	if cfg.json {
		return printJSON(p.out, map[string]string{"removed": args[1]})
	}
	_, err := fmt.Fprintf(p.out, "%s is not on the list of %s\n", printable(args[1]), printable(args[0]))
	return err
}

func (p *program) memberForget(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member forget alice")
	}
	body, status, err := newClient(&cfg).do(ctx, request{method: http.MethodDelete, path: memberPath(args[0])})
	if err != nil {
		return err
	}
	running := status == http.StatusAccepted
	if cfg.json && running {
		return passJSON(p.out, body)
	}
	if cfg.json {
		return printJSON(p.out, map[string]string{"member": args[0], "state": "done"})
	}
	if running {
		var answer struct {
			Entries int64 `json:"entries"`
		}
		if err := json.Unmarshal(body, &answer); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		_, err = fmt.Fprintf(p.out, "%d entries of %s are removed so far, the server goes on by itself; ask again to see how far it is\n",
			answer.Entries, printable(args[0]))
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s is forgotten\n", printable(args[0]))
	return err
}

// friendsView is a member among its friends.
type friendsView struct {
	stateView
	Friends int         `json:"friends"`
	Ranked  int         `json:"ranked"`
	Self    *entryView  `json:"self"`
	Entries []entryView `json:"entries"`
}

// friendsRank shows a member among its friends. It fails when nobody of all these is ranked.
func (p *program) friendsRank(ctx context.Context, cfg *config, board, member string, query url.Values) error {
	var answer friendsView
	err := p.askAndShow(ctx, cfg, request{
		method: http.MethodGet, path: boardPath(board, "members", member, "friends"), query: query,
	}, &answer, func() error { return p.printFriends(member, &answer) })
	if err == nil && answer.Ranked == 0 {
		err = fmt.Errorf("neither %s nor a friend is ranked on %s", printable(member), board)
	}
	return err
}

func (p *program) printFriends(member string, answer *friendsView) error {
	rows, shown := answer.Entries, false
	for i := range rows {
		shown = shown || rows[i].Member == member
	}
	if answer.Self != nil && !shown {
		rows = append(rows, *answer.Self)
	}
	var fields fieldsView // all entries of a board have the same ones
	if len(rows) > 0 {
		fields = rows[0].Fields
	}
	t := newTable(p.out, append([]string{"POSITION"}, entryHead(fields)...)...)
	for i := range rows {
		t.row(append([]any{rows[i].Position}, rows[i].cells()...)...)
	}
	if err := t.flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "%d friends, %d of all these are ranked\n%s\n", answer.Friends, answer.Ranked, answer.line())
	return err
}
