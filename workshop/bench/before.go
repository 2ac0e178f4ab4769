package main

import (
	"context"
	"fmt"
	"strings"

	"leaderboard/leaderboard"
)

const (
	beforeConns   = 64
	beforeRounds  = 7
	beforeSeconds = 2
)

// measureBefore compares this version with an earlier version: the same board, without rules that the earlier version does
// not know, in a separate database and Redis for each.
func (w *world) measureBefore(ctx context.Context, rep *report) error {
	if err := w.growPool(ctx, 2*w.members, 1.0/3); err != nil {
		return err
	}
	here, err := w.startBeside(ctx, w.program, "beside_here", 1)
	defer here.stop()
	if err != nil {
		return err
	}
	before, err := w.startBeside(ctx, w.before, "beside_before", 2)
	defer before.stop()
	if err != nil {
		return err
	}
	for _, c := range []struct {
		what, unit string
		conns, of  int // connections, and the requests that one counts for
		request    requester
	}{
		{"single submits", " rows/s", submitConns, 1, submitRequest(benchBoard, w.members, 1)},
		{"submits of 500 entries", " rows/s", batchConns, bulkRows, submitRequest(benchBoard, w.members, bulkRows)},
		{"page of the top 100", "/s", beforeConns, 1, topRequest(pageOf)},
		{"rank of a random member", "/s", beforeConns, 1, memberRequest(w.members)},
	} {
		asked := func(s *service) func() (float64, error) {
			return func() (float64, error) {
				result := load{addrs: []string{s.addr}, conns: c.conns, length: w.seconds(beforeSeconds), request: c.request}.run()
				return result.perSecond() * float64(c.of), result.failure()
			}
		}
		a, b, ratio, err := paired(beforeRounds, asked(here), asked(before))
		if err != nil {
			return fmt.Errorf("%s: %w", c.what, err)
		}
		rep.add(row{
			what: fmt.Sprintf("%s, %d connections", c.what, c.conns), here: thousands(a) + c.unit,
			yardstick: "before: " + thousands(b) + c.unit, ratio: ratio, goal: "≥ 0.95",
		})
	}
	return nil
}

// startBeside starts a program on an empty database, fills the board there and waits until it is in memory. The server must be
// stopped, also after an error.
func (w *world) startBeside(ctx context.Context, program, database string, redisDB int) (*service, error) {
	for _, q := range []string{"DROP DATABASE IF EXISTS ", "CREATE DATABASE "} {
		if _, err := w.db.ExecContext(ctx, q+database); err != nil {
			return nil, err
		}
	}
	redisURL := fmt.Sprintf("%s/%d", strings.TrimSuffix(w.redis.URL, "/0"), redisDB)
	s, err := startProgram(ctx, program, w.mysql.DSN+database, redisURL, w.serveArgs)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	if _, _, err := s.api.PutBoard(ctx, benchBoard, leaderboard.Rules{Policy: leaderboard.PolicyLatest, Resident: leaderboard.ResidentAlways}); err != nil {
		return s, err
	}
	if err := s.fillOverHTTP(benchBoard, w.members, ""); err != nil {
		return s, err
	}
	return s, w.awaitLocal(ctx, s, memberRequest(w.members), w.seconds(residentLimit))
}
