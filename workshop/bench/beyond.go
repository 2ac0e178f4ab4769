package main

import (
	"context"
	"fmt"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

const (
	beyondTopN   = 1000 // entries of the copy in Redis: too few to matter
	crowdConns   = 512
	crowdSeconds = 10
	crowdTail    = time.Second
	crowdStale   = 0.001
)

// measureBeyond compares reads of a board that is not in memory, and whose copy in Redis has the best thousand, with the bare
// handler, and then asks with more connections than can be served at once.
func (w *world) measureBeyond(ctx context.Context, rep *report) error {
	if err := w.serve(ctx, withoutMemory()...); err != nil {
		return err
	}
	if err := w.keepTop(ctx, beyondTopN); err != nil {
		return err
	}
	err := w.measure(ctx, rep, []question{
		{"rank of a random member of all", memberRequest(w.members), "≥ 0.1", ""},
		{"around ±5 of a random member", aroundRequest(w.members), "≥ 0.05", ""},
		{"page of 100 at a random depth", pageRequest(w.members, pageOf), "≥ 0.05", ""},
	})
	if err != nil {
		return err
	}
	if err := w.measureCrowd(rep); err != nil {
		return err
	}
	return w.keepTop(ctx, benchTopN)
}

// keepTop lets the copy in Redis hold the best n entries.
func (w *world) keepTop(ctx context.Context, n int) error {
	if _, _, err := w.api.PutBoard(ctx, benchBoard, benchRules(n)); err != nil {
		return err
	}
	run, finished, err := w.api.Rebuild(ctx, benchBoard, client.RebuildOptions{Kind: leaderboard.RunKindFull, Wait: time.Minute})
	if err == nil && (!finished || run.State != leaderboard.RunStateDone) {
		err = fmt.Errorf("the copy of the best %d is %s", n, run.State)
	}
	return err
}

// measureCrowd asks for slices around members and for deep pages, half and half.
func (w *world) measureCrowd(rep *report) error {
	around, page := aroundRequest(w.members), pageRequest(w.members, pageOf)
	r := load{addrs: []string{w.addr}, conns: crowdConns, length: w.seconds(crowdSeconds), request: func(conn, i int, buf []byte) []byte {
		if (conn+i)%2 == 0 {
			return around(conn, i, buf)
		}
		return page(conn, i, buf)
	}}.run()
	if r.answers == 0 {
		return fmt.Errorf("no answer to so many: %s", r.firstFail)
	}
	if r.failed > 0 {
		fmt.Fprintln(w.log, "first failure:", r.firstFail)
	}
	stale := float64(r.stale) / float64(r.answers)
	rep.add(row{
		what: fmt.Sprintf("%d connections asking for around and deep pages", crowdConns),
		here: fmt.Sprintf("%s/s, p50 %s, p99 %s; of %s answers %s refused, %d other errors, %s stale", thousands(r.perSecond()),
			inMS(r.quantile(0.5)), inMS(r.quantile(0.99)), thousands(r.answers), thousands(r.refused), r.failed-r.refused, thousands(r.stale)),
		goal: "0 refused, p99 < 1 s, ≤ 0.1 % stale",
		met:  yesNo(r.failed == 0 && r.quantile(0.99) < crowdTail && stale <= crowdStale),
	})
	return nil
}
