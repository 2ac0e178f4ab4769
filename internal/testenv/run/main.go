// Command run starts the servers that tests need, once, and runs a command that
// finds their addresses in its environment:
//
//	go run ./internal/testenv/run go test -race ./...
//
// With -in-memory before the command, temporary files are in memory where the machine has a file system for them, like the
// data of all servers: not for runs of hours, and not for measurements, since no flush takes time there.
//
// It ends with the command's exit status after stopping the servers that it started.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"leaderboard/internal/devserver"
	"leaderboard/internal/testenv"
)

// stopLimit bounds the orderly end. Processes that are left then are killed.
const stopLimit = 30 * time.Second

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(command []string, stdout, stderr io.Writer) int {
	if len(command) > 0 && command[0] == "-in-memory" {
		stayInMemory(memory, room)
		command = command[1:]
	}
	if len(command) == 0 {
		fmt.Fprintln(stderr, "usage: run [-in-memory] COMMAND [ARGUMENT ...]")
		return 2
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	dir, err := testenv.NewRunDir()
	if err != nil {
		fmt.Fprintln(stderr, "test servers:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	servers, err := provideAll(ctx, dir, stderr)
	defer stopAll(servers, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "test servers:", err)
		return 1
	}
	fmt.Fprintf(stderr, "test servers ready after %s:", time.Since(began).Round(10*time.Millisecond))
	for _, s := range servers {
		fmt.Fprintf(stderr, " %s (%s)", s.Kind, s.Origin)
	}
	fmt.Fprintln(stderr)
	return runCommand(ctx, command, servers, stdout, stderr)
}

const (
	memory = "/dev/shm" // files that need no disk, where the machine has it
	room   = 2 << 30    // bytes that must be free there; make test takes a quarter of them
)

// stayInMemory has temporary files made in dir, if it has the room, and so the files of tests and all of their servers: on
// a disk a database takes two to three times as long to make. The files of the go tool stay where they are. With TMPDIR set
// nothing changes.
func stayInMemory(dir string, room int64) {
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(dir, &fs) != nil || int64(fs.Bavail)*fs.Bsize < room {
		return
	}
	if os.Getenv("GOTMPDIR") == "" {
		os.Setenv("GOTMPDIR", os.TempDir())
	}
	os.Setenv("TMPDIR", dir)
}

// provideAll gets one server of each kind, at the same time. With an error it returns the servers that did start.
func provideAll(ctx context.Context, dir string, stderr io.Writer) ([]testenv.Provided, error) {
	kinds := []devserver.Kind{devserver.KindMySQL, devserver.KindMariaDB, devserver.KindRedis}
	all := make([]testenv.Provided, len(kinds))
	errs := make([]error, len(kinds))
	var mu sync.Mutex
	log := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(stderr, format+"\n", args...)
	}
	var wg sync.WaitGroup
	for i, kind := range kinds {
		wg.Go(func() {
			all[i], errs[i] = testenv.Provide(ctx, kind, dir, log)
		})
	}
	wg.Wait()
	var started []testenv.Provided
	for i := range all {
		if errs[i] == nil {
			started = append(started, all[i])
		}
	}
	return started, errors.Join(errs...)
}

func stopAll(servers []testenv.Provided, stderr io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	var wg sync.WaitGroup
	for _, s := range servers {
		wg.Go(func() {
			if err := s.Stop(ctx); err != nil {
				fmt.Fprintf(stderr, "stop %s: %s\n", s.Kind, err)
			}
		})
	}
	wg.Wait()
}

// runCommand runs the command with the servers' addresses and returns its exit
// status. A signal to us is passed on, and the command may end in its own way.
func runCommand(ctx context.Context, command []string, servers []testenv.Provided, stdout, stderr io.Writer) int {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopLimit
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	cmd.Env = os.Environ()
	for _, s := range servers {
		cmd.Env = append(cmd.Env, testenv.Variable(s.Kind)+"="+s.Address)
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	fmt.Fprintf(stderr, "%s: %s\n", command[0], err)
	return 1
}
