package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/api"
	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

func (p *program) endpointCommand() *cli.Command {
	return group("endpoint", "endpoints: where events are sent, and the result of each delivery",
		p.endpointPutCommand(), p.endpointListCommand(), p.endpointShowCommand(), p.endpointDeleteCommand(), p.endpointRotateCommand(), p.endpointTestCommand(),
		p.endpointDeliveriesCommand(), p.endpointReplayCommand(),
	)
}

func (p *program) endpointPutCommand() *cli.Command {
	var (
		kinds, boards string
		off           bool
		e             client.EndpointRequest
	)
	return question(p, "endpoint put", "create an endpoint and show its secret once, or replace its settings; settings that are left out get their defaults", "NAME URL",
		func(ctx context.Context, c *client.Client, args []string) (client.NewEndpoint, error) {
			e.URL = args[1]
			if kinds != "" {
				for k := range strings.SplitSeq(kinds, ",") {
					e.Kinds = append(e.Kinds, leaderboard.EventKind(k))
				}
			}
			if boards != "" {
				e.Boards = strings.Split(boards, ",")
			}
			if off {
				e.Enabled = new(bool)
			}
			return c.PutEndpoint(ctx, args[0], e)
		}, (*remote).printNewEndpoint,
		&cli.StringFlag{Name: "kinds", Usage: "kinds of events that it gets, as in period.closed,member.erased; empty: all", Destination: &kinds},
		&cli.StringFlag{Name: "for", Usage: "boards that it is for: names and prefixes as in game1-*,lobby; empty: all", Destination: &boards},
		&cli.BoolFlag{Name: "off", Usage: "send it nothing until it is put again without this", Destination: &off},
		&cli.BoolFlag{Name: "allow-private", Usage: "let it have http and an address that is not public", Destination: &e.AllowPrivate},
	)
}

func (r *remote) printNewEndpoint(e *client.NewEndpoint) error {
	if e.Secret == "" {
		return only(endpointHead(), addEndpoint)(r, &e.Endpoint)
	}
	_, err := fmt.Fprintf(r.out, "%s\nThis is shown once. It signs what %s is sent.\n", terminal.Printable(e.Secret), terminal.Printable(e.Name))
	return err
}

func endpointHead() []string {
	return []string{"NAME", "URL", "KINDS", "BOARDS", "STATE", "WAITING", "SINCE", "LAST ERROR"}
}

func addEndpoint(t *terminal.Table, e *client.Endpoint) {
	kinds := make([]string, len(e.Kinds))
	for i, k := range e.Kinds {
		kinds[i] = string(k)
	}
	t.Row(e.Name, e.URL, cmp.Or(strings.Join(kinds, ","), "all"), cmp.Or(strings.Join(e.Boards, ","), "all"), e.State, e.Waiting, e.OldestWaitingAt, textOrDash(e.LastError))
}

func (p *program) endpointListCommand() *cli.Command {
	return listing(p, "endpoint list", "list the endpoints", "listEndpoints", nil, endpointHead(), addEndpoint)
}

func (p *program) endpointShowCommand() *cli.Command {
	return requestCommand(p, "endpoint show", "show an endpoint", "getEndpoint", only(endpointHead(), addEndpoint))
}

func (p *program) endpointDeleteCommand() *cli.Command {
	return p.ending("endpoint delete", "delete an endpoint with its deliveries", "deleteEndpoint", "Delete endpoint %s? What waits for it is not sent.", "deleted", "%s is deleted")
}

func (p *program) endpointRotateCommand() *cli.Command {
	var overlap time.Duration
	return question(p, "endpoint rotate", "give an endpoint another secret, and show it once", "NAME",
		func(ctx context.Context, c *client.Client, args []string) (client.NewEndpoint, error) {
			return c.RotateEndpoint(ctx, args[0], overlap)
		}, (*remote).printNewEndpoint,
		overlapFlag(&overlap))
}

func (p *program) endpointTestCommand() *cli.Command {
	r := p.remote()
	return r.command("endpoint test", "have the server send an endpoint an event of kind endpoint.test, and show the result; status 1 when it was not delivered", "NAME",
		func(ctx context.Context, args []string) error {
			t, err := show(&r, func(c *client.Client) (client.EndpointTest, error) { return c.TestEndpoint(ctx, args[0]) }, r.printTest)
			if err == nil && t.Error != nil {
				return errQuiet // the answer says why
			}
			return err
		})
}

func (r *remote) printTest(t *client.EndpointTest) error {
	what := "delivered"
	if t.Error != nil {
		what = "not delivered: " + terminal.Printable(*t.Error)
	}
	_, err := fmt.Fprintf(r.out, "%s, after %s\n", what, terminal.Printable(t.Took))
	return err
}

func (p *program) endpointDeliveriesCommand() *cli.Command {
	q := api.DeliveriesQuery{Limit: 100}
	return listing(p, "endpoint deliveries", "list the events of an endpoint, newest first, with their states; with --json also the sent event", "listDeliveries", &q,
		[]string{"EVENT", "KIND", "TIME", "STATE", "ATTEMPTS", "NEXT", "LAST ERROR"}, func(t *terminal.Table, d *client.Delivery) {
			t.Row(d.ID, d.Kind, d.Time, d.State, d.Attempts, d.NextAttemptAt, textOrDash(d.Error))
		}, stateFlag((*string)(&q.State)))
}

func (p *program) endpointReplayCommand() *cli.Command {
	since, event := "", ""
	return question(p, "endpoint replay", "send an endpoint its events again, all since a time or one of them", "NAME --since TIME | --event EVENT",
		func(ctx context.Context, c *client.Client, args []string) (n api.Replayed, err error) {
			if (since == "") == (event == "") {
				return n, usagef("want --since or --event, as in: leaderboard endpoint replay game --since 2026-11-20T00:00:00Z")
			}
			body := map[string]string{"since": since}
			if event != "" {
				body = map[string]string{"event": event}
			}
			return request[api.Replayed](ctx, c, client.Request{Method: "POST", Path: client.Path("endpoints", args[0], "replay"), Body: body})
		}, func(r *remote, n *api.Replayed) error {
			are := "are"
			if n.Events == 1 {
				are = "is"
			}
			_, err := fmt.Fprintf(r.out, "%s %s sent again\n", counted(n.Events, "event"), are)
			return err
		},
		&cli.StringFlag{Name: "since", Usage: "only what was at this `time` or later, as in 2026-11-20T13:00:00Z", Destination: &since},
		&cli.StringFlag{Name: "event", Usage: "the `id` of one event", Destination: &event})
}
