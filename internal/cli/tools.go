package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"leaderboard"
	"leaderboard/internal/app"
	"leaderboard/internal/terminal"
)

// needs says what a command works with besides MySQL.
type needs bool

const (
	needsMySQL  needs = false
	needsCopies needs = true
)

// eachPeriod opens what cfg names and calls do for the current periods of the boards that it asks for, one after another,
// until one fails.
func (p *program) eachPeriod(ctx context.Context, cfg *config, n needs, do func(*app.Tools, leaderboard.PeriodRef) error) (err error) {
	if err := oneOrAll(cfg); err != nil {
		return err
	}
	t, err := p.openTools(ctx, cfg, n)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	refs, err := t.Periods(ctx, cfg.board)
	if errors.Is(err, leaderboard.ErrBoardNotFound) {
		return fmt.Errorf("%w: %s", leaderboard.ErrBoardNotFound, terminal.Printable(cfg.board))
	}
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if err := do(t, ref); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) openTools(ctx context.Context, cfg *config, n needs) (*app.Tools, error) {
	if err := cfg.needMySQL(); err != nil {
		return nil, err
	}
	if n == needsCopies && cfg.RedisURL == "" {
		return nil, usagef("no Redis given: set --redis-url or LEADERBOARD_REDIS_URL, as in redis://127.0.0.1:6379/0")
	}
	return app.OpenTools(ctx, &cfg.Config, n == needsCopies, app.NewLogger(p.err, &cfg.Config))
}

// hostName is who asks, in the records of runs.
func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown host"
	}
	return host
}

// oneOrAll checks that it was said which boards are meant.
func oneOrAll(cfg *config) error {
	switch {
	case cfg.board == "" && !cfg.all:
		return usagef("say which boards: --board NAME or --all")
	case cfg.board != "" && cfg.all:
		return usagef("--board and --all exclude each other")
	}
	return nil
}
