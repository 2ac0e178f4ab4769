// Package cli is the command line of leaderboard: commands that serve, commands that work on MySQL and Redis directly, and
// commands that ask a server.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/redis/go-redis/v9"
)

// The exit statuses.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3
)

// Main is the program: it runs the command line of the process and returns the exit status.
func Main() int {
	redis.SetLogger(silence{}) // its errors are returned too, and logged once by who gets them
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for an orderly end; the second one finds the default behaviour and ends us at once.
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args, stdio{os.Stdin, os.Stdout, os.Stderr}, os.Getenv)
}

// silence is a logger that drops what it gets.
type silence struct{}

// Printf drops a line.
func (silence) Printf(context.Context, string, ...any) {}

// stdio are the streams of a run: answers go to out, everything else to err.
type stdio struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// run is the program without its process: args as in os.Args, env as os.Getenv. It returns the exit status, ends
// early when ctx does, and has said on std.err what was wrong.
func run(ctx context.Context, args []string, std stdio, env func(string) string) int {
	p := &program{stdio: std, env: env}
	err := p.command().Run(ctx, args)
	if err == nil {
		return exitOK
	}
	var failed *failure
	switch {
	case !errors.As(err, &failed):
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(std.err, "leaderboard: interrupted")
		return exitFailed
	case errors.Is(err, errRefused):
		return exitRefused
	case errors.Is(err, errQuiet):
		return exitFailed
	default:
		fmt.Fprintf(std.err, "leaderboard: %s\n", failed.err)
		return exitFailed
	}
	fmt.Fprintf(std.err, "leaderboard: %s\n", err)
	if hint := usageHint(err); hint != "" {
		fmt.Fprintln(std.err, hint)
	}
	return exitUsage
}

// errQuiet is a failure that the command has reported already, in its answer.
var errQuiet = errors.New("reported")

// errRefused is an import that is complete but for lines that were refused; it has said which.
var errRefused = errors.New("lines were refused")

// failure marks an error that is not about usage: the command was understood and did not work.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usageError is a command line or environment that asks for something impossible.
type usageError struct {
	command string // full name of the command, for the hint
	detail  string
}

func (u *usageError) Error() string { return u.detail }

// usagef says what is wrong with the command line and what would be right.
func usagef(format string, args ...any) error {
	return &usageError{detail: fmt.Sprintf(format, args...)}
}

// usageHint is the line that tells where help is.
func usageHint(err error) string {
	var usage *usageError
	if errors.As(err, &usage) && usage.command != "" {
		return fmt.Sprintf("Try: %s --help", usage.command)
	}
	return ""
}
