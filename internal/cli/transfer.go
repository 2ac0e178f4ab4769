package cli

import (
	"context"
	"errors"
	"fmt"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/internal/transfer"
)

// exportBoard writes all entries of a period to a file or to standard output.
func (p *program) exportBoard(ctx context.Context, cfg config, args []string) error {
	if len(args) != 1 {
		return usagef("want one board, as in: leaderboard export demo --output demo.csv")
	}
	if cfg.json && cfg.output == "" {
		return usagef("--json describes the file of --output; the form of the entries is --format")
	}
	c, err := newClient(&cfg)
	if err != nil {
		return err
	}
	done, err := transfer.Export{
		Client: c, Board: args[0], Query: client.ExportQuery{Window: leaderboard.Window(cfg.window), Period: cfg.period},
		Format: cfg.format, File: cfg.output, Stdout: p.out, Told: p.err,
	}.Run(ctx)
	switch {
	case err != nil || cfg.output == "":
		return err
	case cfg.json:
		return terminal.PrintJSON(p.out, done)
	}
	_, err = fmt.Fprintln(p.out, done.Line())
	return err
}

// importFile submits the entries of a file. It goes on where an earlier run of the same import stopped.
func (p *program) importFile(ctx context.Context, cfg config, args []string) error {
	if len(args) != 2 {
		return usagef("want a board and a file, as in: leaderboard import demo scores.csv (- for standard input)")
	}
	c, err := newClient(&cfg, client.WithMaxWait(cfg.retryFor))
	if err != nil {
		return err
	}
	done, err := transfer.Import{
		Client: c, Board: args[0], File: args[1], Stdin: p.in, Format: cfg.format, Batch: cfg.batch, Key: cfg.idempotencyKey,
		Refused: cfg.refused, Progress: cfg.progress, Restart: cfg.restart, Told: p.err,
	}.Run(ctx)
	if stopped, ok := errors.AsType[*transfer.Stopped](err); ok && stopped.Line > 0 {
		fmt.Fprintf(p.err, "leaderboard: the lines ahead of line %d are dealt with; the same command goes on there\n", stopped.Line)
	}
	if err != nil {
		return err
	}
	if cfg.json {
		err = terminal.PrintJSON(p.out, done)
	} else {
		_, err = fmt.Fprintln(p.out, done.Line())
	}
	if err == nil && done.Refused > 0 {
		err = errRefused
	}
	return err
}
