package main

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
	line := "leaderboard " + info.Version
	if info.Revision != "" {
		line += " (" + info.Revision + ")"
	}
	_, err := fmt.Fprintf(p.out, "%s, %s\n", line, info.Go)
	return err
}
