package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"leaderboard/internal/terminal"
)

// yesFlag is for commands that delete for good.
func yesFlag(at *bool) cli.Flag {
	return &cli.BoolFlag{Name: "yes", Usage: "do it without asking, as scripts have to", Destination: at}
}

// errDeclined means that the user answered no.
var errDeclined = errors.New("nothing was done")

// confirm asks on the terminal whether to continue. Without a terminal --yes is required. An answer that does not begin with y
// means no, like the end of the input.
func (p *program) confirm(ctx context.Context, yes bool, question string) error {
	if yes {
		return nil
	}
	if !terminal.IsTerminal(p.in) {
		return usagef("standard input is no terminal to ask on: --yes does it without asking")
	}
	fmt.Fprintf(p.err, "%s [y/N] ", question)
	answered := make(chan string, 1)
	go func() { // so that a signal ends the wait
		line, _ := bufio.NewReader(p.in).ReadString('\n')
		answered <- line
	}()
	select {
	case answer := <-answered:
		if strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y") {
			return nil
		}
		return errDeclined
	case <-ctx.Done():
		fmt.Fprintln(p.err)
		return ctx.Err()
	}
}
