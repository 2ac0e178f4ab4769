package cli

import (
	"context"
	"fmt"

	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
)

func (p *program) version(_ context.Context, cfg config, _ []string) error {
	info := app.ReadBuildInfo()
	if cfg.json {
		return terminal.PrintJSON(p.out, info)
	}
	_, err := fmt.Fprintln(p.out, "leaderboard version", info) // as --version does
	return err
}
