package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

const (
	readConns     = 64
	residentLimit = 30 * time.Second // for a board to become resident before it is measured as one

	commitRows = 100 // of one commit, while the board changes
)

// measureReads holds the reads of a board that is resident and does not change against the bare handler.
func (w *world) measureReads(ctx context.Context, rep *report, log io.Writer) error {
	if err := w.warmUp(ctx, log, benchBoard); err != nil {
		return err
	}
	questions := w.residentQuestions(goals{cpu: 1.15}, goals{})
	for _, n := range []int{fewFriends, manyFriends} {
		requests, err := w.friendRequests(ctx, benchBoard, w.members, n)
		if err != nil {
			return err
		}
		goal := goals{ratio: 0.3}
		if n == manyFriends {
			goal = goals{} // section friends has it, beside that of few
		}
		questions = append(questions,
			question{fmt.Sprintf("best 10 of %d friends, from a list of them", n), anyOf(requests), goal},
			question{fmt.Sprintf("ranks of %d given members", n), ranksRequests(benchBoard, w.members, n), goals{}},
		)
	}
	return w.measureQuestions(ctx, rep, log, questions, nil)
}

// measureChanging holds the same reads against the bare handler while the board changes, beside both.
func (w *world) measureChanging(ctx context.Context, rep *report, log io.Writer) error {
	if err := w.warmUp(ctx, log, benchBoard); err != nil {
		return err
	}
	writing := w.write(ctx, benchBoard, w.members, commitRows)
	err := w.measureQuestions(ctx, rep, log, w.residentQuestions(goals{ratio: 0.5, tail: 1.5}, goals{ratio: 0.5, tail: 1.5}), writing)
	if err := errors.Join(err, writing.finish()); err != nil {
		return err
	}
	return w.reportWriting(ctx, rep, writing)
}

// reportWriting says how much was written beside the readings.
func (w *world) reportWriting(ctx context.Context, rep *report, writing *writer) error {
	var here, bare []float64
	for _, r := range rep.readings {
		here, bare = append(here, r.Here.Submits), append(bare, r.Bare.Submits)
	}
	rep.add(row{
		What: fmt.Sprintf("submits of %d entries meanwhile", writing.rows),
		Here: fmt.Sprintf("%.1f/s", median(here)), Yardstick: fmt.Sprintf("beside the bare handler: %.1f/s", median(bare)),
		Goal: fmt.Sprintf("%d/s", steadyCommits), Met: yesNo(min(median(here), median(bare)) >= 0.95*steadyCommits),
	})
	if len(writing.acks) == 0 {
		return errors.New("nothing was written")
	}
	var commits int
	err := w.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM changes WHERE last_seq >= ? AND period_id ="+
		" (SELECT p.id FROM periods p JOIN boards b ON b.id = p.board_id WHERE b.name = ?)", writing.acks[0].seq, benchBoard).Scan(&commits)
	if err != nil {
		return err
	}
	rep.add(row{What: "submits in a commit, all together", Here: fmt.Sprintf("%.2f", float64(len(writing.acks))/float64(max(1, commits)))})
	return nil
}

// residentQuestions returns the reads of the table of goals; what is wanted of top pages and of the others, besides the
// ratio that holds when nothing is written, is given.
func (w *world) residentQuestions(top, other goals) []question {
	with := func(g goals, ratio float64) goals {
		if g.ratio == 0 {
			g.ratio = ratio
		}
		return g
	}
	return []question{
		{"page of the top 10", topRequest(10), with(top, 0.9)},
		{"page of the top 100", topRequest(pageOf), with(top, 0.9)},
		{"rank of a random member of all", memberRequest(benchBoard, w.members), with(other, 0.6)},
		{"around ±5 of a random member", aroundRequest(benchBoard, w.members), with(other, 0.5)},
		{"page of 100 at a random depth", pageRequest(benchBoard, w.members, pageOf), with(other, 0.5)},
	}
}

func (w *world) measureQuestions(ctx context.Context, rep *report, log io.Writer, questions []question, writing *writer) error {
	for i := range questions {
		r, err := w.measureReading(ctx, &questions[i], readConns, writing)
		if err != nil {
			return err
		}
		fmt.Fprintf(log, "%s: %s/s, %.2f of the bare handler\n", r.What, thousands(r.Here.Rate), r.Ratio)
		if r.Here.Failed > 0 {
			fmt.Fprintln(log, "first failure:", r.Here.firstFail)
		}
		rep.readings = append(rep.readings, *r)
	}
	return nil
}

// warmUp waits until boards are resident, and says so when they do not get there: what is measured then is another thing,
// as the column of the answers from memory shows.
func (w *world) warmUp(ctx context.Context, log io.Writer, boards ...string) error {
	for _, board := range boards {
		took, ok, err := w.awaitResident(ctx, board, w.members, w.seconds(residentLimit.Seconds()))
		if err != nil {
			return err
		}
		if ok {
			fmt.Fprintf(log, "%s is resident after %s\n", board, inMS(took))
		} else {
			fmt.Fprintf(log, "%s is NOT resident after %s\n", board, inSeconds(took))
		}
	}
	return nil
}
