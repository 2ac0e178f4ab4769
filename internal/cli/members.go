package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

func (p *program) memberCommand() *cli.Command {
	return group("member", "profiles, friends, and forgetting a member",
		p.memberShowCommand(), p.memberPutCommand(), p.memberResetNameCommand(), p.memberSearchCommand(),
		p.memberFriendsCommand(), p.memberBefriendCommand(), p.memberUnfriendCommand(),
		p.memberDataCommand(), p.memberForgetCommand(),
	)
}

func (p *program) memberShowCommand() *cli.Command {
	return requestCommand(p, "member show", "show a profile", "getProfile", (*remote).printProfile)
}

// profileChange is the body of PATCH and PUT /v1/members/{member}; nil members are left out. Numbers in the attributes are sent in
// the typed form.
type profileChange struct {
	DisplayName *string         `json:"display_name,omitempty"`
	AvatarURL   *string         `json:"avatar_url,omitempty"`
	Attributes  json.RawMessage `json:"attributes,omitempty"`
}

// replaceFlag is for commands that add to a list or a profile by default.
func replaceFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "replace", Usage: "remove all that is not named", Destination: at}
}

func (p *program) memberPutCommand() *cli.Command {
	change, replace := &profileChange{}, false
	word := func(name, usage string, at **string) cli.Flag { // an empty text removes the value
		f := optional(text(p.option(name, usage), new(string)), at)
		f.Config.emptied = true
		return f
	}
	return question(p, "member put", "change or make a profile; values that are not named do not change", "MEMBER", func(ctx context.Context, c *client.Client, args []string) (profile client.Profile, err error) {
		method := http.MethodPatch
		switch {
		case replace:
			method = http.MethodPut
		case change.DisplayName == nil && change.AvatarURL == nil && change.Attributes == nil:
			return profile, usagef("want at least one change: --display-name, --avatar-url, --attributes")
		}
		return request[client.Profile](ctx, c, client.Request{Method: method, Path: client.Path("members", args[0]), Body: change})
	}, (*remote).printProfile,
		word("display-name", "the name that people see, at most 100 bytes; empty for none", &change.DisplayName),
		word("avatar-url", "`URL` of a picture, http or https; empty for none", &change.AvatarURL),
		custom(p.option("attributes", `strings, numbers or booleans by name as JSON, 20 at most: {"country":"DE"}; null for a name takes it away`),
			&change.Attributes, func(v string) (json.RawMessage, error) {
				if !json.Valid([]byte(v)) {
					return nil, errors.New(`want a JSON object, as in {"country":"DE"}`)
				}
				return json.RawMessage(v), nil
			}),
		replaceFlag(&replace))
}

func (p *program) memberResetNameCommand() *cli.Command {
	reason, actor := "", ""
	return question(p, "member reset-name", "take the name of a member away: people see the id, and only an admin can give this name again", "MEMBER",
		func(ctx context.Context, c *client.Client, args []string) (client.Profile, error) {
			if reason == "" {
				return client.Profile{}, usagef("want a reason, as in: leaderboard member reset-name --reason slur mallory")
			}
			return c.ResetName(ctx, args[0], reason, actor)
		}, (*remote).printProfile, reasonFlag(&reason), actorFlag(&actor))
}

func (r *remote) printProfile(profile *client.Profile) error {
	t := terminal.NewTable(r.out, "MEMBER", "DISPLAY NAME", "AVATAR", "ATTRIBUTES", "UPDATED")
	t.Row(profile.Member, profile.DisplayName, profile.AvatarURL, string(profile.Attributes), profile.UpdatedTime)
	return t.Flush()
}

func (p *program) memberSearchCommand() *cli.Command {
	r, q := p.remote(), api.SearchQuery{By: "id", Limit: 100}
	return r.command("member search", "list the members whose id or name begins with a text", "[TEXT]", func(ctx context.Context, args []string) error {
		q.Prefix = strings.Join(args, "")
		return showList(ctx, &r, list{operation: "searchMembers", query: q, head: []string{"MEMBER", "DISPLAY NAME", "ATTRIBUTES"}}, func(t *terminal.Table, m *client.FoundMember) {
			name, attributes := "-", "-"
			if m.Profile != nil {
				name, attributes = m.Profile.DisplayName, string(m.Profile.Attributes)
			}
			t.Row(m.Member, name, attributes)
		})
	}, choice(p.option("by", "the field that begins with the text: the id, or the display name in whatever case"), &q.By, "id", "name"))
}

