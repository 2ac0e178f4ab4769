package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "github.com/go-sql-driver/mysql" // the yardsticks speak SQL without the store

	"leaderboard/internal/devserver"
)

const (
	benchBoard = "bench"
	benchKey   = "bench-admin-key"
	fillers    = 4
)

// world is what the measurements run against: both servers with their durable defaults, the service as a process of
// its own, and one board that holds `members` entries.
type world struct {
	dir     string
	members int
	addr    string // of the service
	server  *exec.Cmd
	pid     int
	db      *sql.DB
	stops   []func()
}

// newWorld starts everything; program is the path of the leaderboard binary.
func newWorld(ctx context.Context, program, dir string, members int) (*world, error) {
	w := &world{dir: dir, members: members}
	if err := w.start(ctx, program); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) start(ctx context.Context, program string) error {
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	cfg := devserver.Config{Dir: w.dir, Log: logf}
	mysql, err := devserver.StartMySQL(ctx, cfg)
	if err != nil {
		return err
	}
	w.stops = append(w.stops, func() { _ = mysql.Stop(context.Background()) })
	redis, err := devserver.StartRedis(ctx, cfg)
	if err != nil {
		return err
	}
	w.stops = append(w.stops, func() { _ = redis.Stop(context.Background()) })
	if w.db, err = sql.Open("mysql", mysql.DSN+"?interpolateParams=true"); err != nil {
		return err
	}
	if _, err := w.db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS leaderboard"); err != nil {
		return err
	}
	_ = w.db.Close()
	dsn := mysql.DSN + "leaderboard"
	if w.db, err = sql.Open("mysql", dsn+"?interpolateParams=true"); err != nil {
		return err
	}
	w.db.SetMaxIdleConns(64)
	w.stops = append(w.stops, func() { _ = w.db.Close() })
	if err := w.serve(program, dsn, redis.URL); err != nil {
		return err
	}
	if err := w.awaitReady(ctx); err != nil {
		return err
	}
	return w.fill(ctx)
}

// awaitReady asks until the migrations are done.
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
func (w *world) serve(program, dsn, redisURL string) error {
	w.server = exec.Command(program, "serve", "--migrate", "--listen", "127.0.0.1:0")
	w.server.Env = append(os.Environ(), "LEADERBOARD_MYSQL_DSN="+dsn, "LEADERBOARD_REDIS_URL="+redisURL,
		"LEADERBOARD_KEYS=admin:"+benchKey, "LEADERBOARD_LOG=text")
	logs, err := w.server.StderrPipe()
	if err != nil {
		return err
	}
	if err := w.server.Start(); err != nil {
		return err
	}
	w.pid = w.server.Process.Pid
	w.stops = append(w.stops, func() { _ = w.server.Process.Signal(os.Interrupt); _ = w.server.Wait() })
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

// fill brings the board to its size through the API; members that are there already stay.
func (w *world) fill(ctx context.Context) error {
	if err := w.call(ctx, http.MethodPut, "/v1/boards/"+benchBoard, `{"policy":"latest","top_n":10000}`, nil); err != nil {
		return err
	}
	var have int
	err := w.db.QueryRowContext(ctx, "SELECT COALESCE(MAX(p.entry_count), 0) FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = ?", benchBoard).Scan(&have)
	if err != nil {
		return err
	}
	start, next := time.Now(), make(chan int)
	var wg sync.WaitGroup
	errs := make(chan error, fillers)
	for range fillers {
		wg.Go(func() {
			for from := range next {
				if err := w.call(ctx, http.MethodPost, "/v1/boards/"+benchBoard+"/scores", string(batch(from, 1000)), nil); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	for from := have / 1000 * 1000; from < w.members; from += 1000 {
		select {
		case next <- from:
		case err := <-errs:
			close(next)
			wg.Wait()
			return err
		}
	}
	close(next)
	wg.Wait()
	fmt.Fprintf(os.Stderr, "board of %d members ready, %.0f rows/s\n", w.members, float64(w.members-have)/time.Since(start).Seconds())
	return nil
}

// batch is the body of a submit for n members from the given number on.
func batch(from, n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"entries":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"member":"m%07d","score":%d}`, from+i, randomScore())
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

// randomScore is skewed towards small scores and has many ties.
func randomScore() int64 {
	f := rand.ExpFloat64()
	return int64(f * 100_000)
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

func (w *world) close() {
	for i := len(w.stops) - 1; i >= 0; i-- {
		w.stops[i]()
	}
}

func defaultDir() string { return filepath.Join(".leaderboard", "bench") }
