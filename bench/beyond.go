package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"leaderboard"
	"leaderboard/client"
)

const (
	beyondTopN   = 1000 // entries of the copy in Redis: too few to matter
	crowdConns   = 512
	crowdSeconds = 10
	crowdTail    = time.Second
	crowdStale   = 0.001
)

// measureBeyond holds reads of a board that is not resident, and whose copy in Redis holds the best thousand, against
// the bare handler, and then asks with more connections than can be served at once.
func (w *world) measureBeyond(ctx context.Context, rep *report, log io.Writer) (err error) {
	defer w.stopService() // the next section has it as it is
	if err := w.serve(ctx, w.notResident()...); err != nil {
		return err
	}
	if err := w.keepTop(ctx, beyondTopN); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			err = w.keepTop(ctx, benchTopN)
		}
	}()
	questions := []question{
		{"rank of a random member of all", memberRequest(benchBoard, w.members), goals{ratio: 0.1}},
		{"around ±5 of a random member", aroundRequest(benchBoard, w.members), goals{ratio: 0.05}},
		{"page of 100 at a random depth", pageRequest(benchBoard, w.members, pageOf), goals{ratio: 0.05}},
	}
	if err := w.measureQuestions(ctx, rep, log, questions, nil); err != nil {
		return err
	}
	return w.measureCrowd(rep, log)
}

// notResident are the arguments of a server that keeps no board in memory.
func (w *world) notResident() []string { return strings.Fields(w.residencyOff) }

// keepTop lets the copy in Redis hold the best n entries.
func (w *world) keepTop(ctx context.Context, n int) error {
	if _, _, err := w.api.PutBoard(ctx, benchBoard, benchRules(n)); err != nil {
		return err
	}
	run, finished, err := w.api.Rebuild(ctx, benchBoard, client.RebuildOptions{Kind: leaderboard.RunKindFull, Wait: time.Minute})
	if err == nil {
		_, err = tookOf(run, finished)
	}
	return err
}

// measureCrowd asks for slices around members and for deep pages, half and half.
func (w *world) measureCrowd(rep *report, log io.Writer) error {
	around, page := aroundRequest(benchBoard, w.members), pageRequest(benchBoard, w.members, pageOf)
	r := load{addr: w.addr, conns: crowdConns, length: w.seconds(crowdSeconds), request: func(conn, i int, buf []byte) []byte {
		if (conn+i)%2 == 0 {
			return around(conn, i, buf)
		}
		return page(conn, i, buf)
	}}.run()
	if r.answers == 0 {
		return fmt.Errorf("no answer to so many: %s", r.firstFail)
	}
	if r.failed > 0 {
		fmt.Fprintln(log, "first failure:", r.firstFail)
	}
	stale := float64(r.stale) / float64(r.answers)
	rep.add(row{
		What: fmt.Sprintf("%d connections asking for around and deep pages", crowdConns),
		Here: fmt.Sprintf("%s/s, p50 %s, p99 %s; of %s answers %s refused, %d other errors, %s stale", thousands(r.perSecond()),
			inMS(r.quantile(0.5)), inMS(r.quantile(0.99)), thousands(r.answers), thousands(r.refused), r.failed-r.refused, thousands(r.stale)),
		Goal: "0 refused, p99 < 1 s, ≤ 0.1 % stale",
		Met:  yesNo(r.failed == 0 && r.quantile(0.99) < crowdTail && stale <= crowdStale),
	})
	return nil
}
