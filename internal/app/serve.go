package app

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// stopGrace is the time that background work and runs may take beyond the shutdown-timeout. With a hung MySQL the store takes 6 s
// more at most, so the whole stays below 25 s as long as the drain-delay is 0.
const stopGrace = 5 * time.Second

// Check asks once for everything that a start needs before it is ready, without waiting, and changes nothing in MySQL and Redis.
func Check(ctx context.Context, cfg Config) (findings []Finding, err error) {
	a, err := New(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return []Finding{{Check: "settings", State: FindingStateFailed, Found: err.Error()}}, nil
	}
	defer func() { err = errors.Join(err, a.Stop(context.WithoutCancel(ctx))) }()
	asked, err := runChecks(ctx, cfg.MySQLDSN, append(a.machineChecks(), a.serverChecks()...))
	return append([]Finding{{Check: "settings", State: FindingStateOK, Found: "all of them are understood"}}, asked...), err
}

// Run starts the app, calls started, and stops the app when ctx ends or something that it needs has failed. env is as
// os.Getenv.
func (a *App) Run(ctx context.Context, env func(string) string, failed <-chan error, started func(context.Context) error) error {
	a.collector = newCollector(env)
	a.collector.follow(ctx)
	if err := a.Start(ctx); err != nil {
		return errors.Join(err, a.Stop(context.WithoutCancel(ctx)))
	}
	err := started(ctx)
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		case err = <-a.failed:
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil // interrupted while starting, as asked
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.DrainDelay+a.cfg.ShutdownTimeout+stopGrace)
	defer cancel()
	return errors.Join(err, a.Stop(stop))
}
