package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"leaderboard"
	"leaderboard/client"
	"leaderboard/internal/devserver"
)

const (
	benchKey     = "bench-admin-key"
	httpDatabase = "leaderboard" // of the board that is measured over HTTP
	boardPath    = "/v1/boards/" + benchBoard
)

// world is what the measurements run against: both servers with their durable defaults and, while it is needed, the
// service as a process of its own with one board of options.members entries.
type world struct {
	options
	mysql, redis *devserver.Server
	stops        []func()

	// The rest is there between startService and stopService.
	addr    string // of the service
	api     *client.Client
	server  *exec.Cmd
	pid     int
	db      *sql.DB // for the yardsticks
	serving []func()
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
	if w.server != nil {
		return nil
	}
	b, err := openBoard(ctx, w.mysql.DSN, httpDatabase, w.members, log)
	if err != nil {
		return err
	}
	w.db = b.db
	w.serving = append(w.serving, func() { _ = b.db.Close() })
	if _, err := b.buildIndex(ctx); err != nil {
		return err
	}
	if err := b.closeStores(); err != nil {
		return err
	}
	if err := w.serve(b.dsn); err != nil {
		return err
	}
	return w.awaitReady(ctx)
}

// stopService ends the service, if it runs.
func (w *world) stopService() {
	for i := len(w.serving) - 1; i >= 0; i-- {
		w.serving[i]()
	}
	w.serving, w.server = nil, nil
}

// awaitReady waits until the service is.
func (w *world) awaitReady(ctx context.Context) error {
	patient, err := client.New("http://"+w.addr, client.WithMaxWait(time.Minute))
	if err != nil {
		return err
	}
	if _, err := patient.Ready(ctx); err != nil {
		return fmt.Errorf("the service does not become ready: %w", err)
	}
	return nil
}

// serve starts the service and waits for the line that names its address.
func (w *world) serve(dsn string) error {
	w.server = exec.Command(w.program, "serve", "--migrate", "--listen", "127.0.0.1:0")
	w.server.Env = append(os.Environ(), "LEADERBOARD_MYSQL_DSN="+dsn, "LEADERBOARD_REDIS_URL="+w.redis.URL,
		"LEADERBOARD_KEYS=admin:"+benchKey, "LEADERBOARD_LOG=text")
	logs, err := w.server.StderrPipe()
	if err != nil {
		return err
	}
	if err := w.server.Start(); err != nil {
		return err
	}
	w.pid = w.server.Process.Pid
	server := w.server
	w.serving = append(w.serving, func() { _ = server.Process.Signal(os.Interrupt); _ = server.Wait() })
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "addr=http://"); ok {
			w.addr = strings.Fields(rest)[0]
			go func() { _, _ = io.Copy(io.Discard, logs) }()
			// Each request is sent once: an answer that is an error ends the measurement.
			w.api, err = client.New("http://"+w.addr, client.WithKey(benchKey), client.WithTimeout(5*time.Minute), client.WithMaxWait(0))
			return err
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return fmt.Errorf("the service ended before it said its address")
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

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
