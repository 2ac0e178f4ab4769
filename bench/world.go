package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/devserver"
)

// httpDatabase is that of the boards that are measured over HTTP.
const httpDatabase = "leaderboard"

// world is what the measurements run against: both servers with their durable defaults and, while it is needed, the
// service as a process of its own with one board of options.members entries.
type world struct {
	options
	mysql, redis *devserver.Server
	stops        []func()

	// The rest is there between startService and stopService.
	*service
	dsn string  // of the service's database
	db  *sql.DB // on it, for the yardsticks
}

// newWorld starts the servers.
func newWorld(ctx context.Context, o options, log io.Writer) (*world, error) {
	w := &world{options: o}
	cfg := devserver.Config{Dir: o.dir, Log: func(format string, args ...any) { fmt.Fprintf(log, format+"\n", args...) }}
	var err error
	if w.mysql, err = devserver.StartMySQL(ctx, cfg); err != nil {
		return nil, err
	}
	w.stops = append(w.stops, func() { _ = w.mysql.Stop(context.Background()) })
	if err := growPool(ctx, w.mysql, &w.options); err != nil {
		w.close()
		return nil, err
	}
	if w.redis, err = devserver.StartRedis(ctx, cfg); err != nil {
		w.close()
		return nil, err
	}
	w.stops = append(w.stops, func() { _ = w.redis.Stop(context.Background()) })
	return w, nil
}

// startService fills the board and starts the service, unless it runs.
func (w *world) startService(ctx context.Context, log io.Writer) error {
	if w.service != nil {
		return nil
	}
	b, err := openBoard(ctx, w.mysql.DSN, httpDatabase, w.members, log)
	if err != nil {
		return err
	}
	w.db, w.dsn = b.db, b.dsn
	if _, err := b.buildIndex(ctx); err != nil {
		return err
	}
	if err := b.closeStores(); err != nil {
		return err
	}
	return w.serve(ctx)
}

// serve starts the service on the database, in the place of one that runs. args go after those of the options.
func (w *world) serve(ctx context.Context, args ...string) (err error) {
	w.service.stop()
	w.service, err = w.start(ctx, w.redis.URL, args...)
	return err
}

// start starts a server on the database and returns it when it is ready.
func (w *world) start(ctx context.Context, redisURL string, args ...string) (*service, error) {
	return startService(ctx, w.program, w.dsn, redisURL, append(slices.Clone(w.serveArgs), args...)...)
}

// stopService ends the service, if it runs.
func (w *world) stopService() {
	w.service.stop()
	w.service = nil
	if w.db != nil {
		_ = w.db.Close()
		w.db = nil
	}
}

// submit submits entries to a board. It sends no Idempotency-Key, as the load generator does not.
func (w *world) submit(ctx context.Context, board string, entries []leaderboard.Submission) error {
	request := client.SubmitRequest(board, entries)
	request.Header = nil
	_, err := w.api.Do(ctx, request)
	return err
}

// close ends everything that was started.
func (w *world) close() {
	w.stopService()
	for i := len(w.stops) - 1; i >= 0; i-- {
		w.stops[i]()
	}
}

func defaultDir() string { return filepath.Join(".leaderboard", "bench") }
