package app

import (
	"context"
	"time"

	"leaderboard/internal/dialer"
	"leaderboard/leaderboard"
	"leaderboard/store"
	"leaderboard/webhooks"
)

// wireEvents makes what sends events.
func (a *App) wireEvents() {
	a.sender = webhooks.New(webhooks.Config{
		Outbox: outgoing{a.store.Events, a.store.Notices}, Lead: a.store.Events, AllowPrivate: a.cfg.PrivateEndpoints, Retry: a.cfg.eventRetry, Logger: a.log, Observer: a.metrics,
	})
	a.metrics.watchEvents(a.sender.Backlog)
}

// outgoing is the events that the sender makes and sends.
type outgoing struct {
	*store.Events
	*store.Notices
}

// endpoints implements httpapi.Endpoints.
type endpoints struct {
	*store.Events
	sender  *webhooks.Sender
	private bool // the settings allow addresses that are not public
}

// PutEndpoint is that of the store, within what the settings allow.
func (e endpoints) PutEndpoint(
	ctx context.Context, name string, r leaderboard.EndpointRequest, secret leaderboard.EndpointSecret, may func(*leaderboard.Endpoint) error,
) (leaderboard.Endpoint, bool, error) {
	if r.AllowPrivate && !e.private {
		return leaderboard.Endpoint{}, false, &leaderboard.RuleError{Code: leaderboard.CodeInvalidEndpoint, Detail: "the endpoint is not valid", Fields: []leaderboard.FieldError{
			{Pointer: "/allow_private", Detail: "the server's setting allow-private-addresses does not allow it"},
		}}
	}
	if r.Check(name) == nil { // otherwise the store says all that is wrong
		if wrong := dialer.Check(r.URL, dialer.Rules{Private: r.AllowPrivate, Plain: r.AllowPrivate}); wrong != "" {
			if !r.AllowPrivate && dialer.Check(r.URL, dialer.Rules{Private: true, Plain: true}) == "" {
				wrong += "; others need allow_private"
			}
			return leaderboard.Endpoint{}, false, &leaderboard.RuleError{
				Code: leaderboard.CodeInvalidEndpoint, Detail: "the endpoint is not valid", Fields: []leaderboard.FieldError{{Pointer: "/url", Detail: wrong}},
			}
		}
	}
	return e.Events.PutEndpoint(ctx, name, r, secret, may)
}

// TestEndpoint makes one attempt from this server.
func (e endpoints) TestEndpoint(ctx context.Context, name string, may func(*leaderboard.Endpoint) error) (leaderboard.Attempt, time.Duration, error) {
	to, err := e.Recipient(ctx, name, may)
	if err != nil {
		return leaderboard.Attempt{}, 0, err
	}
	attempt, took := e.sender.Test(ctx, &to)
	return attempt, took, nil
}
