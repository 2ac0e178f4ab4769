package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/terminal"
)

func (p *program) keyCommand() *cli.Command {
	leaf := func(name, usage, args string, do func(*remote, context.Context, []string) error) *cli.Command {
		r := p.remote()
		return r.command(name, usage, args, func(ctx context.Context, args []string) error { return do(&r, ctx, args) })
	}
	return group("key", "API keys: who may do what, on which boards",
		p.keyCreateCommand(),
		leaf("key list", "list the keys", "", (*remote).listKeys),
		leaf("key show", "show a key; without an ID the one that is sent", "[ID]", (*remote).showKey),
		p.keyRevokeCommand(),
		p.keyRotateCommand(),
	)
}

func (p *program) keyCreateCommand() *cli.Command {
	r, k := p.remote(), client.KeyRequest{}
	var scope, boards, expires string
	var requests, rows int
	return r.command("key create", "make a key and show its secret, once", "NAME", func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("want a name, as in: leaderboard key create --scope write --for 'game1-*' 'game1 backend'")
		}
		var err error
		if k.Scope, err = leaderboard.ParseScope(scope); err != nil {
			return usagef("--scope: %s", err)
		}
		if k.Name = args[0]; boards != "" {
			k.Boards = strings.Split(boards, ",")
		}
		if expires != "" {
			at, err := time.Parse(time.RFC3339, expires)
			if err != nil {
				return usagef("--expires: want a time as in 2027-01-31T00:00:00Z")
			}
			k.ExpiresAt = &at
		}
		if requests != 0 || rows != 0 {
			k.Quota = &client.Quota{RequestsPerSecond: orNil(requests), RowsPerSecond: orNil(rows)}
		}
		return r.newKey(ctx, client.Request{Method: http.MethodPost, Path: client.Path("keys"), Body: k})
	},
		oneOf(p.option("scope", "what it may do: read, write or admin"), &scope, "read", "write", "admin"),
		&cli.StringFlag{Name: "for", Usage: "boards that it is for: names and prefixes as in game1-*,lobby; empty: all", Destination: &boards},
		&cli.StringFlag{Name: "expires", Usage: "when it ends, a time to come as in 2027-01-31T00:00:00Z; empty: never", Destination: &expires},
		&cli.IntFlag{Name: "requests-per-second", Usage: "its quota of requests; 0: what the server's settings say", Destination: &requests},
		&cli.IntFlag{Name: "rows-per-second", Usage: "its quota of entries submitted; 0: what the server's settings say", Destination: &rows},
	)
}

func orNil(n int) *int64 {
	if n == 0 {
		return nil
	}
	v := int64(n)
	return &v
}

func (p *program) keyRotateCommand() *cli.Command {
	r := p.remote()
	var overlap time.Duration
	return r.command("key rotate", "give a key another secret, and show it once", "ID", func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("want the id of a key, as in: leaderboard key rotate --overlap 24h ID")
		}
		return r.newKey(ctx, client.Request{
			Method: http.MethodPost, Path: client.Path("keys", args[0], "rotate"), Body: map[string]string{"overlap": overlap.String()},
		})
	}, &cli.DurationFlag{Name: "overlap", Usage: "how long the secret before it is taken too", Destination: &overlap})
}

// newKey sends what makes a secret, and shows it.
func (r *remote) newKey(ctx context.Context, request client.Request) error {
	var k client.NewKey
	if done, err := r.ask(ctx, request, &k); done || err != nil {
		return err
	}
	_, err := fmt.Fprintf(r.out, "%s\nThis is shown once. Its id is %s.\n", terminal.Printable(k.Secret), terminal.Printable(k.ID))
	return err
}

func keyHead() []string {
	return []string{"ID", "NAME", "SCOPE", "BOARDS", "STATE", "LAST USED", "CREATED"}
}

func keyCells(k *client.Key) []any {
	state := "active"
	switch {
	case k.RevokedAt != nil:
		state = "revoked"
	case k.ExpiresAt != nil && !k.ExpiresAt.After(time.Now()):
		state = "expired"
	case k.ExpiresAt != nil:
		state = "until " + timeText(*k.ExpiresAt)
	}
	return []any{
		k.ID, k.Name, string(k.Scope), cmp.Or(strings.Join(k.Boards, ","), "all"), state,
		orNever(k.LastUsedAt), orNever(k.CreatedTime),
	}
}

func orNever(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return timeText(*t)
}

func (r *remote) listKeys(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("want no argument, as in: leaderboard key list")
	}
	return showList(ctx, r, list{path: "/v1/keys", member: "keys", head: keyHead()}, func(t *terminal.Table, k *client.Key) { t.Row(keyCells(k)...) })
}

func (r *remote) showKey(ctx context.Context, args []string) error {
	if len(args) > 1 {
		return usagef("want one id at most, as in: leaderboard key show ID")
	}
	path := client.Path("key")
	if len(args) == 1 {
		path = client.Path("keys", args[0])
	}
	var k client.Key
	if done, err := r.ask(ctx, client.Request{Method: http.MethodGet, Path: path}, &k); done || err != nil {
		return err
	}
	t := terminal.NewTable(r.out, keyHead()...)
	t.Row(keyCells(&k)...)
	return t.Flush()
}

func (p *program) keyRevokeCommand() *cli.Command {
	r, yes := p.remote(), false
	return r.command("key revoke", "end a key, for good", "ID", func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return usagef("want the id of a key, as in: leaderboard key revoke ID")
		}
		question := fmt.Sprintf("End key %s for good? Whoever uses it is refused from then on.", terminal.Printable(args[0]))
		if err := r.confirm(ctx, yes, question); err != nil {
			return err
		}
		return r.revokeKey(ctx, args)
	}, yesFlag(&yes))
}

func (r *remote) revokeKey(ctx context.Context, args []string) error {
	if _, err := r.do(ctx, client.Request{Method: http.MethodDelete, Path: client.Path("keys", args[0])}); err != nil {
		return err
	}
	if r.json {
		return terminal.PrintJSON(r.out, map[string]string{"revoked": args[0]})
	}
	_, err := fmt.Fprintf(r.out, "%s is revoked; it stops within a second on every server\n", terminal.Printable(args[0]))
	return err
}
