package e2e

import (
	"context"
	"fmt"
	"testing"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestKill9DuringAtomicPairs kills the server again and again while clients move points between two members, on one board
// and from one board to another, in atomic requests, on MySQL and on MariaDB. The sum of all points does not change, and no
// move is made in part (promise A1).
func TestKill9DuringAtomicPairs(t *testing.T) {
	t.Parallel()
	onBoth(t, killDuringAtomicPairs)
}

func killDuringAtomicPairs(t *testing.T, w *world) {
	s := w.serve(t, "server 0")
	const moves, members, each = 2000, 8, 1000
	zero := int64(0)
	for _, board := range []string{"right", "left"} {
		s.putBoard(t, board, leaderboard.Rules{Policy: leaderboard.PolicySum, Limits: leaderboard.Limits{MinScore: &zero}})
		for m := range members {
			s.mustSubmit(t, board, scored(fmt.Sprint("m", m), each))
		}
	}
	load := keyedLoad{count: moves, clients: 32}
	load.send = func(ctx context.Context, s *server, i int, key string) ([]client.Result, error) {
		from, to, amount := fmt.Sprint("m", i%members), fmt.Sprint("m", (i*7+3)%members), int64(1+i*31%700)
		boards := []string{[]string{"left", "right"}[i%2], []string{"left", "right"}[i/2%2]}
		r, err := s.SubmitMultiBoard(ctx, []leaderboard.BoardSubmission{
			{Board: boards[0], Submission: scored(from, -amount)}, {Board: boards[1], Submission: scored(to, amount)},
		}, client.SubmitOptions{IdempotencyKey: key, Atomic: true})
		if err == nil && len(r.Results) == 2 && r.Results[0].Status.Failed() && r.Results[1].Status.Failed() {
			return []client.Result{{Status: leaderboard.StatusApplied}}, nil // the move would lead below 0: it was not made
		}
		return r.Results, err
	}
	load.run(t, w, s, 300, 700, 1200, 1600)
	sum := int64(0)
	for _, board := range []string{"left", "right"} {
		for member, score := range w.scores(t, board) {
			if sum += score; score < 0 {
				t.Errorf("%s of %s has %d points", member, board, score)
			}
		}
	}
	if sum != 2*members*each {
		t.Errorf("there are %d points, there were %d", sum, 2*members*each)
	}
}
