package refresher

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"leaderboard/leaderboard"
)

// recomputing returns the refresher of a site whose derived boards are computed once gate is closed, in a run that
// ends with a state.
func recomputing(t *testing.T, s *site, gate <-chan struct{}, state leaderboard.RunState) *Refresher {
	return newRefresher(t, s, func(c *Config) {
		c.Recompute = func(ctx context.Context, _ string) (leaderboard.Run, error) {
			select {
			case <-gate:
				return leaderboard.Run{FromSeq: 3, ToSeq: 5, Rows: 2, State: state}, nil
			case <-ctx.Done():
				return leaderboard.Run{}, ctx.Err()
			}
		}
	})
}

func recompute() Request {
	of := ref()
	of.Board = "sum"
	return Request{Ref: of, Kind: leaderboard.RunKindRecompute, Reason: leaderboard.RunReasonAdmin, Actor: "admin"}
}

// TestRecompute: two requests for a recomputation share the run, and the next one is another run. Close ends it.
func TestRecompute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := newSite(), make(chan struct{})
		r := recomputing(t, s, gate, leaderboard.RunStateDone)
		first, wait, err := r.Start(context.Background(), recompute())
		second, _, err2 := r.Start(context.Background(), recompute())
		if err != nil || err2 != nil || first.ID != 1 || second.ID != 1 || first.State != leaderboard.RunStateRunning || first.Kind != leaderboard.RunKindRecompute {
			t.Fatalf("runs %+v and %+v, %v, %v", first, second, err, err2)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting for too long: %v", err)
		}
		close(gate)
		run, err := wait(context.Background())
		if err != nil || run.State != leaderboard.RunStateDone || run.Rows != 2 || run.FromSeq != 3 || run.ToSeq != 5 || run.Board != "sum" || s.runs[0] != run {
			t.Errorf("finished as %+v, %v", run, err)
		}
	})
}

// TestRecomputeCutOff: Close ends a recomputation, which is recorded, and there is no other after it.
func TestRecomputeCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite()
		r := recomputing(t, s, nil, leaderboard.RunStateDone)
		if _, _, err := r.Start(context.Background(), recompute()); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if _, _, err := r.Start(context.Background(), recompute()); !errors.Is(err, leaderboard.ErrUnavailable) {
			t.Errorf("a run after the end: %v", err)
		}
		if run := s.runs[0]; run.State != leaderboard.RunStateFailed || run.Error != "the server was stopped" {
			t.Errorf("a run that was cut off is %+v", run)
		}
	})
}

// TestRecomputeShared: a recomputation that others were faster with is theirs. Without derived boards it fails.
func TestRecomputeShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		close(gate)
		run, err := recomputing(t, newSite(), gate, leaderboard.RunStateShared).RunOnce(context.Background(), recompute())
		if err != nil || run.State != leaderboard.RunStateShared {
			t.Errorf("finished as %+v, %v", run, err)
		}
		if _, err := newRefresher(t, newSite(), nil).RunOnce(context.Background(), recompute()); !errors.Is(err, leaderboard.ErrNotDerived) {
			t.Errorf("without derived boards: %v", err)
		}
	})
}
