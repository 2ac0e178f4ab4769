package client_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/leaks"
)

// The tests and Examples of this package ask one real server: the program's own `dev`, with private MySQL and Redis.

// dev is that server.
type dev struct {
	dir, url, key string
	cmd           *exec.Cmd
}

// server starts the server when it is first asked for. Examples receive no testing.TB, so it has to be here.
var (
	started atomic.Bool
	server  = sync.OnceValues(func() (*dev, error) { started.Store(true); return startDev() })
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	code := m.Run()
	if started.Load() {
		if d, err := server(); err == nil {
			if err := d.stop(); err != nil {
				fmt.Fprintln(os.Stderr, "client:", err)
				return 1
			}
		}
	}
	return leaks.Check(code, os.Stderr)
}

// startLimit bounds the start: the program is built, the servers may have to be fetched.
const startLimit = 5 * time.Minute

func startDev() (*dev, error) {
	dir, err := os.MkdirTemp("", "leaderboard-client-")
	if err != nil {
		return nil, err
	}
	d := &dev{dir: dir}
	program := filepath.Join(dir, "leaderboard")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/leaderboard").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	d.cmd = exec.Command(program, "dev", "--listen", "127.0.0.1:0", "--dir", filepath.Join(dir, "data"), "--members", "100", "--log-level", "warn")
	d.cmd.SysProcAttr = diesWithParent()
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LEADERBOARD_") || strings.HasPrefix(v, "LEADERBOARD_DEV_") {
			d.cmd.Env = append(d.cmd.Env, v)
		}
	}
	d.cmd.Stderr = os.Stderr
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	return d, d.awaitUp(out)
}

// awaitUp reads address and key from what dev says when it is up.
func (d *dev) awaitUp(out io.Reader) error {
	up := make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			name, value, _ := strings.Cut(strings.TrimSpace(lines.Text()), ":")
			switch value = strings.TrimSpace(value); name {
			case "The leaderboard is up":
				d.url = value
			case "Admin key":
				d.key = value
				up <- nil
			}
		}
		up <- errors.New("the server ended")
	}()
	select {
	case err := <-up:
		return err
	case <-time.After(startLimit):
		return errors.Join(fmt.Errorf("the server is not up after %s", startLimit), d.stop())
	}
}

// stop ends the server as Ctrl-C does.
func (d *dev) stop() error {
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	return errors.Join(d.cmd.Wait(), os.RemoveAll(d.dir))
}

// admin returns a client of the server with its admin key, unless options give it another.
func admin(t testing.TB, options ...client.Option) *client.Client {
	t.Helper()
	d, err := server()
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(d.url, append([]client.Option{client.WithKey(d.key), client.WithTimeout(time.Minute)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// exampleClient is admin for Examples, which have no way to fail but by their output.
func exampleClient() (context.Context, *client.Client) {
	d, err := server()
	if err != nil {
		panic(err)
	}
	c, err := client.New(d.url, client.WithKey(d.key), client.WithTimeout(time.Minute))
	if err != nil {
		panic(err)
	}
	return context.Background(), c
}
