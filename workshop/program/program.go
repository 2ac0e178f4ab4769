// Package program is shared by the commands that run tests again and again, such as stress and mutants: it builds
// test programs, identifies them, runs them, and keeps notes of the runs.
package program

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// serverVariable names the program that the tests of e2e start; without it each run would build its own.
const serverVariable = "LEADERBOARD_E2E_PROGRAM"

// stopLimit is how long a test program may take to end when it is interrupted.
const stopLimit = 40 * time.Second

// Main runs a command until it is done or interrupted, and ends the process: with 0 when the command found no fault, otherwise
// with 1.
func Main(command func(context.Context) (found int, err error)) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	found, err := command(ctx)
	cancel()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", filepath.Base(os.Args[0]), err)
		found = 1
	}
	os.Exit(min(found, 1))
}

// Program is the test program of a package.
type Program struct {
	Dir  string // of the package, in which the tests are run
	Path string
	Env  []string
	ID   string // changes with its behaviour
}

// Build makes the test program of the package in dir, and for e2e the server next to it. tests names the tests that will be
// run, flags are for go.
func Build(ctx context.Context, dir, path, tests string, flags ...string) (Program, error) {
	p := Program{Dir: dir, Path: path, Env: os.Environ()}
	if _, err := GoTool(ctx, dir, slices.Concat([]string{"test", "-c"}, flags, []string{"-o", path, "."})...); err != nil {
		return p, err
	}
	made := []string{path}
	if filepath.Base(dir) == "e2e" {
		server := filepath.Join(filepath.Dir(path), "server")
		if _, err := GoTool(ctx, filepath.Join(dir, "../.."), slices.Concat([]string{"build", "-buildvcs=false"}, flags, []string{"-o", server, "./cmd/leaderboard"})...); err != nil {
			return p, err
		}
		made, p.Env = append(made, server), append(p.Env, serverVariable+"="+server)
	}
	var err error
	p.ID, err = identify(tests, made)
	return p, err
}

// GoTool runs the go tool in a folder and returns its output.
func GoTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, said.Bytes())
	}
	return string(out), nil
}

// identify hashes which tests are run and the programs that take part.
func identify(tests string, programs []string) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q", tests)
	for _, path := range programs {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		_, err = io.Copy(sum, f)
		f.Close()
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), nil
}

// Run runs the tests that a regular expression names, "" for all, with more arguments, through the command wrap unless it is
// empty. It returns their output, with an [exec.ExitError] when they failed.
func (p *Program) Run(ctx context.Context, tests string, timeout time.Duration, args, wrap []string) (out string, took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout+stopLimit) // the program ends itself at its limit
	defer cancel()
	all := slices.Concat(wrap, []string{p.Path, "-test.timeout=" + timeout.String(), "-test.run=" + tests}, args)
	cmd := exec.CommandContext(ctx, all[0], all[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopLimit
	cmd.Dir, cmd.Env = p.Dir, p.Env
	began := time.Now()
	said, err := cmd.CombinedOutput()
	return string(said), time.Since(began), err
}
