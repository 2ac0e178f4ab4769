package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

func (p *program) keyCommand() *cli.Command {
	return group("key", "API keys: who may do what, on which boards",
		p.keyCreateCommand(), p.keyListCommand(), p.keyShowCommand(), p.keyUpdateCommand(), p.keyRevokeCommand(), p.keyRotateCommand(),
	)
}

// keyFlags returns the flags for the properties of a key, which they put into a merge patch. null sets a property to its default.
func (p *program) keyFlags(patch map[string]any) []cli.Flag {
	word := func(name, usage, member string, value func(string) any) *checked[string] {
		f := custom(p.option(name, usage), new(any), func(v string) (any, error) {
			patch[member] = value(v)
			return nil, nil
		})
		f.Config.emptied = true
		return f
	}
	quota := map[string]any{}
	number := func(name, usage string) cli.Flag {
		f := newChecked(p.option(name, usage+"; 0: as the server's settings say"), new(int64), func(v string) (int64, error) {
			n, err := parseNumber(v)
			quota[strings.ReplaceAll(name, "-", "_")], patch["quota"] = orNull(n), quota
			return n, err
		})
		f.HideDefault = true
		return f
	}
	scope := word("scope", "rights of the key: read, write or admin", "scope", func(v string) any { return v })
	scope.Config.words = []string{"read", "write", "admin"}
	return []cli.Flag{
		scope,
		word("for", "boards that it is for: names and prefixes as in game1-*,lobby; empty: all", "boards", func(v string) any {
			if v == "" {
				return nil
			}
			return strings.Split(v, ",")
		}),
		word("expires", "when it ends, a `time` to come as in 2027-01-31T00:00:00Z; empty: never", "expires_at", orNull[string]),
		number("requests-per-second", "its quota of requests"),
		number("rows-per-second", "its quota of entries and other rows written"),
	}
}

// orNull returns a value, nil for none.
func orNull[T comparable](v T) any {
	if v == *new(T) {
		return nil
	}
	return v
}

func (p *program) keyCreateCommand() *cli.Command {
	key := map[string]any{}
	return question(p, "key create", "make a key and show its secret, once", "NAME", func(ctx context.Context, c *client.Client, args []string) (k client.NewKey, err error) {
		if key["scope"] == nil {
			return k, usagef("want a scope, as in: leaderboard key create --scope write --for 'game1-*' 'game1 backend'")
		}
		key["name"] = args[0]
		return request[client.NewKey](ctx, c, client.Request{Method: http.MethodPost, Path: client.Path("keys"), Body: key, Once: true})
	}, (*remote).printNewKey, p.keyFlags(key)...)
}

func (p *program) keyUpdateCommand() *cli.Command {
	patch, name := map[string]any{}, ""
	return question(p, "key update", "change what the options name of a key; its secret stays", "ID", func(ctx context.Context, c *client.Client, args []string) (k client.Key, err error) {
		if name != "" {
			patch["name"] = name
		}
		if len(patch) == 0 {
			return k, usagef("want at least one change: --name, --scope, --for, --expires, --requests-per-second, --rows-per-second")
		}
		return c.PatchKey(ctx, args[0], patch)
	}, only(keyHead(), addKey), append(p.keyFlags(patch), &cli.StringFlag{Name: "name", Usage: "name of the key", Destination: &name})...)
}

func (p *program) keyRotateCommand() *cli.Command {
	var overlap time.Duration
	return question(p, "key rotate", "give a key another secret, and show it once", "ID",
		func(ctx context.Context, c *client.Client, args []string) (client.NewKey, error) {
			return c.RotateKey(ctx, args[0], overlap)
		}, (*remote).printNewKey,
		overlapFlag(&overlap))
}

func (r *remote) printNewKey(k *client.NewKey) error {
	_, err := fmt.Fprintf(r.out, "%s\nThis is shown once. Its id is %s.\n", terminal.Printable(k.Secret), terminal.Printable(k.ID))
	return err
}

func keyHead() []string {
	return []string{"ID", "NAME", "SCOPE", "BOARDS", "STATE", "LAST USED", "CREATED"}
}

func addKey(t *terminal.Table, k *client.Key) {
	state := "active"
	switch {
	case k.RevokedAt != nil:
		state = "revoked"
	case k.ExpiresAt != nil && !k.ExpiresAt.After(time.Now()):
		state = "expired"
	case k.ExpiresAt != nil:
		state = "until " + t.Time(*k.ExpiresAt)
	}
	t.Row(k.ID, k.Name, k.Scope, cmp.Or(strings.Join(k.Boards, ","), "all"), state, k.LastUsedAt, k.CreatedTime)
}

func (p *program) keyListCommand() *cli.Command {
	return listing(p, "key list", "list the keys", "listKeys", nil, keyHead(), addKey)
}

func (p *program) keyShowCommand() *cli.Command {
	return question(p, "key show", "show a key; without an ID the one that is sent", "[ID]", func(ctx context.Context, c *client.Client, args []string) (client.Key, error) {
		if len(args) == 0 {
			return c.OwnKey(ctx)
		}
		return c.GetKey(ctx, args[0])
	}, only(keyHead(), addKey))
}

func (p *program) keyRevokeCommand() *cli.Command {
	return p.ending("key revoke", "end a key, for good", "revokeKey", "End key %s for good? Requests with it are refused from then on.",
		"revoked", "%s is revoked; it stops within a second on every server")
}
