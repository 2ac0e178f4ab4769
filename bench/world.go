package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"leaderboard/internal/devserver"
)

const (
	benchBoard   = "bench"
	benchKey     = "bench-admin-key"
	httpDatabase = "leaderboard" // of the board that is measured over HTTP

	minMembers = 10_000
	maxMembers = 10_000_000 // the names of the members have seven digits
)

// world is what the measurements run against: both servers with their durable defaults and, while it is needed, the
// service as a process of its own with one board of options.members entries.
type world struct {
	options
	mysql, redis *devserver.Server
	stops        []func()

	// The rest is there between startService and stopService.
	addr    string // of the service
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
	if err := w.growPool(ctx); err != nil {
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

// awaitReady asks until the service is.
func (w *world) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := w.call(ctx, http.MethodGet, "/readyz", "", nil)
		if err == nil {
			return nil
		}
		if wait(ctx, 50*time.Millisecond) != nil {
			return fmt.Errorf("the service does not become ready: %w", err)
		}
	}
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
			return nil
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return fmt.Errorf("the service ended before it said its address")
}

// call makes one request and hands the body of a good answer to take.
func (w *world) call(ctx context.Context, method, path, body string, take func([]byte) error) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+w.addr+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+benchKey)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, answer)
	}
	if take != nil {
		return take(answer)
	}
	return nil
}

// close ends everything that was started.
func (w *world) close() {
	w.stopService()
	for i := len(w.stops) - 1; i >= 0; i-- {
		w.stops[i]()
	}
}

func defaultDir() string { return filepath.Join(".leaderboard", "bench") }
