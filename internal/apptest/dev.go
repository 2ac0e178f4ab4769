package apptest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"leaderboard/internal/child"
)

// Dev is a run of the program's own `dev`: a server with private MySQL and Redis and the demo.
type Dev struct {
	URL, Key string // Key is an admin key
	Game     string // where visitors play
	Dir      string // of the program and its data; gone after Stop

	process *child.Process
}

// startLimit bounds the start: the program is built, the servers may have to be fetched.
const startLimit = 5 * time.Minute

// StartDev builds the program of the module in folder root and runs its `dev` with more arguments, at a free address.
func StartDev(root string, args ...string) (*Dev, error) {
	dir, err := os.MkdirTemp("", "leaderboard-dev-")
	if err != nil {
		return nil, err
	}
	d := &Dev{Dir: dir}
	program := filepath.Join(dir, "leaderboard")
	build := exec.Command("go", "build", "-o", program, "./cmd/leaderboard")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the program: %w\n%s", err, out)
	}
	args = append([]string{"dev", "--listen", "127.0.0.1:0", "--dir", filepath.Join(dir, "data"), "--log-level", "warn"}, args...)
	cmd := exec.Command(program, args...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "LEADERBOARD_") || strings.HasPrefix(v, "LEADERBOARD_DEV_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Stderr = os.Stderr
	said := &devOutput{dev: d, up: make(chan struct{})}
	cmd.Stdout = said
	if d.process, err = child.Start(cmd, syscall.SIGTERM); err != nil {
		return nil, err
	}
	select {
	case <-said.up:
		return d, nil
	case <-time.After(startLimit):
		return nil, errors.Join(fmt.Errorf("the server is not up after %s; it said: %s", startLimit, said.text.String()), d.Stop())
	}
}

// devOutput reads address and key from the output of dev.
type devOutput struct {
	dev  *Dev
	text bytes.Buffer
	up   chan struct{} // closed when both are there
}

// Write reads the lines that are whole.
func (o *devOutput) Write(p []byte) (int, error) {
	o.text.Write(p)
	for o.dev.Key == "" {
		line, err := o.text.ReadString('\n')
		if err != nil {
			o.text.WriteString(line) // its end is to come
			break
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch value = strings.TrimSpace(value); name {
		case "The leaderboard is up":
			o.dev.URL = value
		case "A game to play":
			o.dev.Game, _, _ = strings.Cut(value, " ")
		case "Admin key":
			o.dev.Key = value
			close(o.up)
		}
	}
	return len(p), nil
}

// Stop ends the server as Ctrl-C does, and deletes its data.
func (d *Dev) Stop() error {
	if err := d.process.Signal(os.Interrupt); err != nil {
		return err
	}
	return errors.Join(d.process.Wait(), os.RemoveAll(d.Dir))
}
