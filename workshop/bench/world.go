package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"leaderboard/client"
	"leaderboard/internal/devserver"
)

const (
	bytesPerRow = 250       // of an entry in both of its indexes, with room for pages that are not full
	leastPool   = 128 << 20 // bytes of the buffer pool
)

// options are the options of the command line.
type options struct {
	program   string   // the service's binary
	before    string   // of an earlier version, which the topic before measures next to this one; ""
	dir       string   // of the servers' data
	page      string   // whose tables are replaced; "" for none
	members   int      // entries of the board; 0: the topic's number
	pace      float64  // factor of how long is measured
	only      []string // topics; none: all but giant
	serveArgs []string // further arguments of every server
}

// seconds returns a length of time to measure for, at the pace that was asked for.
func (o *options) seconds(s float64) time.Duration {
	return time.Duration(s * o.pace * float64(time.Second))
}

// world is the surroundings of the measurements: both servers with their durable defaults and, while it is needed, the
// service as a separate process with one board.
type world struct {
	options
	log          io.Writer
	mysql, redis *devserver.Server
	db           *sql.DB // on MySQL, in no database
	stops        []func()

	board    *board // that the service has, since the first serve
	*service        // from serve to stopService
}

// newWorld starts MySQL, with further environment variables, and Redis.
func newWorld(ctx context.Context, o options, log io.Writer, env ...string) (*world, error) {
	w := &world{options: o, log: log}
	cfg := devserver.Config{Dir: o.dir, MySQLOnly: true, Env: env, Log: func(format string, args ...any) { fmt.Fprintf(log, format+"\n", args...) }}
	var err error
	if w.mysql, err = devserver.StartMySQL(ctx, cfg); err != nil {
		return nil, err
	}
	w.stops = append(w.stops, func() { _ = w.mysql.Stop(context.Background()) })
	if w.redis, err = devserver.StartRedis(ctx, cfg); err != nil {
		w.close()
		return nil, err
	}
	w.stops = append(w.stops, func() { _ = w.redis.Stop(context.Background()) })
	if w.db, err = sql.Open("mysql", w.mysql.DSN+"?interpolateParams=true"); err != nil {
		w.close()
		return nil, err
	}
	w.stops = append(w.stops, func() { _ = w.db.Close() })
	return w, nil
}

// close ends everything that was started.
func (w *world) close() {
	w.stopService()
	if w.board != nil {
		_ = w.board.close()
	}
	for _, stop := range slices.Backward(w.stops) {
		stop()
	}
}

// growPool makes MySQL's buffer pool large enough for a number of rows, so that the figures show the work and not the disk,
// but no larger than a part of the memory.
func (w *world) growPool(ctx context.Context, rows int, part float64) error {
	memory, err := machineMemory()
	if err != nil {
		return err
	}
	size := min(leastPool+int64(rows)*bytesPerRow, int64(part*float64(memory)))
	if _, err := w.db.ExecContext(ctx, "SET GLOBAL innodb_buffer_pool_size = ?", max(leastPool, size)); err != nil {
		return err
	}
	for {
		var name, status string
		if err := w.db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_resize_status_code'").Scan(&name, &status); err != nil {
			return err
		}
		if status == "0" {
			return nil
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// serve starts the service on its board, in place of a running one. args come after the arguments of the command line.
func (w *world) serve(ctx context.Context, args ...string) (err error) {
	w.stopService()
	if err := w.useBoard(ctx); err != nil {
		return err
	}
	w.service, err = w.start(ctx, w.redis.URL, args...)
	return err
}

// useBoard opens the board of as many members as the topic wants. The last topic may have used another number.
func (w *world) useBoard(ctx context.Context) error {
	if w.board != nil && w.board.members == w.members {
		return nil
	}
	if w.board != nil {
		if err := w.board.close(); err != nil {
			return err
		}
		w.board = nil
	}
	const tables = 5 // of the board, of the boards next to it and of a yardstick
	if err := w.growPool(ctx, tables*w.members, 1.0/3); err != nil {
		return err
	}
	b, err := openBoard(ctx, w.db, w.mysql.DSN, w.members, w.log)
	if err != nil {
		return err
	}
	w.board = b
	if _, err := b.buildIndex(ctx); err != nil {
		return err
	}
	return b.closeStores()
}

// stopService ends the service, if it runs.
func (w *world) stopService() {
	w.service.stop()
	w.service = nil
}

// withoutMemory are the arguments of a server that keeps no board in memory.
func withoutMemory() []string { return []string{"--resident-memory=0"} }

// service is the server as a separate process.
type service struct {
	addr string
	pid  int
	api  *client.Client // sends each request once: an answer that is an error ends the measurement
	cmd  *exec.Cmd
}

// plenty are quotas that no load uses up, but that are counted like any other.
const plenty = "100000000/100000000/100000000"

// start starts a server on the board's database and returns it when it is ready.
func (w *world) start(ctx context.Context, redisURL string, args ...string) (*service, error) {
	return startProgram(ctx, w.program, w.board.dsn, redisURL, slices.Concat(w.serveArgs, args))
}

// startProgram starts a program of the service on a database and returns it when it is ready.
func startProgram(ctx context.Context, program, dsn, redisURL string, args []string) (*service, error) {
	cmd := exec.Command(program, slices.Concat([]string{
		"serve", "--migrate", "--listen", "127.0.0.1:0", "--key-quota", plenty,
	}, args)...)
	cmd.Env = append(os.Environ(), "LEADERBOARD_MYSQL_DSN="+dsn, "LEADERBOARD_REDIS_URL="+redisURL,
		"LEADERBOARD_KEYS=admin:"+benchKey, "LEADERBOARD_LOG=text")
	logs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &service{pid: cmd.Process.Pid, cmd: cmd}
	if s.addr, err = addressIn(logs); err == nil {
		err = s.awaitReady(ctx)
	}
	if err == nil {
		s.api, err = client.New("http://"+s.addr, client.WithKey(benchKey), client.WithTimeout(5*time.Minute), client.WithMaxWait(0))
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// addressIn reads the log of a server as far as the line that names its address; the rest is dropped.
func addressIn(logs io.Reader) (string, error) {
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "msg=serving addr=http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, logs) }()
			return strings.Fields(rest)[0], nil
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return "", fmt.Errorf("the service ended before it said its address")
}

// awaitReady waits until the server is ready.
func (s *service) awaitReady(ctx context.Context) error {
	waiting, err := client.New("http://"+s.addr, client.WithMaxWait(time.Minute))
	if err != nil {
		return err
	}
	if _, err := waiting.Ready(ctx); err != nil {
		return fmt.Errorf("the service does not become ready: %w", err)
	}
	return nil
}

// stop ends the server; a missing server counts as ended.
func (s *service) stop() {
	if s == nil {
		return
	}
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

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
