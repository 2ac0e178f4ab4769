package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	windowMembers = 20_000
	windowRounds  = 5
	windowFill    = 1000 // entries of one request
)

// windowBoards are the boards of the section: rules by name. Both keep the latest score, so that every row changes.
func windowBoards() map[string]string {
	return map[string]string{
		"windows-one": `{"policy":"latest"}`,
		"windows-eight": `{"policy":"latest","windows":["all_time","hour","day","week","month","quarter","year","season"],` +
			`"seasons":[{"name":"ever","starts_at":"1970-01-02T00:00:00Z","ends_at":"9999-01-01T00:00:00Z"}]}`,
	}
}

// measureWindows holds submits to a board with all windows against those to a board with one. Both boards are made for
// it and deleted afterwards: the periods of an earlier run may be over.
func (w *world) measureWindows(ctx context.Context, rep *report, _ io.Writer) error {
	for name, rules := range windowBoards() {
		if err := w.call(ctx, http.MethodPut, "/v1/boards/"+name, rules, nil); err != nil {
			return err
		}
		defer w.call(ctx, http.MethodDelete, "/v1/boards/"+name, "", nil) //nolint:errcheck // the next run makes the same
		if err := w.fillOverHTTP(ctx, name); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		what, goal string
		conns, n   int
	}{
		{"single-entry submits, 128 connections", "≥ 0.2", submitConns, 1},
		{"submits of 500 entries, 4 connections", "", batchConns, bulkRows}, // nothing but rows: 1/8 is par
	} {
		eight := w.submitsTo("/v1/boards/windows-eight", windowMembers, c.conns, c.n)
		one := w.submitsTo("/v1/boards/windows-one", windowMembers, c.conns, c.n)
		a, b, ratio, err := paired(windowRounds, eight, one)
		if err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		rep.add(row{
			What: c.what + ", eight windows", Here: thousands(a) + " entries/s", Yardstick: "one window: " + thousands(b) + " entries/s",
			Ratio: ratio, Goal: c.goal,
		})
	}
	return nil
}

// fillOverHTTP gives every member of a board its first score.
func (w *world) fillOverHTTP(ctx context.Context, name string) error {
	for from := 0; from < windowMembers; from += windowFill {
		var body strings.Builder
		body.WriteString(`{"entries":[`)
		for i := range windowFill {
			if i > 0 {
				body.WriteByte(',')
			}
			fmt.Fprintf(&body, `{"member":"%s","score":%d}`, string(appendMember(nil, from+i)), randomScore())
		}
		body.WriteString(`]}`)
		if err := w.call(ctx, http.MethodPost, "/v1/boards/"+name+"/scores", body.String(), nil); err != nil {
			return err
		}
	}
	return nil
}
