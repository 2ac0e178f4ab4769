package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/terminal"
)

func (p *program) issuerCommand() *cli.Command {
	return group("issuer", "identity providers whose tokens say who a player is",
		p.issuerPutCommand(), p.issuerListCommand(), p.issuerShowCommand(), p.issuerDeleteCommand(),
	)
}

func (p *program) issuerPutCommand() *cli.Command {
	rules, file := client.IssuerRules{}, ""
	word := func(name, usage string, at *string) cli.Flag {
		return &cli.StringFlag{Name: name, Usage: usage, Destination: at}
	}
	number := func(name, usage string, at *int64) cli.Flag {
		f := newChecked(p.option(name, usage+"; 0: any number"), at, parseNumber)
		f.HideDefault = true
		return f
	}
	return question(p, "issuer put", "make an issuer, or replace its rules", "NAME", func(ctx context.Context, c *client.Client, args []string) (i client.Issuer, err error) {
		if file != "" {
			if rules.JWKS, err = os.ReadFile(file); err != nil {
				return i, fmt.Errorf("read the keys: %w", err)
			}
			if !json.Valid(rules.JWKS) {
				return i, fmt.Errorf("the keys in %s are not JSON", file)
			}
		}
		return c.PutIssuer(ctx, args[0], rules)
	}, (*remote).printIssuer,
		word("issuer", "the claim iss of its tokens", &rules.Issuer),
		word("audience", "one of their claim aud", &rules.Audience),
		word("jwks-url", "where its public keys are, by https", &rules.JWKSURL),
		word("jwks", "`file` with them instead, a JSON Web Key Set", &file),
		custom(p.option("algorithms", "how its tokens may be signed, as in RS256,ES256 (default: RS256,ES256,EdDSA)"), &rules.Algorithms, func(v string) (all []client.TokenAlgorithm, err error) {
			for a := range strings.SplitSeq(v, ",") {
				all = append(all, client.TokenAlgorithm(a))
			}
			return all, nil
		}),
		word("member-claim", "the claim that names the player (default: sub)", &rules.MemberClaim),
		word("prefix", "text before that value in member ids", &rules.Prefix),
		word("boards-claim", "the claim that lists the boards of a token; empty: tokens are for all boards", &rules.BoardsClaim),
		word("token-age", "how long after it was issued a token is taken (default: 24h)", &rules.MaxAge),
		number("issuer-requests", "requests a second of all its players together", &rules.RequestsPerSecond),
		number("issuer-rows", "entries a second that all its players submit together", &rules.RowsPerSecond),
	)
}

func issuerHead() []string {
	return []string{"NAME", "ISSUER", "AUDIENCE", "KEYS", "ALGORITHMS", "MEMBER", "MAX AGE"}
}

func addIssuer(t *terminal.Table, i *client.Issuer) {
	algorithms := make([]string, len(i.Algorithms))
	for n, a := range i.Algorithms {
		algorithms[n] = string(a)
	}
	t.Row(i.Name, i.Issuer, i.Audience, cmp.Or(i.JWKSURL, "given"), strings.Join(algorithms, ","), i.Prefix+"<"+i.MemberClaim+">", i.MaxAge)
}

func (r *remote) printIssuer(i *client.Issuer) error {
	if err := only(issuerHead(), addIssuer)(r, i); err != nil {
		return err
	}
	for _, k := range i.PassedOver {
		if _, err := fmt.Fprintf(r.out, "not used: the key %s %s\n", terminal.Printable(k.KID), terminal.Printable(k.Reason)); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) issuerListCommand() *cli.Command {
	return listing(p, "issuer list", "list the issuers", "listIssuers", nil, issuerHead(), addIssuer)
}

func (p *program) issuerShowCommand() *cli.Command {
	return requestCommand(p, "issuer show", "show an issuer", "getIssuer", (*remote).printIssuer)
}

func (p *program) issuerDeleteCommand() *cli.Command {
	return p.ending("issuer delete", "end an issuer with its tokens", "deleteIssuer", "Delete issuer %s? Its players' tokens are refused from then on.",
		"deleted", "%s is deleted; its tokens end within a second on every server")
}

func (p *program) tokenCommand() *cli.Command {
	return group("token", "tokens by which players submit and read what is theirs",
		p.tokenCreateCommand(), p.tokenRotateCommand(), p.tokenBarCommand(), p.tokenBarredCommand(), p.tokenUnbarCommand(),
	)
}

func (p *program) tokenCreateCommand() *cli.Command {
	var (
		want   client.TokenRequest
		boards string
	)
	return question(p, "token create", "make a token for a player", "MEMBER", func(ctx context.Context, c *client.Client, args []string) (client.Token, error) {
		if want.Member = args[0]; boards != "" {
			want.Boards = strings.Split(boards, ",")
		}
		return c.CreateToken(ctx, want)
	}, func(r *remote, t *client.Token) error {
		_, err := fmt.Fprintf(r.out, "%s\n", terminal.Printable(t.Token))
		return err
	},
		&cli.StringFlag{Name: "for", Usage: "boards that it is for: names and prefixes as in game1-*,lobby; empty: all", Destination: &boards},
		&cli.DurationFlag{Name: "ttl", Usage: "how long it is good, 24h at most; an hour when not given", Destination: &want.TTL})
}

func (p *program) playCommand() *cli.Command {
	return requestCommand(p, "play", "begin a play, by the token of a player", "beginPlay", func(r *remote, play *client.Play) error {
		_, err := fmt.Fprintf(r.out, "%s\n", terminal.Printable(play.Play))
		return err
	})
}

func (p *program) tokenRotateCommand() *cli.Command {
	r, yes, overlap := p.remote(), false, api.SigningOverlap
	return r.command("token rotate", "sign tokens with another key", "", func(ctx context.Context, _ []string) error {
		if overlap == 0 {
			if err := r.confirm(ctx, yes, "End all tokens that this service has made?"); err != nil {
				return err
			}
		}
		return r.carryOut(func(c *client.Client) error { return c.RotateTokens(ctx, overlap) }, "overlap", overlap.String(), "another key signs tokens; those before are taken for "+overlap.String())
	}, yesFlag(&yes),
		overlapFlag(&overlap),
		&cli.DurationFlag{Name: "grace", Hidden: true, Destination: &overlap, Value: api.SigningOverlap}, // the name of overlap before v0.2
	)
}

func (p *program) tokenBarCommand() *cli.Command {
	return requestCommand(p, "token bar", "end the tokens that a member has, of whatever issuer", "barMember", (*remote).printBar)
}

func (p *program) tokenBarredCommand() *cli.Command {
	return requestCommand(p, "token barred", "show from when on tokens of a member are taken", "getBar", (*remote).printBar)
}

func (r *remote) printBar(b *client.Bar) error {
	_, err := fmt.Fprintf(r.out, "tokens of %s that were issued before %s are refused\n", terminal.Printable(b.Member), terminal.Time(r.out, b.NotBefore))
	return err
}

func (p *program) tokenUnbarCommand() *cli.Command {
	r := p.remote()
	return r.command("token unbar", "take that back", "MEMBER", func(ctx context.Context, args []string) error {
		return r.carryOut(func(c *client.Client) error { return c.UnbarMember(ctx, args[0]) }, "unbarred", args[0], "tokens of "+terminal.Printable(args[0])+" are good again until their time is over")
	})
}
