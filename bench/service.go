package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"leaderboard/client"
)

// service is the server as a process of its own.
type service struct {
	addr string
	pid  int
	api  *client.Client // sends each request once: an answer that is an error ends the measurement
	cmd  *exec.Cmd
}

// plenty is a quota that nobody uses up, but that is counted like any other.
const plenty = "100000000"

// startService starts a server and returns it when it is ready.
func startService(ctx context.Context, program, dsn, redisURL string, args ...string) (*service, error) {
	cmd := exec.Command(program, append([]string{
		"serve", "--migrate", "--listen", "127.0.0.1:0", "--public-metrics",
		"--key-requests", plenty, "--key-rows", plenty, "--key-heavy", plenty,
	}, args...)...)
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
		s.api, err = client.New("http://"+s.addr, client.WithKey(benchKey), client.WithTimeout(5*time.Minute), client.WithMaxWait(0))
	}
	if err == nil {
		err = s.awaitReady(ctx)
	}
	if err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

// addressIn reads the log of a server as far as the line that names its address; what follows is dropped.
func addressIn(logs io.Reader) (string, error) {
	lines := bufio.NewScanner(logs)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "addr=http://"); ok {
			go func() { _, _ = io.Copy(io.Discard, logs) }()
			return strings.Fields(rest)[0], nil
		}
		fmt.Fprintln(os.Stderr, lines.Text())
	}
	return "", fmt.Errorf("the service ended before it said its address")
}

// awaitReady waits until the server is.
func (s *service) awaitReady(ctx context.Context) error {
	patient, err := client.New("http://"+s.addr, client.WithMaxWait(time.Minute))
	if err != nil {
		return err
	}
	if _, err := patient.Ready(ctx); err != nil {
		return fmt.Errorf("the service does not become ready: %w", err)
	}
	return nil
}

// stop ends the server; none is as good as one that has ended.
func (s *service) stop() {
	if s == nil {
		return
	}
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// localInRow random members in a row are answered from memory when the board is resident: so many are never among
// the answers that are kept otherwise.
const localInRow = 50

// awaitResident asks for random members of a board until they are answered from memory, and returns how long that
// took; ok says whether it came to that before the limit.
func (s *service) awaitResident(ctx context.Context, board string, members int, limit time.Duration) (took time.Duration, ok bool, err error) {
	w, err := dial(s.addr, limit+answerLimit)
	if err != nil {
		return 0, false, err
	}
	defer w.close()
	request := memberRequest(board, members)
	var buf []byte
	start := time.Now()
	first := start // of the answers in a row
	for row := 0; row < localInRow; row++ {
		if time.Since(start) > limit || ctx.Err() != nil {
			return limit, false, ctx.Err()
		}
		buf = request(0, 0, buf[:0])
		said, err := w.skim(buf)
		if err != nil {
			return 0, false, err
		}
		if !said.local {
			row = -1
			first = time.Now()
		}
	}
	return first.Sub(start), true, nil
}

// loadTime is the metric of how long the loading of periods into memory took.
const loadTime = "leaderboard_resident_load_duration_seconds_sum"

// loading returns how long the server has been loading periods into memory so far, decisions not included.
func (s *service) loading(ctx context.Context) (time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	return loadTimeIn(answer.Body)
}

// loadTimeIn adds up the metric in the text of all metrics, over its labels.
func loadTimeIn(text io.Reader) (time.Duration, error) {
	total := 0.0
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) == 2 && strings.HasPrefix(fields[0], loadTime) {
			seconds, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				return 0, err
			}
			total += seconds
		}
	}
	return time.Duration(total * float64(time.Second)), lines.Err()
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
