package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"syscall"
	"time"
)

// serve runs the service until ctx ends.
func (p *program) serve(ctx context.Context, cfg config, _ []string) error {
	if err := cfg.needMySQL(); err != nil {
		return err
	}
	app, err := newApp(ctx, cfg, newLogger(p.err, &cfg))
	if err != nil {
		return err
	}
	return p.runApp(ctx, app, nil, func(context.Context) error { return nil })
}

// stopGrace is what stopping may take beyond the shutdown-timeout: the batch under way, the last Redis commands.
const stopGrace = 20 * time.Second

// runApp starts app, calls started, and stops app when ctx ends or something that it needs has failed.
func (p *program) runApp(ctx context.Context, app *App, failed <-chan error, started func(context.Context) error) error {
	defer runtime.KeepAlive(newSpareHeap(p.env))
	if err := app.Start(ctx); err != nil {
		return errors.Join(err, app.Stop(context.WithoutCancel(ctx)))
	}
	err := started(ctx)
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-failed:
		case err = <-app.Failed():
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil // interrupted while starting, as asked
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), app.cfg.drainDelay+app.cfg.shutdownTimeout+stopGrace)
	defer cancel()
	return errors.Join(err, app.Stop(stop))
}

// listen opens an address, and says what to do when another program has it.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program, perhaps another leaderboard: stop it, or choose another address with --listen (port 0 takes a free one)", address)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("no right to listen on %s: ports below 1024 belong to root; choose another one with --listen", address)
	default:
		return nil, fmt.Errorf("listen: %w", err)
	}
}
