package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

func memberTable() []setting {
	return []setting{
		{
			name: "display-name", section: secMembers, clears: true, usage: "the name that people see, at most 100 bytes; empty for none",
			set: func(c *config, v string) error { return c.setProfile("display_name", v) },
		},
		{
			name: "avatar-url", section: secMembers, clears: true, usage: "address of a picture, http or https; empty for none",
			set: func(c *config, v string) error { return c.setProfile("avatar_url", v) },
		},
		{
			name: "attributes", section: secMembers,
			usage: `strings, numbers or booleans by name as JSON, 20 at most: {"country":"DE"}; null for a name takes it away`,
			set: func(c *config, v string) error {
				if !json.Valid([]byte(v)) {
					return errors.New(`want a JSON object, as in {"country":"DE"}`)
				}
				return c.setProfile("attributes", json.RawMessage(v))
			},
		},
		{
			name: "friends", section: secMembers, toggle: true, usage: "rank the member among its friends",
			set: toggle(func(c *config) *bool { return &c.friends }),
		},
	}
}

// setProfile names a change of a profile.
func (c *config) setProfile(name string, value any) error {
	if c.profile == nil {
		c.profile = map[string]any{}
	}
	c.profile[name] = value
	return nil
}

func (p *program) memberCommand() *cli.Command {
	return p.group("member", "profiles, friends, and forgetting a member",
		p.leaf("member show", "show a profile", "MEMBER", p.memberShow, clientSettings()...),
		p.leaf("member put", "change a profile, or make one; what is not named stays as it is", "MEMBER", p.memberPut,
			append(clientSettings(), "display-name", "avatar-url", "attributes")...),
		p.leaf("member friends", "list the friends of a member", "MEMBER", p.memberFriends, clientSettings()...),
		p.leaf("member befriend", "add friends of a member", "MEMBER FRIEND [FRIEND …]", p.memberBefriend, clientSettings()...),
		p.leaf("member unfriend", "remove a friend of a member", "MEMBER FRIEND", p.memberUnfriend, clientSettings()...),
		p.leaf("member forget", "remove a member everywhere, for good", "MEMBER", p.memberForget, clientSettings()...),
	)
}

func (p *program) memberShow(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member show alice")
	}
	return p.showProfile(ctx, &cfg, client.Request{Method: http.MethodGet, Path: client.Path("members", args[0])})
}

func (p *program) memberPut(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member put alice --display-name 'Alice L.'")
	}
	if cfg.profile == nil {
		return usagef("want what is to change: --display-name, --avatar-url, --attributes")
	}
	return p.showProfile(ctx, &cfg, client.Request{Method: http.MethodPatch, Path: client.Path("members", args[0]), Body: cfg.profile})
}

func (p *program) showProfile(ctx context.Context, cfg *config, r client.Request) error {
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
	t := terminal.NewTable(p.out, "MEMBER", "DISPLAY NAME", "AVATAR", "ATTRIBUTES", "UPDATED")
	t.Row(profile.Member, profile.DisplayName, profile.AvatarURL, string(profile.Attributes), profile.Updated)
	return t.Flush()
}

func (p *program) memberFriends(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member friends alice")
	}
	return showList(ctx, p, &cfg, listing{
		path: client.Path("members", args[0], "friends"), member: "members", head: []string{"FRIEND"},
	}, func(t *terminal.Table, friend *string) { t.Row(*friend) })
}

func (p *program) memberBefriend(ctx context.Context, cfg config, args []string) error {
	if len(args) < 2 {
		return usagef("want a member and friends, as in: leaderboard member befriend alice bob carol")
	}
	var answer struct {
		Total int `json:"total"`
	}
	done, err := p.ask(ctx, &cfg, client.Request{
		Method: http.MethodPost, Path: client.Path("members", args[0], "friends"), Body: map[string]any{"members": args[1:]},
	}, &answer)
	if done || err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s has %d friends\n", terminal.Printable(args[0]), answer.Total)
	return err
}

func (p *program) memberUnfriend(ctx context.Context, cfg config, args []string) error {
	if len(args) != 2 {
		return usagef("want a member and a friend, as in: leaderboard member unfriend alice bob")
	}
	if _, err := p.do(ctx, &cfg, client.Request{Method: http.MethodDelete, Path: client.Path("members", args[0], "friends", args[1])}); err != nil {
		return err
	}
	if cfg.json {
		return terminal.PrintJSON(p.out, map[string]string{"removed": args[1]})
	}
	_, err := fmt.Fprintf(p.out, "%s is not on the list of %s\n", terminal.Printable(args[1]), terminal.Printable(args[0]))
	return err
}

func (p *program) memberForget(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member forget alice")
	}
	answer, err := p.do(ctx, &cfg, client.Request{Method: http.MethodDelete, Path: client.Path("members", args[0])})
	if err != nil {
		return err
	}
	running := answer.Status == http.StatusAccepted
	if cfg.json && running {
		return terminal.PassJSON(p.out, answer.Body)
	}
	if cfg.json {
		return terminal.PrintJSON(p.out, map[string]string{"member": args[0], "state": "done"})
	}
	if running {
		var under struct {
			Entries int64 `json:"entries"`
		}
		if err := answer.Decode(&under); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "%d entries of %s are removed so far, the server goes on by itself; ask again to see how far it is\n",
			under.Entries, terminal.Printable(args[0]))
		return err
	}
	_, err = fmt.Fprintf(p.out, "%s is forgotten\n", terminal.Printable(args[0]))
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
	err := p.askAndShow(ctx, cfg, client.Request{
		Method: http.MethodGet, Path: client.Path("boards", board, "members", member, "friends"), Query: query,
	}, &answer, func() error { return p.printFriends(member, &answer) })
	if err == nil && answer.Ranked == 0 {
		err = fmt.Errorf("neither %s nor a friend is ranked on %s", terminal.Printable(member), board)
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
	t := terminal.NewTable(p.out, append([]string{"POSITION"}, entryHead(fields)...)...)
	for i := range rows {
		t.Row(append([]any{rows[i].Position}, rows[i].cells()...)...)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.out, "%d friends, %d of all these are ranked\n%s\n", answer.Friends, answer.Ranked, answer.line())
	return err
}
