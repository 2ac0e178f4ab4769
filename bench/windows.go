package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"leaderboard"
)

const (
	windowMembers = 20_000
	windowRounds  = 5
	windowFill    = 1000 // entries of one request
)

// windowBoards returns the boards of the section: rules by name. Both keep the latest score, so that every row changes.
func windowBoards() map[string]leaderboard.Rules {
	ever := leaderboard.SeasonRule{Name: "ever", StartsAt: microsOf(1971), EndsAt: microsOf(9999)}
	return map[string]leaderboard.Rules{
		"windows-one": {Policy: leaderboard.PolicyLatest},
		"windows-eight": {
			Policy: leaderboard.PolicyLatest, Seasons: []leaderboard.SeasonRule{ever},
			Windows: []leaderboard.Window{
				leaderboard.WindowAllTime, leaderboard.WindowHour, leaderboard.WindowDay, leaderboard.WindowWeek,
				leaderboard.WindowMonth, leaderboard.WindowQuarter, leaderboard.WindowYear, leaderboard.WindowSeason,
			},
		},
	}
}

// microsOf returns the beginning of a year.
func microsOf(year int) leaderboard.Micros {
	return leaderboard.MicrosOf(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
}

// measureWindows holds submits to a board with all windows against those to a board with one. Both boards are made for
// it and deleted afterwards: the periods of an earlier run may be over.
func (w *world) measureWindows(ctx context.Context, rep *report, _ io.Writer) error {
	for name, rules := range windowBoards() {
		if _, _, err := w.api.PutBoard(ctx, name, rules); err != nil {
			return err
		}
		defer w.api.DeleteBoard(ctx, name) //nolint:errcheck // the next run makes the same
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
		entries := make([]leaderboard.Submission, windowFill)
		for i := range entries {
			entries[i] = leaderboard.Submission{Member: string(appendMember(nil, from+i)), Score: randomScore()}
		}
		if err := w.submit(ctx, name, entries); err != nil {
			return err
		}
	}
	return nil
}
