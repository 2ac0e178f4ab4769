package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"leaderboard/client"
)

const (
	readConns   = 32
	readSeconds = 3
	readRounds  = 3
	// steadySubmits a second change the board while it is read.
	steadySubmits = 50
)

// measureRead holds GETs of the paths against a bare net/http handler that returns the bytes of the first one.
func (w *world) measureRead(ctx context.Context, rep *report, what, goal string, paths []string) error {
	answer, err := w.api.Do(ctx, client.Request{Method: http.MethodGet, Path: paths[0]})
	if err != nil {
		return err
	}
	bareAddr, stop, err := startBare(ctx, w.dir, answer.Body)
	if err != nil {
		return err
	}
	defer stop()
	requests := make([][]byte, len(paths))
	for i, path := range paths {
		requests[i] = fmt.Appendf(nil, bareTemplate, path)
	}
	side := func(addr string) func() (float64, error) {
		return func() (float64, error) {
			result := load{addr: addr, conns: readConns, length: w.seconds(readSeconds), request: func(_, _ int, buf []byte) []byte {
				return append(buf, requests[rand.IntN(len(requests))]...)
			}}.run()
			if result.failed > 0 {
				return 0, fmt.Errorf("%s: %d of %d failed: %s", what, result.failed, result.answers, result.firstFail)
			}
			return result.perSecond(), nil
		}
	}
	ours, bare, ratio, err := paired(readRounds, side(w.addr), side(bareAddr))
	if err != nil {
		return err
	}
	rep.add(row{What: what, Here: thousands(ours) + "/s", Yardstick: "bare handler, same bytes: " + thousands(bare) + "/s", Ratio: ratio, Goal: goal})
	return nil
}

// memberPaths returns the paths of the best n members.
func (w *world) memberPaths(ctx context.Context, n int) ([]string, error) {
	var paths []string
	for e, err := range w.api.Entries(ctx, benchBoard, client.TopQuery{Limit: 1000}) {
		if err != nil {
			return nil, err
		}
		if paths = append(paths, boardPath+"/members/"+e.Member); len(paths) == n {
			break
		}
	}
	return paths, nil
}

// anyMemberPaths returns the paths of n members, each any of the board.
func (w *world) anyMemberPaths(n int) []string {
	paths := make([]string, n)
	for i := range paths {
		paths[i] = boardPath + "/members/" + randomMember(w.members)
	}
	return paths
}

func (w *world) measureReads(ctx context.Context, rep *report, _ io.Writer) error {
	best, err := w.memberPaths(ctx, 10_000)
	if err != nil {
		return err
	}
	for _, m := range []struct {
		what, goal string
		paths      []string
	}{
		{"page of the top 10", "≥ 0.9", []string{boardPath + "/top?limit=10"}},
		{"page of the top 100", "≥ 0.9", []string{boardPath + "/top?limit=100"}},
		{"rank of a random member of the top 10,000", "≥ 0.6", best},
		{"rank of a random member of the whole board", "≥ 0.3", w.anyMemberPaths(100_000)},
	} {
		if err := w.measureRead(ctx, rep, m.what, m.goal, m.paths); err != nil {
			return err
		}
	}
	return w.whileWritten(ctx, benchBoard, w.members, func() error {
		return w.measureRead(ctx, rep, "the same of the top 10,000, while the board changes 50 times a second", "≥ 0.6", best)
	})
}

// whileWritten runs fn while single submits to a board arrive at a steady rate, so that no answer can be kept for long.
// They go on while the yardstick runs too: both sides pay for them.
func (w *world) whileWritten(ctx context.Context, board string, members int, fn func() error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	written := make(chan error, 1)
	go func() { written <- w.submitSteadily(ctx, board, members) }()
	err := fn()
	cancel()
	return errors.Join(err, <-written)
}

func (w *world) submitSteadily(ctx context.Context, board string, members int) error {
	tick := time.NewTicker(time.Second / steadySubmits)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := w.submit(ctx, board, randomEntries(members, 1))
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("submit between reads: %w", err)
		}
	}
}
