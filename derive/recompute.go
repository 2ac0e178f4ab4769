package derive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"leaderboard"
)

// History remembers runs. Its failures never fail a run.
type History interface {
	// StartRun records a run and returns it with its id and start.
	StartRun(ctx context.Context, run leaderboard.Run) (leaderboard.Run, error)
	FinishRun(ctx context.Context, run leaderboard.Run) error
}

// historyTimeout bounds the record of a run's end, which is written even when everything else is over.
const historyTimeout = 2 * time.Second

// job is a recomputation under way.
type job struct {
	run  leaderboard.Run // as it began; finished once done is closed
	done chan struct{}
}

// Start computes all entries of the board of ref anew, in the background and until Close, or joins a run that does so.
// It returns at once with the run. wait blocks until the run is finished or its ctx ends. Errors: those of the history,
// ErrUnavailable behind Close.
func (r *Runner) Start(ctx context.Context, ref leaderboard.PeriodRef, reason leaderboard.RunReason, actor string) (
	run leaderboard.Run, wait func(context.Context) (leaderboard.Run, error), err error,
) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return run, nil, fmt.Errorf("%w: the server stops", leaderboard.ErrUnavailable)
	}
	j := r.jobs[ref.BoardID]
	if j == nil {
		run, err := r.history.StartRun(ctx, leaderboard.Run{
			BoardID: ref.BoardID, Board: ref.Board, PeriodID: ref.ID, Window: ref.Window, Period: ref.Name, Kind: leaderboard.RunKindRecompute,
			Reason: reason, Actor: actor, State: leaderboard.RunStateRunning,
		})
		if err != nil {
			return run, nil, err
		}
		run.Board, run.Window, run.Period = ref.Board, ref.Window, ref.Name
		j = &job{run: run, done: make(chan struct{})}
		r.jobs[ref.BoardID] = j
		begun := run
		r.wg.Go(func() { r.recompute(j, begun) })
	}
	return j.run, func(ctx context.Context) (leaderboard.Run, error) {
		select {
		case <-j.done:
			return j.run, nil
		case <-ctx.Done():
			return leaderboard.Run{}, ctx.Err()
		}
	}, nil
}

func (r *Runner) recompute(j *job, run leaderboard.Run) {
	ctx, cancel := context.WithTimeout(r.ctx, r.opts.StepTimeout)
	defer cancel()
	start := time.Now()
	step, err := r.truth.Recompute(ctx, run.Board)
	took := time.Since(start)
	r.opts.OnStep(step, took, err)
	run.State, run.FromSeq, run.ToSeq, run.Rows, run.Took = leaderboard.RunStateDone, step.FromSeq, step.ToSeq, step.Rows, took
	if err != nil {
		run.State, run.Error = leaderboard.RunStateFailed, shown(err)
		r.opts.Logger.Warn("a derived board is not computed anew", "board", run.Board, "error", err)
	} else if step.State != leaderboard.DerivationStateComputing {
		run.State = leaderboard.RunStateShared // whoever follows the board was faster: the rows are theirs
	}
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), historyTimeout)
	defer cancel()
	if err := r.history.FinishRun(ctx, run); err != nil {
		r.opts.Logger.Warn("the end of a run is not recorded", "run", run.ID, "error", err)
	}
	r.mu.Lock()
	j.run = run
	delete(r.jobs, run.BoardID)
	r.mu.Unlock()
	close(j.done)
}

// recomputing says whether this process computes a board anew, which is no time to take steps.
func (r *Runner) recomputing(boardID int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.jobs[boardID] != nil
}

// shown is a cause that may be shown to whoever asks for runs.
func shown(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "the server was stopped"
	case errors.Is(err, context.DeadlineExceeded):
		return "it took too long"
	}
	for _, known := range []error{
		leaderboard.ErrBoardNotFound, leaderboard.ErrNotDerived, leaderboard.ErrOverloaded, leaderboard.ErrOutcomeUnknown, leaderboard.ErrUnavailable,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "an internal error, see the log of the server"
}

// Close ends the recomputations under way, and none begins any more.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.cancel()
	r.wg.Wait()
}