func (p *program) memberFriendsCommand() *cli.Command {
	return listing(p, "member friends", "list the friends of a member", "listFriends", nil, []string{"FRIEND"}, func(t *terminal.Table, friend *string) { t.Row(*friend) })
}

func (p *program) memberBefriendCommand() *cli.Command {
	replace, member := false, ""
	return question(p, "member befriend", "add friends of a member", "MEMBER [FRIEND …]", func(ctx context.Context, c *client.Client, args []string) (int, error) {
		member = args[0]
		switch {
		case replace:
			return c.PutFriends(ctx, member, args[1:])
		case len(args) == 1:
			return 0, usagef("want a member and friends, as in: leaderboard member befriend alice bob carol")
		}
		return c.AddFriends(ctx, member, args[1:])
	}, func(r *remote, total *int) error {
		_, err := fmt.Fprintf(r.out, "%s has %s\n", terminal.Printable(member), counted(*total, "friend"))
		return err
	}, replaceFlag(&replace))
}

func (p *program) memberUnfriendCommand() *cli.Command {
	r := p.remote()
	return r.command("member unfriend", "remove a friend of a member", "MEMBER FRIEND", func(ctx context.Context, args []string) error {
		return r.carryOut(func(c *client.Client) error { return c.RemoveFriend(ctx, args[0], args[1]) }, "removed", args[1],
			terminal.Printable(args[1])+" is not on the list of "+terminal.Printable(args[0]))
	})
}

func (p *program) memberDataCommand() *cli.Command {
	r := p.remote()
	return r.command("member data", "print all that is stored of a member, as JSON", "MEMBER", func(ctx context.Context, args []string) error {
		c, err := r.connect()
		if err != nil {
			return err
		}
		body, err := c.MemberDataJSON(ctx, args[0])
		if err != nil {
			return err
		}
		_, err = io.Copy(r.out, body)
		return errors.Join(err, body.Close())
	})
}

func (p *program) memberForgetCommand() *cli.Command {
	r, yes := p.remote(), false
	return r.command("member forget", "remove a member everywhere, for good", "MEMBER", func(ctx context.Context, args []string) error {
		question := fmt.Sprintf("Remove %s from all boards, with its profile and friends, for good?", terminal.Printable(args[0]))
		if err := r.confirm(ctx, yes, question); err != nil {
			return err
		}
		return r.forget(ctx, args[0])
	}, yesFlag(&yes))
}

func (r *remote) forget(ctx context.Context, member string) error {
	c, err := r.connect()
	if err != nil {
		return err
	}
	erasure, err := c.ForgetMember(ctx, member)
	switch {
	case err != nil:
		return err
	case r.json && erasure.Done:
		return terminal.PrintJSON(r.out, map[string]string{"member": member, "state": "done"})
	case r.json:
		return terminal.PassJSON(r.out, r.answer.Body)
	case erasure.Done:
		_, err = fmt.Fprintf(r.out, "%s is forgotten\n", terminal.Printable(member))
	default:
		_, err = fmt.Fprintf(r.out, "%d entries of %s are removed so far; the server continues, ask again to see its progress\n",
			erasure.Entries, terminal.Printable(member))
	}
	return err
}

func (p *program) removeCommand() *cli.Command {
	r, o, yes := p.remote(), client.RemoveOptions{}, false
	return r.command("remove", "remove the entry of a member from a board's current periods, or from one, for good", "BOARD MEMBER", func(ctx context.Context, args []string) error {
		board, member := terminal.Printable(args[0]), terminal.Printable(args[1])
		if err := r.confirm(ctx, yes, fmt.Sprintf("Remove %s from %s, for good?", member, board)); err != nil {
			return err
		}
		_, err := show(&r, func(c *client.Client) (client.Receipt, error) { return c.RemoveMember(ctx, args[0], args[1], o) }, func(receipt *client.Receipt) error {
			_, err := fmt.Fprintf(r.out, "%s is removed from %s, %s\n", member, board, seqText(&receipt.BoardSeqs))
			return err
		})
		return err
	}, windowFlag(&o.Window), periodFlag(&o.Period), reopenFlag(&o.Reopen), yesFlag(&yes))
}

// hideOptions are the options of hide and restore.
type hideOptions struct {
	remote
	client.HideOptions
	all    bool
	reason string
}

func (p *program) hideCommand() *cli.Command {
	o := &hideOptions{remote: p.remote()}
	return o.command("hide", "hide members on one board, or one on all; the entries are kept", oneOrAll+" MEMBER [MEMBER …]", o.hide, o.flags()...)
}

