package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	"leaderboard/client"
	"leaderboard/internal/terminal"
)

// health asks the server of this machine whether it is ready: the check of a container.
func (p *program) health(ctx context.Context, cfg config, _ []string) error {
	c, err := client.New("http://"+reachable(cfg.Listen), client.WithTimeout(cfg.timeout), client.WithMaxWait(0))
	if err != nil {
		return err
	}
	state, err := c.Ready(ctx)
	if err != nil && state.Status == "" {
		if _, away := errors.AsType[*url.Error](err); away || errors.Is(err, client.ErrTimeout) {
			return fmt.Errorf("not ready: %w", err)
		}
		return fmt.Errorf("http://%s is no leaderboard server", reachable(cfg.Listen))
	}
	line := []string{state.Status}
	for _, name := range slices.Sorted(maps.Keys(state.Checks)) {
		line = append(line, name+": "+terminal.Printable(state.Checks[name]))
	}
	if err != nil {
		return errors.New(strings.Join(line, ", "))
	}
	_, err = fmt.Fprintln(p.out, strings.Join(line, ", "))
	return err
}

// reachable turns an address to listen on into one to connect to.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if ip := net.ParseIP(host); host == "" || (ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
