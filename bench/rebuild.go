package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"leaderboard"
	"leaderboard/client"
)

const (
	rebuildRounds = 5
	// rebuildGap is longer than the least time between two builds of one copy, which would be measured otherwise.
	rebuildGap = 1500 * time.Millisecond
)

// measureRebuild holds a forced full rebuild of the top 10,000 against the bare SELECT of these rows.
func (w *world) measureRebuild(ctx context.Context, rep *report, _ io.Writer) error {
	rebuild := func() (float64, error) {
		if err := wait(ctx, rebuildGap); err != nil {
			return 0, err
		}
		run, finished, err := w.api.Rebuild(ctx, benchBoard, client.RebuildOptions{Kind: leaderboard.RunKindFull, Wait: time.Minute})
		if err != nil {
			return 0, err
		}
		took, err := tookOf(run, finished)
		return took.Seconds() * 1000, err
	}
	ours, theirs, ratio, err := paired(rebuildRounds, rebuild, func() (float64, error) { return w.selectTop(ctx) })
	if err != nil {
		return err
	}
	rep.add(row{
		What: "full rebuild of the top 10,000", Here: fmt.Sprintf("%.1f ms", ours),
		Yardstick: fmt.Sprintf("bare SELECT of these rows: %.1f ms", theirs), Ratio: ratio, Goal: "< 10",
	})
	return nil
}

// selectTop reads the rows that the copy holds and returns the milliseconds it took.
func (w *world) selectTop(ctx context.Context) (float64, error) {
	start := time.Now()
	rows, err := w.db.QueryContext(ctx, `SELECT e.member, e.score, e.tiebreak, e.created_time
		FROM entries e WHERE e.period_id = (SELECT p.id FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = ?)
		ORDER BY e.score DESC, e.tiebreak DESC, e.created_time, e.member LIMIT 10000`, benchBoard)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	var member, created []byte
	var score, tiebreak int64
	for rows.Next() {
		if err := rows.Scan(&member, &score, &tiebreak, &created); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start).Microseconds()) / 1000, rows.Err()
}

// tookOf returns the duration of a finished run.
func tookOf(run client.Run, finished bool) (time.Duration, error) {
	if !finished || run.State != leaderboard.RunStateDone {
		return 0, fmt.Errorf("the run is %s", run.State)
	}
	return time.ParseDuration(run.Took)
}