func (p *program) restoreCommand() *cli.Command {
	o := &hideOptions{remote: p.remote()}
	return o.command("restore", "show hidden members again", oneOrAll+" MEMBER [MEMBER …]", o.restore, o.flags()...)
}

func (o *hideOptions) flags() []cli.Flag {
	return []cli.Flag{
		allFlag(&o.all),
		reasonFlag(&o.reason),
		actorFlag(&o.Actor),
		reopenFlag(&o.Reopen),
	}
}

func reopenFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "reopen", Usage: "closed periods too, which is recorded; without it they stay unchanged", Destination: at}
}

func memberFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "member", Usage: "only this `member`", Destination: at}
}

func reasonFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "reason", Usage: "why, at most 200 bytes, for the audit; needed to hide, and to take a name away", Destination: at}
}

func actorFlag(at *string) cli.Flag {
	return &cli.StringFlag{Name: "actor", Usage: "who did it: of audit, the id of a key; otherwise who decided it, at most 128 bytes, empty: the id of the key", Destination: at}
}

func (o *hideOptions) hide(ctx context.Context, args []string) error {
	board, members, err := o.target("hide --reason aimbot", args)
	if err != nil {
		return err
	}
	if o.reason == "" {
		return usagef("want a reason, as in: leaderboard hide --reason aimbot demo mallory")
	}
	if len(members) > 1 {
		return o.moderate(ctx, leaderboard.ModerationActionHide, board, members, "hidden "+where(board))
	}
	_, err = show(&o.remote, func(c *client.Client) (client.HiddenMember, error) {
		return c.HideMember(ctx, board, members[0], o.reason, o.HideOptions)
	}, func(*client.HiddenMember) error {
		_, err := fmt.Fprintf(o.out, "%s is hidden %s\n", terminal.Printable(members[0]), where(board))
		return err
	})
	return err
}

// moderate hides or restores several members; done is their state in the output.
func (o *hideOptions) moderate(ctx context.Context, action leaderboard.ModerationAction, board string, members []string, done string) error {
	m := leaderboard.Moderation{Action: action, Board: board, Members: members, Reason: o.reason, Actor: o.Actor, Reopen: o.Reopen}
	_, err := show(&o.remote, func(c *client.Client) (client.Moderated, error) { return c.Moderate(ctx, m) }, func(m *client.Moderated) error {
		_, err := fmt.Fprintf(o.out, "%d members are %s", m.Members, done)
		if n := len(m.Unchanged); err == nil && n > 0 {
			_, err = fmt.Fprintf(o.out, ", %d of them were before", n)
		}
		if err == nil {
			_, err = fmt.Fprintln(o.out)
		}
		return err
	})
	return err
}

// target returns the board and the members of the command line; board "" is all boards.
func (o *hideOptions) target(command string, args []string) (board string, members []string, err error) {
	switch {
	case o.all && len(args) == 1: // of two the first may be meant as a board
		return "", args, nil
	case !o.all && len(args) > 1:
		return args[0], args[1:], nil
	case o.all:
		return "", nil, usagef("want one member and no board, as in: leaderboard %s --all mallory", command)
	default:
		return "", nil, usagef("want a board and members, as in: leaderboard %s demo mallory; or --all and a member", command)
	}
}

func (o *hideOptions) restore(ctx context.Context, args []string) error {
	board, members, err := o.target("restore", args)
	if err != nil {
		return err
	}
	if len(members) > 1 {
		return o.moderate(ctx, leaderboard.ModerationActionRestore, board, members, "no longer hidden "+where(board))
	}
	return o.carryOut(func(c *client.Client) error { return c.RestoreMember(ctx, board, members[0], o.reason, o.HideOptions) },
		"restored", members[0], terminal.Printable(members[0])+" is no longer hidden "+where(board))
}

func where(board string) string {
	if board == "" {
		return "everywhere"
	}
	return "on " + board
}

func (p *program) hiddenCommand() *cli.Command {
	q := api.HiddenQuery{}
	return listing(p, "hidden", "list hidden members; audit --action member.hide lists past changes", "listHidden", &q, []string{"MEMBER", "WHERE", "SINCE", "BY", "REASON"},
		func(t *terminal.Table, h *client.HiddenMember) {
			t.Row(h.Member, where(h.Board), h.HiddenAt, h.Actor, h.Reason)
		},
		boardFlag(&q.Board), memberFlag(&q.Member))
}
