package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// newClient asks the server that cfg names, once for each request unless options say otherwise.
func newClient(cfg *config, options ...client.Option) (*client.Client, error) {
	return client.New(cfg.url, append([]client.Option{
		client.WithKey(cfg.key), client.WithTimeout(cfg.timeout), client.WithMaxWait(0),
	}, options...)...)
}

// do makes one request.
func (p *program) do(ctx context.Context, cfg *config, r client.Request, options ...client.Option) (*client.Answer, error) {
	c, err := newClient(cfg, options...)
	if err != nil {
		return nil, err
	}
	return c.Do(ctx, r)
}

// ask makes one request. With --json the answer is printed as it came and done is true, otherwise it is in into.
func (p *program) ask(ctx context.Context, cfg *config, r client.Request, into any) (done bool, err error) {
	answer, err := p.do(ctx, cfg, r)
	if err != nil {
		return false, err
	}
	if cfg.json {
		return true, terminal.PassJSON(p.out, answer.Body)
	}
	return false, answer.Decode(into)
}

// askAndShow makes one request and shows the answer: as it came with --json, by show otherwise. It is in into either way.
func (p *program) askAndShow(ctx context.Context, cfg *config, r client.Request, into any, show func() error) error {
	answer, err := p.do(ctx, cfg, r)
	if err != nil {
		return err
	}
	if err := answer.Decode(into); err != nil {
		return err
	}
	if cfg.json {
		return terminal.PassJSON(p.out, answer.Body)
	}
	return show()
}

// explain adds to an error what to do about it, where that is known.
func explain(cfg *config, err error) error {
	if err == nil {
		return nil
	}
	if p, ok := errors.AsType[*client.Problem](err); ok {
		switch {
		case p.Answer != nil:
			return fmt.Errorf("%w; is --url right?", err)
		case p.Status == http.StatusUnauthorized:
			return fmt.Errorf("%w\n  give a key with --key or LEADERBOARD_KEY", err)
		case p.Status == http.StatusForbidden:
			return fmt.Errorf("%w\n  this key's scope is not enough; give another one with --key or LEADERBOARD_KEY", err)
		}
		return err
	}
	switch {
	case errors.Is(err, client.ErrTimeout):
		return fmt.Errorf("%w; --timeout says how long to wait", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no server at %s: start one with `leaderboard dev` or `leaderboard serve`, or say where it is with --url: %w", cfg.url, err)
	}
	return err
}
