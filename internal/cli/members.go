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

func (p *program) memberCommand() *cli.Command {
	leaf := func(name, usage, args string, do func(*remote, context.Context, []string) error) *cli.Command {
		r := p.remote()
		return r.command(name, usage, args, func(ctx context.Context, args []string) error { return do(&r, ctx, args) })
	}
	return group("member", "profiles, friends, and forgetting a member",
		leaf("member show", "show a profile", "MEMBER", (*remote).showMember),
		p.memberPutCommand(),
		leaf("member friends", "list the friends of a member", "MEMBER", (*remote).friends),
		leaf("member befriend", "add friends of a member", "MEMBER FRIEND [FRIEND …]", (*remote).befriend),
		leaf("member unfriend", "remove a friend of a member", "MEMBER FRIEND", (*remote).unfriend),
		p.memberForgetCommand(),
	)
}

func (r *remote) showMember(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member show alice")
	}
	return r.showProfile(ctx, client.Request{Method: http.MethodGet, Path: client.Path("members", args[0])})
}

// profileChange is the body of PATCH /v1/members/{member}; what is nil stays as it is.
type profileChange struct {
	DisplayName *string         `json:"display_name,omitempty"`
	AvatarURL   *string         `json:"avatar_url,omitempty"`
	Attributes  json.RawMessage `json:"attributes,omitempty"`
}

func (p *program) memberPutCommand() *cli.Command {
	r, change := p.remote(), &profileChange{}
	word := func(name, usage string, at **string) cli.Flag { // an empty one takes away what there is
		f := optional(text(p.option(name, usage), new(string)), at)
		f.Config.emptied = true
		return f
	}
	return r.command("member put", "change a profile, or make one; what is not named stays as it is", "MEMBER", func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("want one member, as in: leaderboard member put alice --display-name 'Alice L.'")
		}
		if change.DisplayName == nil && change.AvatarURL == nil && change.Attributes == nil {
			return usagef("want what is to change: --display-name, --avatar-url, --attributes")
		}
		return r.showProfile(ctx, client.Request{Method: http.MethodPatch, Path: client.Path("members", args[0]), Body: change})
	},
		word("display-name", "the name that people see, at most 100 bytes; empty for none", &change.DisplayName),
		word("avatar-url", "address of a picture, http or https; empty for none", &change.AvatarURL),
		custom(p.option("attributes", `strings, numbers or booleans by name as JSON, 20 at most: {"country":"DE"}; null for a name takes it away`),
			&change.Attributes, func(v string) (json.RawMessage, error) {
				if !json.Valid([]byte(v)) {
					return nil, errors.New(`want a JSON object, as in {"country":"DE"}`)
				}
				return json.RawMessage(v), nil
			}))
}

func (r *remote) showProfile(ctx context.Context, request client.Request) error {
	var profile client.Profile
	if done, err := r.ask(ctx, request, &profile); done || err != nil {
		return err
	}
	t := terminal.NewTable(r.out, "MEMBER", "DISPLAY NAME", "AVATAR", "ATTRIBUTES", "UPDATED")
	t.Row(profile.Member, profile.DisplayName, profile.AvatarURL, string(profile.Attributes), timeText(profile.UpdatedTime))
	return t.Flush()
}

func (r *remote) friends(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return usagef("want one member, as in: leaderboard member friends alice")
	}
	return showList(ctx, r, list{
		path: client.Path("members", args[0], "friends"), member: "members", head: []string{"FRIEND"},
	}, func(t *terminal.Table, friend *string) { t.Row(*friend) })
}

func (r *remote) befriend(ctx context.Context, args []string) error {
	if len(args) < 2 {
		return usagef("want a member and friends, as in: leaderboard member befriend alice bob carol")
	}
	var answer struct {
		Total int `json:"total"`
	}
	done, err := r.ask(ctx, client.Request{
		Method: http.MethodPost, Path: client.Path("members", args[0], "friends"), Body: map[string]any{"members": args[1:]},
	}, &answer)
	if done || err != nil {
		return err
	}
	_, err = fmt.Fprintf(r.out, "%s has %d friends\n", terminal.Printable(args[0]), answer.Total)
	return err
}

func (r *remote) unfriend(ctx context.Context, args []string) error {
	if len(args) != 2 {
		return usagef("want a member and a friend, as in: leaderboard member unfriend alice bob")
	}
	if _, err := r.do(ctx, client.Request{Method: http.MethodDelete, Path: client.Path("members", args[0], "friends", args[1])}); err != nil {
		return err
	}
	if r.json {
		return terminal.PrintJSON(r.out, map[string]string{"removed": args[1]})
	}
	_, err := fmt.Fprintf(r.out, "%s is not on the list of %s\n", terminal.Printable(args[1]), terminal.Printable(args[0]))
	return err
}

func (p *program) memberForgetCommand() *cli.Command {
	r, yes := p.remote(), false
	return r.command("member forget", "remove a member everywhere, for good", "MEMBER", func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("want one member, as in: leaderboard member forget alice")
		}
		question := fmt.Sprintf("Remove %s from all boards, with its profile and friends, for good?", terminal.Printable(args[0]))
		if err := r.confirm(ctx, yes, question); err != nil {
			return err
		}
		return r.forget(ctx, args)
	}, yesFlag(&yes))
}

