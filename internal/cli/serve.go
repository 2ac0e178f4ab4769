package cli

import (
	"context"

	"leaderboard/internal/app"
)

// serve runs the service until ctx ends.
func (p *program) serve(ctx context.Context, cfg config, _ []string) error {
	if err := cfg.needMySQL(); err != nil {
		return err
	}
	a, err := app.New(ctx, cfg.Config, app.NewLogger(p.err, &cfg.Config))
	if err != nil {
		return err
	}
	return a.Run(ctx, p.env, nil, func(context.Context) error { return nil })
}
