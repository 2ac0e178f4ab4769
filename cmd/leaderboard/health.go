package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
)

// health asks the server of this machine whether it is ready: the check of a container.
func (p *program) health(ctx context.Context, cfg config, _ []string) error {
	ctx, cancel := context.WithTimeout(ctx, cfg.timeout)
	defer cancel()
	target := "http://" + reachable(cfg.Listen) + "/readyz"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return fmt.Errorf("ask %s: %w", target, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	defer resp.Body.Close()
	var state struct {
		Status string            `json:"status"`
		Checks map[string]string `json:"checks"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, maxAnswer)).Decode(&state); err != nil {
		return fmt.Errorf("%s is no leaderboard server", target)
	}
	line := []string{state.Status}
	for _, name := range slices.Sorted(maps.Keys(state.Checks)) {
		line = append(line, name+": "+printable(state.Checks[name]))
	}
	if resp.StatusCode != http.StatusOK {
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