func (r *remote) forget(ctx context.Context, args []string) error {
	answer, err := r.do(ctx, client.Request{Method: http.MethodDelete, Path: client.Path("members", args[0])})
	if err != nil {
		return err
	}
	running := answer.Status == http.StatusAccepted
	if r.json && running {
		return terminal.PassJSON(r.out, answer.Body)
	}
	if r.json {
		return terminal.PrintJSON(r.out, map[string]string{"member": args[0], "state": "done"})
	}
	if running {
		var erasure struct {
			Entries int64 `json:"entries"`
		}
		if err := answer.Decode(&erasure); err != nil {
			return err
		}
		_, err = fmt.Fprintf(r.out, "%d entries of %s are removed so far, the server goes on by itself; ask again to see how far it is\n",
			erasure.Entries, terminal.Printable(args[0]))
		return err
	}
	_, err = fmt.Fprintf(r.out, "%s is forgotten\n", terminal.Printable(args[0]))
	return err
}

// hideOptions are those of hide and restore.
type hideOptions struct {
	remote
	all           bool
	reason, actor string
	reopen        bool // closed periods too
}

func (p *program) hideCommand() *cli.Command {
	o := &hideOptions{remote: p.remote()}
	return o.command("hide", "hide a member on one board, or on all; the entries are kept", oneOrAll+" MEMBER", o.hide, o.flags()...)
}

func (p *program) restoreCommand() *cli.Command {
	o := &hideOptions{remote: p.remote()}
	return o.command("restore", "show a hidden member again", oneOrAll+" MEMBER", o.restore, o.flags()...)
}

func (o *hideOptions) flags() []cli.Flag {
	return []cli.Flag{
		allFlag(&o.all),
		&cli.StringFlag{Name: "reason", Usage: "why, at most 200 bytes; needed to hide", Destination: &o.reason},
		actorFlag(&o.actor),
		&cli.BoolFlag{Name: "reopen", Usage: "closed periods too, which is recorded; otherwise they stay as they are", Destination: &o.reopen},
	}
}

func memberFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "member", Usage: "only what is of this member", Destination: at}
}

func actorFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "actor", Usage: "who did it: of audit, the id of a key; otherwise who decided it, at most 128 bytes, empty: the id of the key", Destination: at}
}

func (o *hideOptions) hide(ctx context.Context, args []string) error {
	board, member, err := o.target("hide --reason aimbot", args)
	if err != nil {
		return err
	}
	if o.reason == "" {
		return usagef("want a reason, as in: leaderboard hide --reason aimbot demo mallory")
	}
	body := map[string]string{"reason": o.reason}
	if o.actor != "" {
		body["actor"] = o.actor
	}
	answer, err := o.do(ctx, o.request(http.MethodPut, board, member, url.Values{}, body))
	if err != nil {
		return err
	}
	if o.json {
		return terminal.PassJSON(o.out, answer.Body)
	}
	_, err = fmt.Fprintf(o.out, "%s is hidden %s\n", terminal.Printable(member), where(board))
	return err
}

// target returns the board and the member that are meant; board "" is all of them.
func (o *hideOptions) target(command string, args []string) (board, member string, err error) {
	switch {
	case o.all && len(args) == 1:
		return "", args[0], nil
	case !o.all && len(args) == 2:
		return args[0], args[1], nil
	case o.all:
		return "", "", usagef("want one member and no board, as in: leaderboard %s --all mallory", command)
	default:
		return "", "", usagef("want a board and a member, as in: leaderboard %s demo mallory; or --all and a member", command)
	}
}

func (o *hideOptions) restore(ctx context.Context, args []string) error {
	board, member, err := o.target("restore", args)
	if err != nil {
		return err
	}
	if _, err := o.do(ctx, o.request(http.MethodDelete, board, member, optionalValues("reason", o.reason, "actor", o.actor), nil)); err != nil {
		return err
	}
	if o.json {
		return terminal.PrintJSON(o.out, map[string]string{"restored": member})
	}
	_, err = fmt.Fprintf(o.out, "%s is no longer hidden %s\n", terminal.Printable(member), where(board))
	return err
}

// request asks for a member to be hidden or restored, on a board or everywhere.
func (o *hideOptions) request(method, board, member string, query url.Values, body any) client.Request {
	path := client.Path("members", member, "hidden")
	if board != "" {
		path = client.Path("boards", board, "members", member, "hidden")
	}
	if o.reopen {
		query.Set("reopen", "true")
	}
	return client.Request{Method: method, Path: path, Query: query, Body: body}
}

func where(board string) string {
	if board == "" {
		return "everywhere"
	}
	return "on " + board
}

func (p *program) hiddenCommand() *cli.Command {
	r, board, member, history := p.remote(), "", "", false
	return r.command("hidden", "list who is hidden, or with --history what was done", "", func(ctx context.Context, _ []string) error {
		if !history {
			return showList(ctx, &r, list{
				path: "/v1/hidden", query: optionalValues("board", board, "member", member), member: "hidden",
				head: []string{"MEMBER", "WHERE", "SINCE", "BY", "REASON"},
			}, func(t *terminal.Table, h *client.HiddenMember) {
				t.Row(h.Member, where(h.Board), timeText(h.HiddenAt), h.Actor, h.Reason)
			})
		}
		if board != "" {
			return usagef("--history tells of all boards")
		}
		return showList(ctx, &r, list{
			path: "/v1/hidden/log", query: optionalValues("member", member), member: "records",
			head: []string{"AT", "ACTION", "MEMBER", "WHERE", "BY", "REASON"},
		}, func(t *terminal.Table, h *client.HideRecord) {
			t.Row(timeText(h.At), h.Action, h.Member, where(h.Board), h.Actor, h.Reason)
		})
	}, boardFlag(&board), memberFlag(&member), &cli.BoolFlag{Name: "history", Usage: "what was done, newest first, instead of who is hidden now", Destination: &history})
}
